// Traces end to end on the host device: record, compile, launch with a trace, destroy everything,
// read the file.
#include <doctest/doctest.h>

#include <block_kernels.shaders.hpp>

#include <algorithm>
#include <atomic>
#include <map>
#include <reprise/reprise.hpp>
#include <string>
#include <thread>
#include <vector>

#include "base/handle_access.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/core/instance_core.hpp"
#include "runtime/graph/compiled_graph.hpp"
#include "support/counting_allocator.hpp"
#include "support/thrown_by.hpp"
#include "unit/profile/traced_run.hpp"

using namespace reprise;
using namespace reprise::test;

namespace {

Instance traced_instance(
    const TraceDesc& desc, MessageHandler on_message = [](const Message&) {}) {
  return Instance({.application = "profile test",
                   .validation = Validation::Full,
                   .on_message = std::move(on_message),
                   .trace = desc});
}

// Runs `body` with a traced host device. The trace is complete when this returns.
template <class Body>
void with_trace(const TraceDesc& desc, const Body& body) {
  const Device device = traced_instance(desc).open_device(DeviceSelector::named("host"));
  body(device);
  device.wait_idle();
}

// fill t, u; copy t -> x and u -> y; a redundant barrier; a callback; update of w.
CommandBuffer record_step(const Device& device, const std::shared_ptr<CapturePool>& pool) {
  const auto t = pool->transient<unsigned>(64, "t"), u = pool->transient<unsigned>(64, "u");
  const auto x = pool->allocate<unsigned>(64, "x"), y = pool->allocate<unsigned>(64, "y"),
             w = pool->allocate<unsigned>(64, "w");
  CommandBuffer cmd = device.create_command_buffer({.label = "step"});
  cmd.begin();
  {
    const auto forward = cmd.label("forward");
    cmd.fill(t, 3u);
    cmd.fill(u, 4u);
    const auto inner = cmd.label("inner");
    cmd.copy(t, x);
    cmd.copy(u, y);
  }
  cmd.barrier({.buffer = x, .before = Access::Write, .after = Access::Read});
  cmd.host([] {}, {read(x), read(y), write(w)});
  cmd.dispatch(device.load_kernel(shaders::step), {.grid = 1, .block = 1}, read_write(w), 5u);
  cmd.end();
  return cmd;
}

}  // namespace

TEST_CASE("traced replays: without a request there is no file and no thread") {
  const TraceFolder folder;
  const Instance instance = traced_instance({});
  const Device device = instance.open_device(DeviceSelector::named("host"));
  CHECK(detail::core_of(instance)->trace() == nullptr);
  CHECK(detail::core_of(device)->trace() == nullptr);
  CHECK(trace_threads() == 0);
  CHECK(std::filesystem::is_empty(folder.path()));
  const Instance asked = traced_instance({.target = folder.file()});
  CHECK(trace_threads() == 2);  // collector and writer
  CHECK(std::filesystem::exists(folder.file()));
}

TEST_CASE("traced replays: the file contains the graph, each replay and each node") {
  const TraceFolder folder;
  constexpr std::uint64_t kReplays = 50;
  CompileReport report;
  std::string text;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> needed;
  with_trace({.target = folder.file()}, [&](const Device& device) {
    const auto pool = device.create_pool({.label = "pool"});
    const Queue queue = device.create_queue({.label = "main"});
    const CommandBuffer cmd = record_step(device, pool);
    CapturedGraph graph = device.compile(cmd, {.pool = pool});
    report = graph.report();
    const detail::Plan& plan = detail::core_of(graph)->plan();
    for (const detail::Edge& edge : plan.dependencies.edges)
      needed.emplace_back(plan.lowered.node_of[edge.from], plan.lowered.node_of[edge.to]);
    for (std::uint64_t i = 0; i < kReplays; ++i) graph.launch(queue).wait();
  });
  const trace::Records all = all_records(folder.file());

  REQUIRE(all.sessions.size() == 1);
  CHECK(all.sessions[0].pid == static_cast<std::uint32_t>(getpid()));
  CHECK(all.sessions[0].application == "profile test");
  CHECK_FALSE(all.sessions[0].host.empty());
  CHECK_FALSE(all.sessions[0].command_line.empty());
  CHECK_FALSE(all.sessions[0].engine_version.empty());
  CHECK(all.sessions[0].process_start_utc > 1'600'000'000'000'000'000);
  REQUIRE(all.clocks.size() == 1);
  CHECK(all.clocks[0].other >= all.sessions[0].process_start_utc);
  REQUIRE(all.devices.size() == 1);
  CHECK(all.devices[0].selector == "host");
  REQUIRE(all.queues.size() == 1);
  CHECK(all.queues[0].label == "main");

  REQUIRE(all.graph_versions.size() == 1);
  const trace::GraphVersion& g = all.graph_versions[0];
  CHECK(g.label == "step");
  CHECK(g.plan_hash == report.plan_hash);
  CHECK(g.lowering_hash == report.lowering_hash);
  CHECK(g.slab_bytes == report.slab_bytes);
  CHECK(g.nodes.size() == report.nodes);
  CHECK(g.edges.size() == report.needed_edges + report.added_edges);
  CHECK(g.compile_time > 0);
  CHECK(g.instantiate_time > 0);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> recorded_edges;
  for (const trace::Edge& e : g.edges) {
    if (e.cause != trace::EdgeCause::Lane && e.cause != trace::EdgeCause::EntryExit)
      recorded_edges.emplace_back(e.from, e.to);
    if (e.cause == trace::EdgeCause::Hazard) CHECK(e.hazard != trace::Hazard::None);
  }
  std::sort(needed.begin(), needed.end());
  std::sort(recorded_edges.begin(), recorded_edges.end());
  CHECK(recorded_edges == needed);
  CHECK(g.barriers.size() == 1);
  CHECK(g.labels.size() == 3);
  const auto name_of = [&](std::uint32_t index) { return g.strings[index]; };
  std::map<std::string, const trace::Node*> by_name;
  for (const trace::Node& node : g.nodes) by_name[name_of(node.name)] = &node;
  REQUIRE(by_name.contains("step"));
  CHECK(by_name["step"]->kind == trace::NodeKind::Dispatch);
  CHECK(name_of(g.kernels[by_name["step"]->kernel].name) == "step");
  CHECK(name_of(by_name["step"]->file).find("traced_replays_test.cpp") != std::string::npos);
  REQUIRE(by_name.contains("copy t -> x"));
  const trace::Node& copy = *by_name["copy t -> x"];
  CHECK(copy.kind == trace::NodeKind::Copy);
  CHECK(copy.bytes == 256);
  CHECK(copy.access_count == 2);
  CHECK(name_of(g.labels[copy.label].name) == "inner");
  CHECK(name_of(g.labels[g.labels[copy.label].parent].name) == "forward");
  std::map<std::string, trace::Buffer> buffers;
  for (const trace::Buffer& buffer : g.buffers) buffers[name_of(buffer.name)] = buffer;
  CHECK(buffers["t"].kind == trace::BufferKind::Transient);
  CHECK(buffers["t"].id == trace::kNone);
  CHECK(buffers["x"].kind == trace::BufferKind::Device);
  CHECK(buffers["x"].pool == buffers["t"].pool);

  REQUIRE(all.replays.size() == kReplays);
  REQUIRE(all.sample_blocks.size() == kReplays);
  CHECK(all.losses.empty());
  for (std::uint64_t i = 0; i < kReplays; ++i) {
    const trace::Replay& replay = all.replays[i];
    CHECK(replay.replay == i + 1);
    CHECK(replay.graph == g.graph);
    CHECK(replay.queue == all.queues[0].id);
    CHECK(replay.launched > 0);
    CHECK(replay.launched <= replay.launch_returned);
    CHECK(replay.launched <= replay.started);
    CHECK(replay.started <= replay.ended);
    CHECK(replay.sampled == 1);
    const trace::SampleBlock& block = all.sample_blocks[i];
    CHECK(block.replay == i + 1);
    CHECK(block.source == trace::SampleSource::Host);
    REQUIRE(block.samples.size() == g.nodes.size());
    std::vector<const trace::Sample*> of(g.nodes.size(), nullptr);
    for (const trace::Sample& sample : block.samples) {
      CHECK(sample.started >= replay.started);
      CHECK(sample.started + sample.duration <= replay.ended);
      of[sample.node] = &sample;
    }
    CHECK(std::find(of.begin(), of.end(), nullptr) == of.end());
    for (const trace::Edge& e : g.edges)
      CHECK(of[e.to]->started >= of[e.from]->started + of[e.from]->duration);
  }
  const bool named = std::any_of(all.thread_names.begin(), all.thread_names.end(),
                                 [&](const trace::ThreadName& n) {
                                   return n.thread == all.replays[0].thread && !n.name.empty();
                                 });
  CHECK(named);

  REQUIRE_FALSE(all.pool_states.empty());
  CHECK(all.pool_states.front().label == "pool");
  CHECK(all.pool_states.back().buffers == 0);
  CHECK(all.pool_states.back().device_bytes == 0);
  CHECK(all.pool_states.back().freed == 5);  // with two transients
  CHECK(all.pool_states.back().freed_bytes == 1280);
  REQUIRE(all.pool_uses.size() == 2);
  for (const trace::PoolUse& use : all.pool_uses) {
    CHECK(use.pool == all.pool_states.front().pool);
    CHECK(use.graph == g.graph);
    CHECK(use.role == trace::PoolRole::Holder);
    CHECK(use.from == all.pool_uses.front().from);
  }
  CHECK(all.pool_uses.front().to == 0);
  CHECK(all.pool_uses.back().to >= all.pool_uses.back().from);
  const auto has_ended = [&](trace::ObjectKind kind, std::uint32_t id) {
    return std::count_if(all.ended.begin(), all.ended.end(),
                         [&](const trace::Ended& e) { return e.kind == kind && e.id == id; }) == 1;
  };
  CHECK(has_ended(trace::ObjectKind::Graph, g.graph));
  CHECK(has_ended(trace::ObjectKind::Pool, all.pool_states.front().pool));
  CHECK(has_ended(trace::ObjectKind::Queue, all.queues.front().id));
  std::map<std::uint32_t, int> allocated, freed_buffers;
  for (const trace::BufferLifetime& lifetime : all.buffer_lifetimes)
    ++(lifetime.freed == 0 ? allocated : freed_buffers)[lifetime.buffer];
  CHECK(allocated.size() == 3);  // x, y, w
  CHECK(allocated == freed_buffers);
  CHECK(allocated.contains(buffers["x"].id));
}

TEST_CASE(
    "traced replays: with many threads each node is recorded once and starts after its "
    "predecessors") {
  const TraceFolder folder;
  constexpr int kReplays = 8;
  constexpr std::uint32_t kWidth = 6;
  with_trace({.target = folder.file()}, [&](const Device& device) {
    const auto pool = device.create_pool();
    const auto first = pool->host<unsigned>(1, "first");
    CommandBuffer cmd = device.create_command_buffer({.label = "wide"});
    cmd.begin();
    cmd.host([first] { first.span()[0] = 1; }, {write(first)});
    for (std::uint32_t i = 0; i < kWidth; ++i) {
      // Long enough for the executor to use several threads.
      const auto out = pool->host<unsigned>(1 << 16, "out");
      cmd.host(
          [out, first] {
            for (std::size_t k = 0; k < out.size(); ++k)
              out.span()[k] = out.span()[k] * 3 + first.span()[0];
          },
          {read(first), write(out)});
    }
    cmd.end();
    CapturedGraph graph = device.compile(cmd);
    const Queue queue = device.create_queue();
    for (int i = 0; i < kReplays; ++i) graph.launch(queue).wait();
  });
  const trace::Records all = all_records(folder.file());
  REQUIRE(all.graph_versions.size() == 1);
  const trace::GraphVersion& g = all.graph_versions[0];
  REQUIRE(all.sample_blocks.size() == kReplays);
  for (const trace::SampleBlock& block : all.sample_blocks) {
    REQUIRE(block.samples.size() == g.nodes.size());
    std::map<std::uint32_t, trace::Sample> of;
    for (const trace::Sample& sample : block.samples) of[sample.node] = sample;
    REQUIRE(of.size() == g.nodes.size());
    for (const trace::Edge& e : g.edges)
      CHECK(of[e.to].started >= of[e.from].started + of[e.from].duration);
  }
}

TEST_CASE("traced replays: the file is complete when the instance is destroyed last") {
  for (int run = 0; run < 100; ++run) {
    const TraceFolder folder;
    {
      const Instance instance = traced_instance({.target = folder.file()});
      const Device device = instance.open_device(DeviceSelector::named("host"));
      const auto pool = device.create_pool();
      CapturedGraph graph = device.compile(record_step(device, pool));
      graph.launch(device.create_queue()).wait();
    }
    REQUIRE(all_records(folder.file()).replays.size() == 1);
  }
}

TEST_CASE("traced replays: the mode changes the records but not the plan") {
  const TraceFolder folder;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> hashes;
  const auto run_once = [&](const Device& device) {
    const auto pool = device.create_pool();
    const CommandBuffer cmd = record_step(device, pool);
    CapturedGraph graph = device.compile(cmd);
    const Queue queue = device.create_queue();
    for (int i = 0; i < 5; ++i) graph.launch(queue).wait();
    hashes.emplace_back(graph.report().plan_hash, graph.report().lowering_hash);
  };
  const auto run = [&](const TraceDesc& desc) { with_trace(desc, run_once); };
  const auto file_of = [&](const char* name) { return (folder.path() / name).string(); };
  const std::string off = file_of("off"), launches = file_of("replays"), some = file_of("sampled"),
                    every = file_of("every");
  run({});
  run({.target = off, .profile = ProfileMode::Off});
  CHECK(all_records(off).graph_versions.size() == 1);
  CHECK(all_records(off).replays.empty());
  run({.target = launches, .profile = ProfileMode::Replays});
  const trace::Records replays = all_records(launches);
  REQUIRE(replays.replays.size() == 5);
  CHECK(replays.sample_blocks.empty());
  for (const trace::Replay& replay : replays.replays) {
    CHECK(replay.sampled == 0);
    CHECK(replay.started > 0);
    CHECK(replay.started <= replay.ended);
  }
  run({.target = some, .profile = ProfileMode::Sampled});
  const trace::Records sampled = all_records(some);
  CHECK(sampled.replays.size() == 5);
  CHECK_FALSE(sampled.sample_blocks.empty());
  run({.target = every, .profile = ProfileMode::Every});
  CHECK(all_records(every).sample_blocks.size() == 5);
  CHECK(std::count(hashes.begin(), hashes.end(), hashes.front()) == 5);
}

TEST_CASE(
    "traced replays: a flush writes everything completed before it while the program continues") {
  const TraceFolder folder;
  Instance instance = traced_instance({.target = folder.file()});
  const Device device = instance.open_device(DeviceSelector::named("host"));
  const auto pool = device.create_pool();
  const CommandBuffer cmd = record_step(device, pool);
  CapturedGraph graph = device.compile(cmd);
  const Queue queue = device.create_queue();
  for (std::size_t replays = 1; replays <= 3; ++replays) {
    graph.launch(queue).wait();
    std::vector<std::thread> flushers;
    for (int i = 0; i < 3; ++i) flushers.emplace_back([&] { instance.flush_trace(); });
    instance.flush_trace();
    const trace::Records now = all_records(folder.file());
    CHECK(now.graph_versions.size() == 1);
    CHECK(now.replays.size() == replays);
    CHECK(now.sample_blocks.size() == replays);
    for (std::thread& flusher : flushers) flusher.join();
  }
  Instance({.application = "none"}).flush_trace();
}

TEST_CASE(
    "traced replays: launching and waiting allocate nothing once the rings of a trace have grown") {
  const TraceFolder folder;
  const Device device =
      traced_instance({.target = folder.file()}).open_device(DeviceSelector::named("host"));
  const auto pool = device.create_pool();
  const auto x = pool->allocate<unsigned>(64, "x"), y = pool->allocate<unsigned>(64, "y");
  CommandBuffer cmd = device.create_command_buffer();
  cmd.begin();
  cmd.fill(x, 1u);
  cmd.copy(x, y);
  cmd.end();
  CapturedGraph graph = device.compile(cmd);
  const Queue queue = device.create_queue();
  const auto allocations = [&] {
    const std::uint64_t before = allocations_of_this_thread();
    for (int replay = 0; replay < 100; ++replay) graph.launch(queue).wait();
    return allocations_of_this_thread() - before;
  };
  // A ring doubles at most 11 times.
  int batches = 0;
  while (allocations() != 0 && batches < 30) ++batches;
  CHECK(batches < 30);
}

TEST_CASE(
    "traced replays: validation messages are in the trace, also those of rejected recordings") {
  const TraceFolder folder;
  std::vector<std::string> seen;
  {
    const Instance instance = traced_instance({.target = folder.file()},
                                              [&](const Message& m) { seen.emplace_back(m.id); });
    const Device device = instance.open_device(DeviceSelector::named("host"));
    {
      const auto x = device.create_pool()->allocate<unsigned>(64, "x");
      CommandBuffer cmd = device.create_command_buffer({.ordering = Ordering::Explicit});
      cmd.begin();
      cmd.fill(x, 1u);
      cmd.fill(x, 2u);
      cmd.end();
      CHECK(thrown_by([&] { static_cast<void>(device.compile(cmd)); }).code() ==
            ErrorCode::MissingBarrier);
    }
    device.wait_idle();
  }
  REQUIRE_FALSE(seen.empty());
  const trace::Records all = all_records(folder.file());
  REQUIRE(all.messages.size() == seen.size());
  for (std::size_t i = 0; i < seen.size(); ++i) {
    CHECK(all.messages[i].id == seen[i]);
    CHECK(all.messages[i].graph == trace::kNone);
  }
}

TEST_CASE("traced replays: a file that cannot be created is an error with its path") {
  const TraceFolder folder;
  const std::string target = folder.file() + "/no/such/folder";
  const Error error = thrown_by([&] { static_cast<void>(traced_instance({.target = target})); });
  CHECK(error.code() == ErrorCode::InvalidArgument);
  CHECK(std::string(error.what()).find(target) != std::string::npos);
}

TEST_CASE("traced replays: instances share an open file if they agree on its limits") {
  const TraceFolder folder;
  const std::string limited = folder.file() + ",max=1M";
  {
    const Device one =
        traced_instance({.target = folder.file()}).open_device(DeviceSelector::named("host"));
    const Device two =
        traced_instance({.target = folder.file()}).open_device(DeviceSelector::named("host"));
    CHECK(thrown_by([&] { static_cast<void>(traced_instance({.target = limited})); }).code() ==
          ErrorCode::InvalidArgument);
  }
  const trace::Records all = all_records(folder.file());
  CHECK(all.sessions.size() == 1);
  REQUIRE(all.devices.size() == 2);
  CHECK(all.devices[0].id != all.devices[1].id);
}

TEST_CASE("traced replays: a later instance continues the file with new ids") {
  for (const char* limit : {"", ",max=1M"}) {
    CAPTURE(limit);
    const TraceFolder folder;
    const std::string target = folder.file() + limit;
    const auto run_once = [&](const Device& device) {
      const auto pool = device.create_pool();
      const CommandBuffer cmd = record_step(device, pool);
      CapturedGraph graph = device.compile(cmd);
      const Queue queue = device.create_queue();
      for (int i = 0; i < 3; ++i) graph.launch(queue).wait();
    };
    for (int run = 0; run < 3; ++run) with_trace({.target = target}, run_once);
    const trace::Records all = all_records(folder.file());
    REQUIRE(all.sessions.size() == 3);  // all of this process
    CHECK(all.sessions[1] == all.sessions[0]);
    CHECK(all.sessions[2] == all.sessions[0]);
    REQUIRE(all.graph_versions.size() == 3);
    REQUIRE(all.replays.size() == 9);
    for (std::uint32_t i = 0; i < 3; ++i) {
      CHECK(all.graph_versions[i].graph == i);
      CHECK(all.devices[i].id == i);
      CHECK(all.queues[i].id == i);
      CHECK(all.graph_versions[i].device == i);
      CHECK(all.replays[3 * i].graph == i);
      CHECK(all.replays[3 * i].queue == i);
    }
    const trace::TraceReader reader(folder.file());
    for (std::size_t i = 1; i < reader.chunks().size(); ++i)
      CHECK(reader.chunks()[i].header.sequence > reader.chunks()[i - 1].header.sequence);
  }
}

TEST_CASE("traced replays: a file that was replaced since is overwritten") {
  const TraceFolder folder;
  const auto nothing = [](const Device&) {};
  with_trace({.target = folder.file()}, nothing);
  std::filesystem::resize_file(folder.file(), 20);
  with_trace({.target = folder.file()}, nothing);
  CHECK(all_records(folder.file()).sessions.size() == 1);
  std::filesystem::remove(folder.file());
  with_trace({.target = folder.file()}, nothing);
  CHECK(all_records(folder.file()).sessions.size() == 1);
  CHECK(all_records(folder.file()).devices[0].id == 0);
}

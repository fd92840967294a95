// Live traces end to end on the host device: an instance with viewers that connect late, request
// and disconnect.
#include <doctest/doctest.h>

#include <algorithm>
#include <reprise/reprise.hpp>
#include <string>
#include <vector>

#include "base/handle_access.hpp"
#include "runtime/graph/compiled_graph.hpp"
#include "support/counting_allocator.hpp"
#include "support/thrown_by.hpp"
#include "trace/live/session_directory.hpp"
#include "unit/profile/traced_run.hpp"
#include "unit/trace/live_support.hpp"

using namespace reprise;
using namespace reprise::test;

namespace {

InstanceDesc described(const TraceDesc& trace, RemoteProfile remote = RemoteProfile::Sampled) {
  InstanceDesc desc;
  desc.application = "live test";
  desc.on_message = [](const Message&) {};
  desc.trace = trace;
  desc.remote_profile = remote;
  return desc;
}

std::string own_session() {
  for (const trace::LiveSession& session : trace::list_sessions()) {
    if (session.pid == static_cast<std::uint32_t>(getpid())) return session.path;
  }
  return {};
}

// The records that a viewer has received.
trace::Records records_of(const Collector& viewer) {
  trace::Records all;
  for (const auto& chunk : viewer.chunks())
    append_records(all, trace::read_chunk(chunk->header, chunk->payload));
  return all;
}

// A graph of two commands and its queue.
struct Work {
  explicit Work(const Instance& instance)
      : device(instance.open_device(DeviceSelector::named("host"))),
        pool(device.create_pool({.label = "pool"})),
        queue(device.create_queue({.label = "main"})) {
    const auto x = pool->allocate<unsigned>(64, "x"), y = pool->allocate<unsigned>(64, "y");
    CommandBuffer cmd = device.create_command_buffer({.label = "step"});
    cmd.begin();
    cmd.fill(x, 1u);
    cmd.copy(x, y);
    cmd.end();
    graph = device.compile(cmd, {.pool = pool});
  }
  ~Work() {
    graph = CapturedGraph();
    device.wait_idle();  // all replays are complete
  }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  void replay(int times) {
    for (int i = 0; i < times; ++i) graph.launch(queue).wait();
  }
  Device device;
  std::shared_ptr<CapturePool> pool;
  Queue queue;
  CapturedGraph graph;
};

}  // namespace

TEST_CASE("live trace: without a request there is no thread, no socket and no file") {
  const NoTraceEnvironment none;
  const RuntimeFolder runtime;
  const EnvironmentVariable listen("REPRISE_LISTEN", "127.0.0.1:0"),
      token("REPRISE_TOKEN", "secret");
  REQUIRE(eventually([] { return trace_threads() == 0; }));
  const std::size_t descriptors_before = open_descriptors();
  const Instance instance(described({}));
  CHECK(trace_threads() == 0);
  CHECK(open_descriptors() == descriptors_before);
  CHECK(std::filesystem::is_empty(runtime.path()));
  const Instance asked(described({.target = "live"}));
  CHECK(trace_threads() == 3);  // collector, writer, server
  CHECK(open_descriptors() > descriptors_before);
  CHECK_FALSE(std::filesystem::is_empty(runtime.path()));
}

TEST_CASE(
    "live trace: a late viewer receives everything that later records refer to, then new records") {
  const NoTraceEnvironment none;
  const RuntimeFolder runtime;
  const Instance instance(described({.target = "live", .profile = ProfileMode::Every}));
  Work work(instance);
  work.replay(3);
  const std::string address = own_session();
  REQUIRE_FALSE(address.empty());
  CHECK(mode_of(address) == 0600);
  Collector viewer(address);
  REQUIRE(viewer.wait_until_live());
  CHECK(viewer.client().status().session.application == "live test");
  viewer.client().request({trace::LiveRequest::Kind::Flush});
  REQUIRE(eventually([&] { return !records_of(viewer).pool_states.empty(); }));
  work.replay(5);
  REQUIRE(eventually([&] {
    return std::ranges::any_of(records_of(viewer).sample_blocks,
                               [](const trace::SampleBlock& b) { return b.replay == 8; });
  }));
  const trace::Records all = records_of(viewer);
  CHECK(all.sessions.size() == 1);
  CHECK(all.clocks.size() == 1);
  CHECK(all.devices.size() == 1);
  CHECK(all.queues.size() == 1);
  CHECK(all.graph_versions.size() == 1);
  CHECK(all.buffer_lifetimes.size() == 2);
  CHECK(all.pool_states.back().buffers == 2);
  CHECK_FALSE(all.thread_names.empty());
  CHECK(all.replays.back().replay == 8);
}

TEST_CASE(
    "live trace: a viewer changes the mode during replays, within its limit and until it "
    "disconnects") {
  const NoTraceEnvironment none;
  const RuntimeFolder runtime;
  Instance instance(
      described({.target = "live", .profile = ProfileMode::Off}, RemoteProfile::Sampled));
  Work work(instance);
  detail::ReplayLog& log = *detail::core_of(work.graph)->log();
  work.replay(2);
  CHECK(log.mode() == ProfileMode::Off);
  {
    Collector viewer(own_session());
    viewer.client().request({trace::LiveRequest::Kind::SetProfile, trace::LiveProfile::Every});
    REQUIRE(eventually([&] {
      work.replay(1);
      return !records_of(viewer).sample_blocks.empty();
    }));
    CHECK(log.mode() == ProfileMode::Sampled);  // limited by the remote profile
    Work later(instance);
    CHECK(detail::core_of(later.graph)->log()->mode() == ProfileMode::Sampled);
    viewer.client().request({trace::LiveRequest::Kind::SetProfile, trace::LiveProfile::Replays});
    CHECK(eventually([&] { return log.mode() == ProfileMode::Replays; }));
    instance.set_profile(ProfileMode::Every);
    CHECK(log.mode() == ProfileMode::Replays);
  }
  CHECK(eventually([&] { return log.mode() == ProfileMode::Every; }));
}

TEST_CASE("live trace: without a remote profile viewers get the application's mode") {
  const NoTraceEnvironment none;
  const RuntimeFolder runtime;
  Instance instance(
      described({.target = "live", .profile = ProfileMode::Replays}, RemoteProfile::Nothing));
  Work work(instance);
  Collector viewer(own_session());
  viewer.client().request({trace::LiveRequest::Kind::SetProfile, trace::LiveProfile::Every});
  REQUIRE(viewer.wait_until_live());
  CHECK_FALSE(viewer.client().status().allowed);
  viewer.client().request({trace::LiveRequest::Kind::Flush});
  REQUIRE(eventually([&] {
    work.replay(1);
    return !records_of(viewer).replays.empty();
  }));
  CHECK(detail::core_of(work.graph)->log()->mode() == ProfileMode::Replays);
  CHECK(records_of(viewer).sample_blocks.empty());
}

TEST_CASE("live trace: the application changes the mode of an instance and of one graph") {
  const TraceFolder folder;
  {
    Instance instance(described({.target = folder.file(), .profile = ProfileMode::Off})),
        other(described({.target = folder.file(), .profile = ProfileMode::Off}));
    Work one(instance), two(instance), elsewhere(other);
    const auto replay_all = [&] {
      for (Work* work : {&one, &two, &elsewhere}) work->replay(1);
    };
    replay_all();
    instance.set_profile(ProfileMode::Replays);
    replay_all();
    two.graph.set_profile(ProfileMode::Every);
    replay_all();
    instance.set_profile(ProfileMode::Off);
    replay_all();
  }
  const trace::Records all = all_records(folder.file());
  const auto replays_of = [&](std::uint32_t graph) {
    std::vector<std::uint64_t> numbers;
    for (const trace::Replay& replay : all.replays) {
      if (replay.graph == graph) numbers.push_back(replay.replay);
    }
    return numbers;
  };
  REQUIRE(all.graph_versions.size() == 3);
  CHECK(replays_of(all.graph_versions[0].graph) == std::vector<std::uint64_t>{2, 3});
  CHECK(replays_of(all.graph_versions[1].graph) == std::vector<std::uint64_t>{2, 3});
  CHECK(replays_of(all.graph_versions[2].graph).empty());
  REQUIRE(all.sample_blocks.size() == 1);
  CHECK(all.sample_blocks[0].graph == all.graph_versions[1].graph);
  CHECK(all.sample_blocks[0].replay == 3);
}

TEST_CASE(
    "live trace: launching allocates nothing while a viewer changes the mode, once the rings have "
    "grown") {
  const NoTraceEnvironment none;
  const RuntimeFolder runtime;
  const Instance instance(described({.target = "live"}, RemoteProfile::Every));
  Work work(instance);
  Collector viewer(own_session());
  REQUIRE(viewer.wait_until_live());
  const detail::ReplayLog& log = *detail::core_of(work.graph)->log();
  const auto allocations = [&] {
    std::uint64_t allocated = 0;
    for (const trace::LiveProfile profile :
         {trace::LiveProfile::Off, trace::LiveProfile::Every, trace::LiveProfile::Replays,
          trace::LiveProfile::Sampled}) {
      viewer.client().request({trace::LiveRequest::Kind::SetProfile, profile});
      const std::uint64_t before = allocations_of_this_thread();
      REQUIRE(eventually([&] {
        work.replay(1);
        return log.mode() == static_cast<ProfileMode>(profile);
      }));
      work.replay(20);
      allocated += allocations_of_this_thread() - before;
    }
    return allocated;
  };
  // A ring doubles at most 11 times.
  int batches = 0;
  while (allocations() != 0 && batches < 30) ++batches;
  CHECK(batches < 30);
}

TEST_CASE("live trace: a named file is written in addition to the live session") {
  const RuntimeFolder runtime;
  const TraceFolder folder;
  const std::string target = "live," + folder.file();
  {
    const Instance instance(described({.target = target}));
    Work work(instance);
    Collector viewer(own_session());
    REQUIRE(viewer.wait_for_chunks(1));
    work.replay(10);
    const auto refused = [&](const InstanceDesc& desc) {
      return thrown_by([&] { const Instance second(desc); }).code() == ErrorCode::InvalidArgument;
    };
    CHECK(refused(described({.target = folder.file()})));
    CHECK(refused(described({.target = target}, RemoteProfile::Every)));
  }
  CHECK(all_records(folder.file()).replays.size() == 10);
  CHECK(all_records(folder.file()).sample_blocks.size() == 10);
  CHECK(own_session().empty());
}

TEST_CASE("live trace: TCP requires the token from the environment") {
  const NoTraceEnvironment none;
  const RuntimeFolder runtime;
  const TraceDesc desc{.target = "live", .listen = "127.0.0.1:1:2", .token = "secret"};
  CHECK(thrown_by([&] { const Instance instance(described(desc)); }).code() ==
        ErrorCode::InvalidArgument);
  // The port is in use.
  trace::LiveServerDesc other = patient("other");
  other.listen = "127.0.0.1:0";
  other.token = "x";
  const trace::LiveServer server(other);
  const EnvironmentVariable listen("REPRISE_LISTEN", "127.0.0.1:" + std::to_string(server.port())),
      token("REPRISE_TOKEN", "secret");
  const Error error = thrown_by([&] { const Instance instance(described({.target = "live"})); });
  CHECK(error.code() == ErrorCode::InvalidArgument);
  CHECK(std::string(error.what()).find(std::to_string(server.port())) != std::string::npos);
}

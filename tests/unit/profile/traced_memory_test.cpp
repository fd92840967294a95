#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <reprise/reprise.hpp>

#include "profile/replay_log.hpp"
#include "support/environment_variable.hpp"
#include "trace/trace_file.hpp"
#include "trace/trace_writer.hpp"
#include "unit/profile/traced_run.hpp"

using namespace reprise;
using namespace reprise::test;

TEST_CASE("traced memory: the states of a pool contain its mapped, trimmed and remapped slabs") {
  const TraceFolder folder;
  constexpr unsigned kCount = 1u << 18;
  constexpr std::uint64_t kBytes = kCount * sizeof(unsigned), kBudget = 8 * kBytes;
  {
    const Instance instance({.application = "memory test", .trace = {.target = folder.file()}});
    const Device device = instance.open_device(DeviceSelector::named("host"));
    const Queue queue = device.create_queue({.label = "main"});
    {
      const auto pool = device.create_pool({.label = "step", .budget = kBudget});
      const auto out = pool->allocate<unsigned>(kCount, "out");
      const auto t = pool->transient<unsigned>(kCount, "t");
      CommandBuffer cmd = device.create_command_buffer({.label = "step"});
      cmd.begin();
      cmd.fill(t, 1u);
      cmd.copy(t, out);
      cmd.end();
      CapturedGraph graph = device.compile(cmd, {.pool = pool});
      graph.launch(queue).wait();
      CHECK(pool->trim().slabs == 1);
      graph.launch(queue).wait();
    }
    device.wait_idle();
  }
  const trace::Records all = all_records(folder.file());
  REQUIRE_FALSE(all.pool_states.empty());
  std::vector<std::uint64_t> mapped;
  for (const trace::PoolState& state : all.pool_states) {
    CHECK(state.budget == kBudget);
    if (mapped.empty() || mapped.back() != state.mapped) mapped.push_back(state.mapped);
  }
  CHECK(mapped.front() == 0);
  CHECK(mapped.back() == 0);
  // The buffer and the slab, before the trim and after the slab is mapped again.
  CHECK(std::count(mapped.begin(), mapped.end(), 2 * kBytes) == 2);
  const trace::PoolState& last = all.pool_states.back();
  CHECK(last.peak == 2 * kBytes);
  CHECK(last.reserved == 0);
  CHECK(last.slabs == 0);
  CHECK(last.trims == 1);
  CHECK(last.remaps == 1);
  const auto message_count = [&](std::string_view id) {
    return std::count_if(all.messages.begin(), all.messages.end(),
                         [&](const trace::Message& m) { return m.id == id; });
  };
  REQUIRE_FALSE(all.device_totals.empty());
  CHECK(std::any_of(
      all.device_totals.begin(), all.device_totals.end(),
      [](const trace::DeviceTotals& d) { return d.mapped == 2 * kBytes && d.buffers == kBytes; }));
  const trace::DeviceTotals& totals = all.device_totals.back();
  CHECK(totals.mapped == 0);
  CHECK(totals.reserved == 0);
  CHECK(totals.peak == 2 * kBytes);
  CHECK(totals.trims == 1);
  CHECK(totals.remaps == 1);
  CHECK(totals.budget == 0);
  CHECK(message_count("slab-trimmed") == 1);
  CHECK(message_count("slab-remapped") == 1);
}

TEST_CASE(
    "traced memory: graphs that share a slab are listed, and the slab counts once for the pool and "
    "the device") {
  const TraceFolder folder;
  constexpr unsigned kCount = 1u << 18;
  constexpr std::uint64_t kBytes = kCount * sizeof(unsigned);
  {
    const Instance instance({.application = "memory test", .trace = {.target = folder.file()}});
    const Device device = instance.open_device(DeviceSelector::named("host"));
    const Queue queue = device.create_queue({.label = "main"});
    {
      const auto pool = device.create_pool({.label = "step", .sharing = SlabSharing::OneAtATime});
      const auto out = pool->allocate<unsigned>(16, "out");
      const auto graph_of = [&](unsigned count) {
        const auto t = pool->transient<unsigned>(count, "t");
        CommandBuffer cmd = device.create_command_buffer({.label = "step"});
        cmd.begin();
        cmd.fill(t, 1u);
        cmd.copy(t.slice(0, 16), out);
        cmd.end();
        return device.compile(cmd, {.pool = pool});
      };
      CapturedGraph small = graph_of(kCount);
      {
        CapturedGraph large = graph_of(2 * kCount);
        small.launch(queue).wait();
        large.launch(queue).wait();
        CHECK(pool->trim().slabs == 1);
        small.launch(queue).wait();
      }
      device.wait_idle();
    }
    device.wait_idle();
  }
  const trace::Records all = all_records(folder.file());
  const auto& states = all.pool_states;
  const auto both = std::find_if(states.begin(), states.end(), [](const trace::PoolState& s) {
    return s.shared_slabs == 1 && s.mapped == 2 * kBytes + 64;
  });
  REQUIRE(both != states.end());
  CHECK(both->slabs == 1);
  for (const trace::PoolRole role : {trace::PoolRole::Holder, trace::PoolRole::Sharer}) {
    std::vector<std::uint32_t> started, stopped;
    for (const trace::PoolUse& use : all.pool_uses) {
      if (use.role == role) (use.to == 0 ? started : stopped).push_back(use.graph);
    }
    std::sort(started.begin(), started.end());
    std::sort(stopped.begin(), stopped.end());
    CHECK(started.size() == 2);
    CHECK(started == stopped);
  }
  CHECK(states.back().shared_slabs == 0);
  CHECK(states.back().peak == 2 * kBytes + 64);
  CHECK(states.back().trims == 1);
  CHECK(states.back().remaps == 1);
  CHECK(all.device_totals.back().peak == 2 * kBytes + 64);
  CHECK(std::any_of(all.device_totals.begin(), all.device_totals.end(),
                    [](const trace::DeviceTotals& d) { return d.shared_slabs == 1; }));
  const auto message_count = [&](std::string_view id) {
    return std::count_if(all.messages.begin(), all.messages.end(),
                         [&](const trace::Message& m) { return m.id == id; });
  };
  CHECK(message_count("slab-trimmed") == 1);
  CHECK(message_count("slab-remapped") == 1);
}

TEST_CASE("traced memory: a graph that is not launched takes at most 4 KB more with a trace") {
  const TraceFolder folder;
  constexpr int kGraphs = 2'000;
  const auto heap_per_graph = [](const TraceDesc& trace) {
    Instance instance({.application = "many graphs", .trace = trace});
    const Device device = instance.open_device(DeviceSelector::named("host"));
    const auto x = device.create_pool()->allocate<unsigned>(4, "x");
    CommandBuffer cmd = device.create_command_buffer();
    cmd.begin();
    cmd.fill(x, 1u);
    cmd.end();
    std::vector<CapturedGraph> graphs;
    graphs.push_back(device.compile(cmd));
    instance.flush_trace();
    const std::size_t before = heap_bytes();
    while (graphs.size() <= kGraphs) graphs.push_back(device.compile(cmd));
    instance.flush_trace();
    return static_cast<double>(heap_bytes() - before) / kGraphs;
  };
  const double untraced = heap_per_graph({});
  CHECK(heap_per_graph({.target = folder.file()}) < 1.3 * untraced + 4096);
}

TEST_CASE("traced memory: buffers that come and go rapidly become counts of their pool") {
  const TraceFolder folder;
  constexpr unsigned kBuffers = 40'000;
  {
    Instance instance({.application = "rapid", .trace = {.target = folder.file()}});
    const Device device = instance.open_device(DeviceSelector::named("host"));
    {
      const auto pool = device.create_pool({.label = "step"});
      const auto kept = pool->allocate<unsigned>(4, "kept");
      for (unsigned i = 0; i < kBuffers; ++i)
        static_cast<void>(pool->allocate<unsigned>(4, "short"));
      device.wait_idle();
      instance.flush_trace();
      const trace::Records now = all_records(folder.file());
      REQUIRE_FALSE(now.pool_states.empty());
      CHECK(now.pool_states.back().freed == kBuffers);
      CHECK(now.pool_states.back().buffers == 1);
    }
    device.wait_idle();
  }
  const trace::Records all = all_records(folder.file());
  CHECK(all.pool_states.back().freed == kBuffers + 1);
  CHECK(all.pool_states.size() < 2'000);
  CHECK(all.device_totals.size() < 2'000);
  CHECK(all.buffer_lifetimes.size() < 2 * kBuffers);
  std::map<std::uint32_t, int> open;
  for (const trace::BufferLifetime& lifetime : all.buffer_lifetimes)
    open[lifetime.buffer] += lifetime.freed == 0 ? 1 : -1;
  CHECK(std::all_of(open.begin(), open.end(), [](const auto& one) { return one.second == 0; }));
}

TEST_CASE("traced memory: ten million launches of a graph take bounded memory") {
  // Under sanitizers, which hide the size of the heap, a tenth tests the rest.
  const std::uint64_t launches = heap_bytes() == 0 ? 1'000'000 : 10'000'000;
  const TraceFolder folder;
  // A queue keeps the memory that it has needed, and on a busy machine it needs all it may have.
  trace::TraceWriter writer({.queue_bytes = 4u << 20});
  writer.add_sink(std::make_shared<trace::TraceFile>(
      trace::TraceFileDesc{.path = folder.file(), .max_bytes = 1u << 20}));
  detail::ReplayLog log({.nodes = 1, .mode = ProfileMode::Replays});
  log.expect_device_times(true);
  std::vector<trace::Record> records;
  constexpr std::uint64_t kBatch = 1'000;
  std::uint64_t replay = 0, collected = 0, pushed = 0;
  bool is_recorded = true;
  // The file gets one batch of twenty.
  const auto launch = [&](std::uint64_t count) {
    for (const std::uint64_t end = replay + count; replay < end;) {
      for (std::uint64_t i = 0; i < kBatch; ++i) {
        const auto at = static_cast<trace::Time>(++replay * 1'000);
        is_recorded = log.begin_launch(replay) && is_recorded;
        log.record_launch({replay, at, at + 10, 0, 1});
        log.end_replay(replay, at + 20, at + 500, log.begin_replay(replay));
      }
      is_recorded = log.collect(records) && is_recorded;
      collected += records.size();
      for (trace::Record& record : records) {
        if (replay / kBatch % 20 == 0) pushed += writer.push(std::move(record)) ? 1 : 0;
      }
      records.clear();
    }
    writer.flush();
  };
  launch(launches / 10);
  const std::size_t before = heap_bytes();
  launch(launches - launches / 10);
  CHECK(static_cast<double>(heap_bytes()) - static_cast<double>(before) < 16 << 20);
  CHECK(is_recorded);
  CHECK(collected == replay);
  CHECK(pushed + writer.stats().lost_records == replay / 20);
  CHECK(std::filesystem::file_size(folder.file()) < 2u << 20);
}

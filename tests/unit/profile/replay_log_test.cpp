#include <doctest/doctest.h>

#include <thread>
#include <vector>

#include "profile/replay_log.hpp"
#include "support/counting_allocator.hpp"
#include "trace/codec.hpp"
#include "unit/profile/traced_run.hpp"

using namespace reprise;
using namespace reprise::test;
using detail::NodeTime;
using detail::ReplayLog;

namespace {

trace::Records collected(ReplayLog& log) {
  std::vector<trace::Record> records;
  static_cast<void>(log.collect(records));
  trace::Records by_kind;
  for (trace::Record& record : records) by_kind.add(std::move(record));
  return by_kind;
}

// Begins every launch that a test records.
void begin_all(ReplayLog& log) { REQUIRE(log.begin_launch(1'000'000)); }

// Runs one replay of `nodes` nodes of 10 ns each from `start`; returns whether node times were
// requested.
bool run(ReplayLog& log, std::uint64_t replay, std::uint32_t nodes, std::int64_t start) {
  NodeTime* const times = log.begin_replay(replay);
  if (times != nullptr) {
    for (std::uint32_t node = 0; node < nodes; ++node) times[node] = {start + 10 * node, 10, 1};
  }
  log.end_replay(replay, start, start + 10 * nodes, times);
  return times != nullptr;
}

void launch(ReplayLog& log, std::uint64_t replay, std::int64_t at) {
  log.record_launch({replay, at, at + 5, 3, 99});
}

}  // namespace

TEST_CASE("replay log: launches and times are matched in any order of arrival") {
  ReplayLog log({.graph = 7, .version = 1, .label = "g", .nodes = 2});
  begin_all(log);
  log.expect_device_times(true);
  launch(log, 1, 100);
  CHECK(collected(log).count() == 0);  // the times are outstanding
  CHECK(run(log, 1, 2, 200));
  CHECK(run(log, 2, 2, 300));  // completes before its launch returns
  const trace::Records first = collected(log);
  REQUIRE(first.replays.size() == 1);
  CHECK(first.replays[0] == trace::Replay{7, 1, 0, 3, 1, 100, 105, 200, 220, 99, 1});
  REQUIRE(first.sample_blocks.size() == 2);
  CHECK(first.sample_blocks[0].replay == 1);
  CHECK(first.sample_blocks[0].samples ==
        std::vector<trace::Sample>{{0, 0, 200, 10, 1}, {1, 0, 210, 10, 1}});
  launch(log, 2, 290);
  const trace::Records second = collected(log);
  REQUIRE(second.replays.size() == 1);
  CHECK(second.replays[0].started == 300);
  CHECK(second.losses.empty());
}

TEST_CASE("replay log: without a device clock a replay has only launch times") {
  ReplayLog log({.graph = 1, .nodes = 2});
  begin_all(log);
  launch(log, 1, 100);
  const trace::Records records = collected(log);
  REQUIRE(records.replays.size() == 1);
  CHECK(records.replays[0] == trace::Replay{1, 1, 0, 3, 1, 100, 105, 0, 0, 99, 0});
}

TEST_CASE("replay log: samples are sorted by start, and a node that did not run has none") {
  ReplayLog log({.nodes = 3});
  begin_all(log);
  NodeTime* const times = log.begin_replay(1);
  REQUIRE(times != nullptr);
  times[0] = {50, 1, 1};
  times[2] = {40, 1, 2};
  log.end_replay(1, 40, 0, times);
  const trace::Records records = collected(log);
  REQUIRE(records.sample_blocks.size() == 1);
  CHECK(records.sample_blocks[0].samples ==
        std::vector<trace::Sample>{{2, 0, 40, 1, 2}, {0, 0, 50, 1, 1}});
  NodeTime* const again = log.begin_replay(2);  // earlier contents are cleared
  REQUIRE(again != nullptr);
  log.end_replay(2, 60, 0, again);
  CHECK(collected(log).sample_blocks[0].samples.empty());
}

TEST_CASE("replay log: what exceeds a small ring is counted once, and recording continues") {
  ReplayLog log({.label = "tiny", .nodes = 5, .replays = 4, .node_bytes = 1});
  begin_all(log);
  log.expect_device_times(true);
  for (std::uint64_t replay = 1; replay <= 10; ++replay) {
    launch(log, replay, 1000 + static_cast<std::int64_t>(replay));
    run(log, replay, 5, 2000 + static_cast<std::int64_t>(replay));
  }
  const trace::Records records = collected(log);
  CHECK(records.replays.size() == 4);
  CHECK(records.sample_blocks.size() == 4);
  std::uint64_t replays = 0, times = 0, samples = 0;
  for (const trace::Loss& loss : records.losses) {
    CHECK(loss.reason.find("graph tiny") != std::string::npos);
    if (loss.kind == trace::LossKind::Replays) replays += loss.count;
    if (loss.kind == trace::LossKind::DeviceRecords) times += loss.count;
    if (loss.kind == trace::LossKind::Samples) samples += loss.count;
  }
  CHECK(replays == 6);
  CHECK(times == 6);
  CHECK(samples == 6 * 5);
  launch(log, 11, 5000);
  CHECK(run(log, 11, 5, 6000));
  const trace::Records later = collected(log);
  CHECK(later.replays.size() == 1);
  CHECK(later.sample_blocks.size() == 1);
  CHECK(later.losses.empty());
}

TEST_CASE("replay log: a launch whose times were lost is recorded without them") {
  ReplayLog log({.nodes = 1});
  begin_all(log);
  log.expect_device_times(true);
  launch(log, 1, 100);
  launch(log, 2, 110);
  launch(log, 3, 120);
  run(log, 2, 1, 200);
  const trace::Records records = collected(log);
  REQUIRE(records.replays.size() == 2);
  CHECK(records.replays[0].started == 0);
  CHECK(records.replays[0].sampled == 0);
  CHECK(records.replays[1].started == 200);
  log.close();
  std::vector<trace::Record> last;
  CHECK_FALSE(log.collect(last));
  REQUIRE(last.size() == 1);
  CHECK(std::get<trace::Replay>(last[0]).replay == 3);
}

TEST_CASE("replay log: the mode decides which replays get node times") {
  ReplayLog replays({.nodes = 4, .mode = ProfileMode::Replays});
  begin_all(replays);
  for (std::uint64_t replay = 1; replay <= 8; ++replay) CHECK_FALSE(run(replays, replay, 4, 100));
  // The cost of 4 nodes is 240 ns in 40 ns of run time: one in 600 replays is sampled.
  ReplayLog sampled({.nodes = 4, .mode = ProfileMode::Sampled});
  begin_all(sampled);
  std::vector<std::uint64_t> wanted;
  for (std::uint64_t replay = 1; replay <= 1300; ++replay) {
    if (run(sampled, replay, 4, 100)) wanted.push_back(replay);
  }
  CHECK(wanted == std::vector<std::uint64_t>{1, 601, 1201});
}

TEST_CASE("replay log: recording allocates nothing once the rings have the size that it needs") {
  ReplayLog log({.nodes = 16, .replays = 64});
  begin_all(log);
  log.expect_device_times(true);
  std::uint64_t replay = 0;
  const auto record = [&](int replays) {
    const std::uint64_t before = allocations_of_this_thread();
    for (int i = 0; i < replays; ++i) {
      launch(log, ++replay, 1);
      run(log, replay, 16, 1);
    }
    return allocations_of_this_thread() - before;
  };
  CHECK(record(200) > 0);  // more than fits
  CHECK(record(200) == 0);
  CHECK(collected(log).replays.size() == 64);
  CHECK(record(64) == 0);
  const trace::Records records = collected(log);
  CHECK(records.replays.size() == 64);
  CHECK(records.sample_blocks.size() == 64);
}

TEST_CASE("replay log: rings and node times take memory only for the replays that wait") {
  const std::uint64_t before = heap_bytes();
  ReplayLog log({.nodes = 1});
  CHECK(heap_bytes() - before < 2048);
  begin_all(log);
  log.expect_device_times(true);
  std::uint64_t replay = 0;
  for (int round = 0; round < 1'000; ++round) {
    for (int i = 0; i < 4; ++i) {
      launch(log, ++replay, 1);
      run(log, replay, 1, 1);
    }
    REQUIRE(collected(log).sample_blocks.size() == 4);
    if (round == 0) CHECK(heap_bytes() - before < 8192);
  }
}

TEST_CASE(
    "replay log: with a launching, a running and a collecting thread every replay is recorded or "
    "counted") {
  ReplayLog log({.label = "g", .nodes = 3, .replays = 32});
  begin_all(log);
  log.expect_device_times(true);
  constexpr std::uint64_t kReplays = 20000;
  std::thread launches([&] {
    for (std::uint64_t replay = 1; replay <= kReplays; ++replay)
      launch(log, replay, static_cast<std::int64_t>(replay));
  });
  std::thread runs([&] {
    for (std::uint64_t replay = 1; replay <= kReplays; ++replay)
      run(log, replay, 3, static_cast<std::int64_t>(replay) * 100);
  });
  trace::Records all;
  std::vector<trace::Record> records;
  const auto add = [&] {
    for (trace::Record& record : records) all.add(std::move(record));
    records.clear();
  };
  for (int i = 0; i < 50; ++i) {
    static_cast<void>(log.collect(records));
    add();
    std::this_thread::yield();
  }
  launches.join();
  runs.join();
  log.close();
  CHECK_FALSE(log.collect(records));
  add();
  std::uint64_t lost_launches = 0, lost_samples = 0;
  for (const trace::Loss& loss : all.losses) {
    if (loss.kind == trace::LossKind::Replays) lost_launches += loss.count;
    if (loss.kind == trace::LossKind::Samples) lost_samples += loss.count;
  }
  CHECK(all.replays.size() + lost_launches == kReplays);
  CHECK(all.sample_blocks.size() * 3 + lost_samples == kReplays * 3);
  for (const trace::SampleBlock& block : all.sample_blocks) {
    REQUIRE(block.samples.size() == 3);
    REQUIRE(block.samples[0].started == static_cast<std::int64_t>(block.replay) * 100);
  }
}

TEST_CASE(
    "replay log: the mode changes between launches, and a started replay is recorded completely") {
  ReplayLog log({.nodes = 2, .mode = ProfileMode::Off});
  log.expect_device_times(true);
  CHECK_FALSE(log.begin_launch(1));
  CHECK_FALSE(run(log, 1, 2, 100));
  CHECK(collected(log).count() == 0);

  log.set_mode(ProfileMode::Every);
  CHECK(log.mode() == ProfileMode::Every);
  REQUIRE(log.begin_launch(2));
  launch(log, 2, 200);
  log.set_mode(ProfileMode::Off);  // during the replay
  CHECK_FALSE(log.begin_launch(3));
  run(log, 2, 2, 300);
  CHECK_FALSE(run(log, 3, 2, 400));
  const trace::Records records = collected(log);
  REQUIRE(records.replays.size() == 1);
  CHECK(records.replays[0].replay == 2);
  CHECK(records.replays[0].started == 300);
  CHECK(records.losses.empty());

  log.set_mode(ProfileMode::Replays);
  REQUIRE(log.begin_launch(4));
  launch(log, 4, 500);
  CHECK_FALSE(run(log, 4, 2, 600));
  const trace::Records later = collected(log);
  REQUIRE(later.replays.size() == 1);
  CHECK(later.replays[0].started == 600);
  CHECK(later.sample_blocks.empty());
}

TEST_CASE("replay log: a viewer's mode takes precedence over the application's while it is set") {
  ReplayLog log({.nodes = 2, .mode = ProfileMode::Replays});
  log.request_mode(ProfileMode::Every);
  CHECK(log.mode() == ProfileMode::Every);
  log.set_mode(ProfileMode::Off);
  CHECK(log.mode() == ProfileMode::Every);
  log.request_mode(ProfileMode::Sampled);
  CHECK(log.mode() == ProfileMode::Sampled);
  log.request_mode(std::nullopt);
  CHECK(log.mode() == ProfileMode::Off);
  log.request_mode(std::nullopt);
  log.set_mode(ProfileMode::Sampled);
  CHECK(log.mode() == ProfileMode::Sampled);
}

TEST_CASE("replay log: a new request for samples applies to the next replay") {
  ReplayLog log({.nodes = 4, .mode = ProfileMode::Sampled});
  begin_all(log);
  std::vector<std::uint64_t> wanted;
  const auto replays = [&](std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t replay = from; replay < to; ++replay) {
      if (run(log, replay, 4, 100)) wanted.push_back(replay);
    }
  };
  replays(1, 100);
  log.request_mode(ProfileMode::Sampled);
  replays(100, 800);
  CHECK(wanted == std::vector<std::uint64_t>{1, 100, 700});  // one of 600 replays
}

TEST_CASE("replay log: changing the mode allocates nothing") {
  ReplayLog log({.nodes = 16, .mode = ProfileMode::Off});
  const auto change_modes = [&] {
    const std::uint64_t before = allocations_of_this_thread();
    for (const ProfileMode mode :
         {ProfileMode::Every, ProfileMode::Replays, ProfileMode::Sampled, ProfileMode::Off}) {
      log.set_mode(mode);
      log.request_mode(mode);
      if (log.begin_launch(1)) launch(log, 1, 1);
      run(log, 1, 16, 1);
    }
    return allocations_of_this_thread() - before;
  };
  CHECK(change_modes() > 0);  // the rings grow
  static_cast<void>(collected(log));
  CHECK(change_modes() == 0);
}

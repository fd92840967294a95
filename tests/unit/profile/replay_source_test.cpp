// ReplayLog with a source that keeps times until they are collected: requests for node times and
// their results.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <semaphore>
#include <set>
#include <thread>
#include <vector>

#include <reprise/error.hpp>

#include "profile/replay_log.hpp"
#include "trace/codec.hpp"

using namespace reprise;
using detail::NodeTime;
using detail::ReplayLog;

namespace {

constexpr std::uint32_t kNodes = 3;

// Replays that ran and were not collected: 100 ns each, 300 ns with the profiling clone. A source
// that can time every replay needs 300 ns for those of which it is asked, too.
class FakeSource final : public detail::ReplaySource {
 public:
  [[nodiscard]] Lost collect(detail::ReplayObserver& observer) override {
    ++collected;
    if (broken) fail();
    for (; !completed.empty(); completed.pop_front()) {
      NodeTime* times = nullptr;
      if (remaining_ > 0) {
        if (remaining_ != kAllReplays) --remaining_;
        const std::int64_t took = took_of(completed.front());
        if (observer.wants_nodes(completed.front(), at_, at_ + took))
          times = observer.begin_replay(completed.front());
        for (std::uint32_t node = 0; times != nullptr && node < kNodes; ++node)
          times[node] = {at_ + 100 * node, 100, 0};
      }
      const std::int64_t took =
          times == nullptr && !can_time_all ? 100 : took_of(completed.front());
      observer.end_replay(completed.front(), at_, at_ + took, times);
      at_ += took;
    }
    return std::exchange(lost, {});
  }
  void time_nodes(std::uint64_t replays, Precision precision) override {
    if (broken) fail();
    if (is_full) fail(ErrorCode::OutOfMemory);
    requests.push_back(replays);
    precisions.push_back(precision);
    remaining_ = replays;
  }
  void prepare() override {
    may_prepare.acquire();
    if (is_full) fail(ErrorCode::OutOfMemory);
    is_ready = true;
  }
  [[nodiscard]] bool is_prepared(Precision) override { return is_ready; }
  [[nodiscard]] bool can_time_every_replay() const noexcept override { return can_time_all; }
  [[nodiscard]] bool is_timing_nodes() const override { return remaining_ > 0; }
  void pause() noexcept override { is_paused = true, ++switched; }
  void resume() noexcept override { is_paused = false, ++switched; }
  [[nodiscard]] std::uint64_t capacity() const noexcept override { return 64; }
  [[nodiscard]] std::optional<detail::ClockPair> clock() const override { return pair; }

  std::deque<std::uint64_t> completed;
  std::vector<std::uint64_t> requests;
  std::vector<Precision> precisions;
  Lost lost;
  std::optional<detail::ClockPair> pair;
  std::binary_semaphore may_prepare{0};
  std::atomic<bool> is_ready{true};
  bool broken = false, is_full = false, can_time_all = false;
  std::map<std::uint64_t, std::int64_t> slow;  // ns, by replay
  int collected = 0, switched = 0;
  bool is_paused = false;

 private:
  [[nodiscard]] std::int64_t took_of(std::uint64_t replay) const {
    const auto found = slow.find(replay);
    return found == slow.end() ? 300 : found->second;
  }
  [[noreturn]] static void fail(ErrorCode code = ErrorCode::DeviceLost) {
    ErrorDetails details;
    details.code = code;
    details.stage = Stage::Profile;
    throw Error(std::move(details),
                code == ErrorCode::DeviceLost ? "the device is gone" : "there is no memory");
  }

  std::uint64_t remaining_ = 0;
  std::int64_t at_ = 1'000;
};

struct LogWithSource {
  explicit LogWithSource(ProfileMode mode)
      : log({.graph = 7, .device = 2, .label = "g", .nodes = kNodes, .mode = mode}) {
    log.follow(source);
  }

  void run(std::uint64_t times) {
    for (std::uint64_t i = 0; i < times; ++i) {
      const std::uint64_t replay = ++launched;
      source->completed.push_back(replay);
      if (!log.begin_launch(replay)) continue;
      log.record_launch({replay, 10, 15, 3, 99});
    }
  }
  trace::Records collect() {
    std::vector<trace::Record> records;
    static_cast<void>(log.collect(records));
    trace::Records by_kind;
    for (trace::Record& record : records) by_kind.add(std::move(record));
    return by_kind;
  }

  // Collects until the preparation has ended and what follows it has happened.
  void collect_until(const std::function<bool(const trace::Records&)>& has_happened) {
    for (int i = 0; i < 10'000; ++i) {
      if (has_happened(collect())) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    FAIL("it has not happened in 10 s");
  }

  std::shared_ptr<FakeSource> source = std::make_shared<FakeSource>();
  ReplayLog log;
  std::uint64_t launched = 0;
};

}  // namespace

TEST_CASE(
    "replay source: replays get their times on collection, and an idle source is not queried") {
  LogWithSource f(ProfileMode::Replays);
  CHECK(f.collect().count() == 0);
  CHECK(f.source->collected == 0);
  f.run(3);
  const trace::Records records = f.collect();
  REQUIRE(records.replays.size() == 3);
  CHECK(records.replays[2].started == 1'200);
  CHECK(records.replays[2].ended == 1'300);
  CHECK(records.replays[2].launched == 10);
  CHECK(records.replays[2].sampled == 0);
  CHECK(f.source->requests.empty());
  CHECK(f.source->collected == 1);
  CHECK(f.collect().count() == 0);
  CHECK(f.source->collected == 1);
}

TEST_CASE(
    "replay source: with mode Every node times are requested before the first launch, and "
    "cancelled with the mode") {
  LogWithSource f(ProfileMode::Every);
  REQUIRE(f.source->requests == std::vector<std::uint64_t>{detail::ReplaySource::kAllReplays});
  CHECK(f.source->precisions.front() == detail::ReplaySource::Precision::Close);
  f.run(5);
  const trace::Records records = f.collect();
  REQUIRE(records.sample_blocks.size() == 5);
  CHECK(records.sample_blocks[0].source == trace::SampleSource::Timestamp);
  CHECK(records.sample_blocks[0].samples.size() == kNodes);
  CHECK(records.replays[4].sampled == 1);
  f.log.set_mode(ProfileMode::Replays);
  static_cast<void>(f.collect());
  CHECK(f.source->requests == std::vector<std::uint64_t>{detail::ReplaySource::kAllReplays, 0});
  f.run(2);
  CHECK(f.collect().sample_blocks.empty());
}

TEST_CASE(
    "replay source: the first sampling window opens at once, the next one after it has amortised") {
  LogWithSource f(ProfileMode::Sampled);
  static_cast<void>(f.collect());
  REQUIRE(f.source->requests.size() == 1);
  const std::uint64_t window = f.source->requests[0];
  // The total run time is still unknown.
  CHECK(f.source->precisions[0] == detail::ReplaySource::Precision::Cheap);
  CHECK(window > 0);
  CHECK(window < 100);
  f.run(2 * window);
  CHECK(f.collect().sample_blocks.size() == window);
  f.run(2 * window);
  CHECK(f.collect().sample_blocks.empty());
  CHECK(f.source->requests.size() == 1);
  // A new request takes effect immediately.
  f.log.request_mode(ProfileMode::Sampled);
  static_cast<void>(f.collect());
  CHECK(f.source->requests.size() == 2);
}

TEST_CASE(
    "replay source: of a source that times every replay, samples and the slowest replay of each "
    "second are kept") {
  LogWithSource f(ProfileMode::Sampled);
  f.source->can_time_all = true;
  static_cast<void>(f.collect());
  REQUIRE(f.source->requests == std::vector<std::uint64_t>{detail::ReplaySource::kAllReplays});
  f.source->slow = {
      {50, 310}, {51, 305}, {70, 900}, {99, 899}, {1'500, 2'000'000'000}, {1'501, 1'500'000'000}};
  f.run(2'000);
  std::set<std::uint64_t> kept;
  for (const trace::SampleBlock& block : f.collect().sample_blocks) kept.insert(block.replay);
  for (const std::uint64_t slow : {1, 50, 70, 1'500, 1'501}) CHECK(kept.contains(slow));
  CHECK_FALSE(kept.contains(51));
  CHECK_FALSE(kept.contains(99));
  CHECK(kept.size() < 60);
  CHECK(kept.size() > 20);  // at most every 60th replay for 1 % of the time
  // A new request samples the next replay.
  f.log.request_mode(ProfileMode::Sampled);
  static_cast<void>(f.collect());
  f.run(1);
  CHECK(f.collect().sample_blocks.size() == 1);
  CHECK(f.source->requests.size() == 1);
  f.log.request_mode(ProfileMode::Every);
  static_cast<void>(f.collect());
  f.run(3);
  CHECK(f.collect().sample_blocks.size() == 3);
  f.log.request_mode(ProfileMode::Replays);
  static_cast<void>(f.collect());
  CHECK(f.source->requests.back() == 0);
}

TEST_CASE("replay source: nothing is timed while the mode is Off") {
  LogWithSource f(ProfileMode::Off);
  f.run(4);
  CHECK(f.collect().count() == 0);
  CHECK(f.source->requests.empty());
  f.log.set_mode(ProfileMode::Replays);
  f.run(1);
  const trace::Records records = f.collect();
  REQUIRE(records.replays.size() == 1);
  CHECK(records.replays[0].replay == 5);
  CHECK(records.replays[0].started == 1'400);
}

TEST_CASE(
    "replay source: it is paused in mode Off after outstanding times arrived, and resumed before "
    "the next launch") {
  LogWithSource off(ProfileMode::Off);
  CHECK(off.source->is_paused);
  LogWithSource f(ProfileMode::Replays);
  CHECK_FALSE(f.source->is_paused);
  f.run(2);
  f.log.set_mode(ProfileMode::Off);
  CHECK_FALSE(f.source->is_paused);  // earlier launches may be outstanding
  CHECK(f.collect().replays.size() == 2);
  CHECK(f.source->is_paused);
  static_cast<void>(f.collect());
  CHECK(f.source->switched == 1);
  f.log.request_mode(ProfileMode::Sampled);
  CHECK_FALSE(f.source->is_paused);
  f.log.request_mode(std::nullopt);
  CHECK_FALSE(f.source->is_paused);
  static_cast<void>(f.collect());
  CHECK(f.source->is_paused);
  f.log.set_mode(ProfileMode::Replays);
  CHECK_FALSE(f.source->is_paused);
  f.run(1);
  CHECK(f.collect().replays.size() == 1);
  CHECK(f.source->switched == 4);
}

TEST_CASE("replay source: times that arrive too late are counted as lost") {
  LogWithSource f(ProfileMode::Replays);
  f.run(3);
  f.source->completed.pop_front();
  f.source->lost = {1, 2};
  const trace::Records records = f.collect();
  REQUIRE(records.replays.size() == 3);
  CHECK(records.replays[0].started == 0);
  CHECK(records.replays[1].started == 1'000);
  REQUIRE(records.losses.size() == 2);
  CHECK(records.losses[0].kind == trace::LossKind::DeviceRecords);
  CHECK(records.losses[0].count == 1);
  CHECK(records.losses[1].kind == trace::LossKind::Samples);
  CHECK(records.losses[1].count == 2 * kNodes);
}

TEST_CASE("replay source: each pair of clock readings is in the trace once") {
  LogWithSource f(ProfileMode::Replays);
  f.source->pair = detail::ClockPair{500, 9'000, 3};
  f.run(1);
  const trace::Records first = f.collect();
  REQUIRE(first.clocks.size() == 1);
  CHECK(first.clocks[0] == trace::Clock{2, 500, 9'000, 3});
  f.run(1);
  CHECK(f.collect().clocks.empty());
}

TEST_CASE(
    "replay source: a failing device is reported once, and replays continue without its times") {
  LogWithSource f(ProfileMode::Replays);
  f.run(2);
  f.source->broken = true;
  const trace::Records records = f.collect();
  REQUIRE(records.messages.size() == 1);
  CHECK(records.messages[0].id == "device-times-lost");
  CHECK(records.messages[0].graph == 7);
  REQUIRE(records.replays.size() == 2);
  CHECK(records.replays[0].started == 0);
  f.run(2);
  const trace::Records later = f.collect();
  CHECK(later.messages.empty());
  CHECK(later.replays.size() == 2);
}

TEST_CASE(
    "replay source: if nodes cannot be timed, replays are, and one message gives the reason") {
  LogWithSource f(ProfileMode::Sampled);
  f.source->is_full = true;
  f.run(2);
  const trace::Records records = f.collect();
  REQUIRE(records.messages.size() == 1);
  CHECK(records.messages[0].id == "node-times");
  CHECK(records.messages[0].text.starts_with(
      "graph g: its nodes are not timed now: there is no memory"));
  REQUIRE(records.replays.size() == 2);
  CHECK(records.replays[0].started != 0);
  f.run(2);
  CHECK(f.collect().messages.empty());
  f.source->is_full = false;
  static_cast<void>(f.collect());
  CHECK(f.source->requests.empty());  // not tried again yet
  f.log.request_mode(ProfileMode::Every);
  static_cast<void>(f.collect());
  CHECK(f.source->requests.size() == 1);
}

TEST_CASE(
    "replay source: while a source prepares to time nodes, the times of replays are collected") {
  LogWithSource f(ProfileMode::Replays);
  f.source->is_ready = false;
  f.log.set_mode(ProfileMode::Sampled);
  for (int i = 0; i < 3; ++i) {
    f.run(2);
    const trace::Records records = f.collect();
    REQUIRE(records.replays.size() == 2);
    CHECK(records.replays[1].started != 0);
  }
  CHECK(f.source->requests.empty());
  f.source->may_prepare.release();
  f.collect_until([&](const trace::Records&) { return !f.source->requests.empty(); });
  CHECK(f.source->requests == std::vector<std::uint64_t>{8});
}

TEST_CASE("replay source: why a source could not prepare to time nodes is reported") {
  LogWithSource f(ProfileMode::Replays);
  f.source->is_ready = false;
  f.source->is_full = true;
  f.log.set_mode(ProfileMode::Sampled);
  f.run(1);
  CHECK(f.collect().messages.empty());
  f.source->may_prepare.release();
  trace::Records reported;
  f.collect_until([&](trace::Records records) {
    reported = std::move(records);
    return !reported.messages.empty();
  });
  CHECK(reported.messages[0].text.starts_with(
      "graph g: its nodes are not timed now: there is no memory"));
  CHECK(f.source->requests.empty());
}

TEST_CASE(
    "replay source: a device that cannot time nodes does not prevent the graph and is reported "
    "later") {
  const auto source = std::make_shared<FakeSource>();
  source->broken = true;
  ReplayLog log({.graph = 7, .label = "g", .nodes = kNodes, .mode = ProfileMode::Every});
  CHECK_NOTHROW(log.follow(source));
  std::vector<trace::Record> records;
  CHECK(log.collect(records));
  REQUIRE(records.size() == 1);
  REQUIRE(std::holds_alternative<trace::Message>(records[0]));
  CHECK(std::get<trace::Message>(records[0]).id == "device-times-lost");
}

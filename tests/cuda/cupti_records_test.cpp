// Assignment of CUPTI records to replays, from records in CUPTI's format. Needs no GPU.
#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "backend/cuda/timing/activity_times.hpp"
#include "profile/activity/cupti_records.hpp"

namespace reprise::detail {
namespace {

using More = ReplayRuns::More;

template <class Record>
std::optional<NodeRecord> read_back(CUpti_ActivityKind kind, std::uint64_t node) {
  Record record;
  std::memset(&record, 0, sizeof(record));
  record.kind = kind;
  record.graphNodeId = node;
  record.start = 1'000;
  record.end = 1'500;
  return node_record(reinterpret_cast<const CUpti_Activity&>(record));
}

// A replay of length 100: start timestamp, nodes 0 and 1, end timestamp.
std::vector<NodeRun> replay_at(std::int64_t at) {
  return {{NodeRun::kBegin, at, at + 10},
          {0, at + 10, at + 40},
          {1, at + 40, at + 90},
          {NodeRun::kEnd, at + 90, at + 100}};
}
void add(ReplayRuns& runs, const std::vector<NodeRun>& of) {
  for (const NodeRun& run : of) runs.add(run);
}

}  // namespace

TEST_CASE("cupti records: kernel, copy and fill records of graphs yield their node id") {
  for (const auto& record :
       {read_back<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 77),
        read_back<CUpti_ActivityMemcpy6>(CUPTI_ACTIVITY_KIND_MEMCPY, 77),
        read_back<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET, 77)}) {
    REQUIRE(record);
    CHECK(record->node == 77);
    CHECK(record->started == 1'000);
    CHECK(record->ended == 1'500);
  }
}

TEST_CASE("cupti records: records outside graphs are ignored") {
  CHECK_FALSE(read_back<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 0));
  CHECK_FALSE(read_back<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET, 0));
  CUpti_Activity other;
  std::memset(&other, 0, sizeof(other));
  other.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
  CHECK_FALSE(node_record(other));
}

TEST_CASE(
    "replay runs: replays are split at their start timestamps and ordered, whatever the record "
    "order") {
  ReplayRuns runs(4);
  auto first = replay_at(1'000), second = replay_at(2'000);
  std::vector<NodeRun> mixed;
  for (int i = 3; i >= 0; --i) {
    mixed.push_back(second[static_cast<std::size_t>(i)]);
    mixed.push_back(first[static_cast<std::size_t>(i)]);
  }
  add(runs, mixed);
  const auto one = runs.take({1'000, 0, More::Expected});
  REQUIRE(one);
  REQUIRE(one->size() == 4);
  CHECK(one->front().started == 1'000);
  CHECK(one->back().ended == 1'100);
  const auto two = runs.take({2'000, 0, More::Expected});
  REQUIRE(two);
  CHECK(two->front().started == 2'000);
  CHECK_FALSE(runs.take({3'000, 0, More::Expected}));
}

TEST_CASE("replay runs: an incomplete replay is pending until no more records will come") {
  ReplayRuns runs(4);
  CHECK_FALSE(runs.take({1'000, 0, More::Expected}));
  auto replay = replay_at(1'000);
  const NodeRun late = replay[2];
  replay.erase(replay.begin() + 2);
  add(runs, replay);
  CHECK_FALSE(runs.take({1'000, 0, More::Expected}));
  SUBCASE("the record comes") {
    runs.add(late);
    const auto whole = runs.take({1'000, 0, More::Expected});
    REQUIRE(whole);
    CHECK(whole->size() == 4);
  }
  SUBCASE("the record does not come") {
    const auto rest = runs.take({1'000, 0, More::NoneExpected});
    REQUIRE(rest);
    CHECK(rest->size() == 3);
    const auto nothing = runs.take({2'000, 0, More::NoneExpected});
    REQUIRE(nothing);
    CHECK(nothing->empty());
  }
}

TEST_CASE("replay runs: an incomplete replay is abandoned once two later replays are complete") {
  ReplayRuns runs(4);
  auto broken = replay_at(1'000);
  broken.pop_back();
  add(runs, broken);
  add(runs, replay_at(2'000));
  CHECK_FALSE(runs.take({1'000, 0, More::Expected}));
  add(runs, replay_at(3'000));
  const auto rest = runs.take({1'000, 0, More::Expected});
  REQUIRE(rest);
  CHECK(rest->size() == 3);
  CHECK(runs.take({2'000, 0, More::Expected})->size() == 4);
}

TEST_CASE("replay runs: after a record loss, times decide which replay is present") {
  ReplayRuns runs(4);
  add(runs, replay_at(3'000));
  runs.mark_lost();
  const auto missing = runs.take({1'000, 500, More::Expected});
  REQUIRE(missing);
  CHECK(missing->empty());
  const auto there = runs.take({3'040, 500, More::Expected});
  REQUIRE(there);
  CHECK(there->size() == 4);
  CHECK_FALSE(runs.take({4'000, 500, More::Expected}));
}

TEST_CASE(
    "replay runs: after a record loss, an incomplete replay is abandoned once the next one is "
    "present") {
  ReplayRuns runs(4);
  auto broken = replay_at(1'000);
  broken.pop_back();
  add(runs, broken);
  runs.mark_lost();
  CHECK_FALSE(runs.take({1'000, 500, More::Expected}));
  add(runs, replay_at(2'000));
  const auto rest = runs.take({1'000, 500, More::Expected});
  REQUIRE(rest);
  CHECK(rest->size() == 3);
}

TEST_CASE(
    "clock offset: zero if the timestamp kernels contain their timestamps, otherwise the smallest "
    "correction") {
  const auto runs = replay_at(1'000);
  CHECK(clock_offset(runs, 1'005, 1'095) == 0);
  CHECK(clock_offset(runs, 2'005, 2'095) == 995);
  CHECK(clock_offset(runs, 505, 595) == -495);
  // The timestamps are further apart than their kernels allow: the midpoint is used.
  CHECK(clock_offset(runs, 1'000, 1'200) == 50);
  CHECK(clock_offset({}, 1'000, 1'100) == 0);
}

}  // namespace reprise::detail

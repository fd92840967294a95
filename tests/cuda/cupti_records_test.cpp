// What is made of CUPTI's records, from records as CUPTI writes them. Needs no GPU.
#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "backend/cuda/activity_times.hpp"
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

// A replay of a stamp, nodes 0 and 1, and a stamp, 100 long.
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

TEST_CASE(
    "cupti records: kernels, copies and fills of graphs are told by their node's id, whatever kind "
    "of record it is") {
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

TEST_CASE("cupti records: what is no node of a graph is nobody's") {
  CHECK_FALSE(read_back<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 0));
  CHECK_FALSE(read_back<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET, 0));
  CUpti_Activity other;
  std::memset(&other, 0, sizeof(other));
  other.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
  CHECK_FALSE(node_record(other));
}

TEST_CASE(
    "replay runs: replays are cut at their first stamps, in order, however the records come") {
  ReplayRuns runs(4);
  auto first = replay_at(1'000), second = replay_at(2'000);
  std::vector<NodeRun> mixed;
  for (int i = 3; i >= 0; --i) {
    mixed.push_back(second[static_cast<std::size_t>(i)]);
    mixed.push_back(first[static_cast<std::size_t>(i)]);
  }
  add(runs, mixed);
  const auto one = runs.take({1'000, 0, More::ToCome});
  REQUIRE(one);
  REQUIRE(one->size() == 4);
  CHECK(one->front().started == 1'000);
  CHECK(one->back().ended == 1'100);
  const auto two = runs.take({2'000, 0, More::ToCome});
  REQUIRE(two);
  CHECK(two->front().started == 2'000);
  CHECK_FALSE(runs.take({3'000, 0, More::ToCome}));
}

TEST_CASE("replay runs: a replay that is not all there is waited for, until no more will come") {
  ReplayRuns runs(4);
  CHECK_FALSE(runs.take({1'000, 0, More::ToCome}));
  auto replay = replay_at(1'000);
  const NodeRun late = replay[2];
  replay.erase(replay.begin() + 2);
  add(runs, replay);
  CHECK_FALSE(runs.take({1'000, 0, More::ToCome}));
  SUBCASE("it comes") {
    runs.add(late);
    const auto whole = runs.take({1'000, 0, More::ToCome});
    REQUIRE(whole);
    CHECK(whole->size() == 4);
  }
  SUBCASE("it does not") {
    const auto rest = runs.take({1'000, 0, More::NotToCome});
    REQUIRE(rest);
    CHECK(rest->size() == 3);
    const auto nothing = runs.take({2'000, 0, More::NotToCome});
    REQUIRE(nothing);
    CHECK(nothing->empty());
  }
}

TEST_CASE("replay runs: a replay that lacks something is given up once two others are there") {
  ReplayRuns runs(4);
  auto broken = replay_at(1'000);
  broken.pop_back();
  add(runs, broken);
  add(runs, replay_at(2'000));
  CHECK_FALSE(runs.take({1'000, 0, More::ToCome}));
  add(runs, replay_at(3'000));
  const auto rest = runs.take({1'000, 0, More::ToCome});
  REQUIRE(rest);
  CHECK(rest->size() == 3);
  CHECK(runs.take({2'000, 0, More::ToCome})->size() == 4);
}

TEST_CASE(
    "replay runs: where records were lost, their times tell which replay is there and which is "
    "not") {
  ReplayRuns runs(4);
  add(runs, replay_at(3'000));
  runs.note_lost();
  const auto missing = runs.take({1'000, 500, More::ToCome});
  REQUIRE(missing);
  CHECK(missing->empty());
  const auto there = runs.take({3'040, 500, More::ToCome});
  REQUIRE(there);
  CHECK(there->size() == 4);
  CHECK_FALSE(runs.take({4'000, 500, More::ToCome}));
}

TEST_CASE(
    "replay runs: where records were lost, a replay that lacks some is given up once the next one "
    "is there") {
  ReplayRuns runs(4);
  auto broken = replay_at(1'000);
  broken.pop_back();
  add(runs, broken);
  runs.note_lost();
  CHECK_FALSE(runs.take({1'000, 500, More::ToCome}));
  add(runs, replay_at(2'000));
  const auto rest = runs.take({1'000, 500, More::ToCome});
  REQUIRE(rest);
  CHECK(rest->size() == 3);
}

TEST_CASE(
    "clock offset: none where the stamps' kernels ran when the stamps say, else as little as makes "
    "it so") {
  const auto runs = replay_at(1'000);
  CHECK(clock_offset(runs, 1'005, 1'095) == 0);
  CHECK(clock_offset(runs, 2'005, 2'095) == 995);
  CHECK(clock_offset(runs, 505, 595) == -495);
  // The stamps are further apart than their kernels can be: halfway.
  CHECK(clock_offset(runs, 1'000, 1'200) == 50);
  CHECK(clock_offset({}, 1'000, 1'100) == 0);
}

}  // namespace reprise::detail

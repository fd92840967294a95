// The comparison of two ranks' collectives.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "collectives/agreement.hpp"
#include "support/contains.hpp"
#include "support/thrown_by.hpp"

namespace reprise::test {
namespace {

using detail::ComparedCall;
using detail::ComparedCommand;
using Commands = std::vector<ComparedCommand>;

constexpr std::uint64_t kWorld = 0;

ComparedCommand command(ComparedCall call, std::string label = "step/gradients") {
  return {kWorld, {0, 1, 2}, {call}, std::move(label), "train.cpp:42"};
}
ComparedCommand sum(std::uint64_t count, std::string label = "step/gradients") {
  return command({CollectiveKind::AllReduce, ElementType::F32, ReduceOperator::Sum, 0, count},
                 std::move(label));
}
ComparedCommand broadcast(std::uint32_t root) {
  return command({CollectiveKind::Broadcast, ElementType::F32, ReduceOperator::Sum, root, 8});
}
ComparedCommand send(std::uint32_t to, std::uint64_t count) {
  return command({CollectiveKind::Send, ElementType::I32, ReduceOperator::Sum, to, count});
}
ComparedCommand receive(std::uint32_t from, std::uint64_t count) {
  return command({CollectiveKind::Receive, ElementType::I32, ReduceOperator::Sum, from, count});
}
// The mismatch of rank 0, with `own`, and `rank`, with `other`.
std::string compare(const Commands& own, const Commands& other, std::uint32_t rank = 1) {
  return detail::find_mismatch({0, &own}, {rank, &other});
}

}  // namespace

TEST_CASE("agreement: equal lists agree, whatever their labels") {
  CHECK(compare({sum(8), broadcast(1)}, {sum(8, "other"), broadcast(1)}).empty());
  CHECK(compare({}, {}).empty());
}

TEST_CASE("agreement: every field counts, and the message names both commands") {
  const Commands own = {sum(8), sum(16)};
  const auto differs = [&](const ComparedCommand& second) {
    const std::string text = compare(own, {sum(8), second});
    CHECK(contains(text,
                   "collective 2 of ranks 0 and 1 differs: rank 0 has all_reduce of 16 f32 "
                   "(sum), \"step/gradients\", train.cpp:42; rank 1 has "));
    return text;
  };
  CHECK(contains(differs(sum(17)), "rank 1 has all_reduce of 17 f32 (sum)"));
  CHECK(contains(differs(broadcast(2)), "rank 1 has broadcast of 8 f32 from rank 2"));
  ComparedCommand other = sum(16);
  other.calls[0].type = ElementType::F64;
  CHECK(contains(differs(other), "all_reduce of 16 f64"));
  other = sum(16);
  other.calls[0].reduce = ReduceOperator::Max;
  CHECK(contains(differs(other), "(max)"));
  other = sum(16);
  other.communicator = 7;
  CHECK_FALSE(differs(other).empty());
}

TEST_CASE("agreement: swapped, missing and additional commands differ") {
  CHECK(contains(compare({sum(8), broadcast(0)}, {broadcast(0), sum(8)}), "collective 1"));
  CHECK(contains(compare({sum(8), sum(8)}, {sum(8)}), "rank 1 has no further collective"));
  CHECK(contains(compare({sum(8)}, {sum(8), sum(8)}), "rank 0 has no further collective"));
}

TEST_CASE("agreement: roots are compared") {
  CHECK(contains(compare({broadcast(0)}, {broadcast(1)}), "from rank 1"));
}

TEST_CASE("agreement: sends match receives of the other rank") {
  CHECK(compare({send(1, 4)}, {receive(0, 4)}).empty());
  CHECK_FALSE(compare({send(1, 4)}, {receive(0, 5)}).empty());
  CHECK_FALSE(compare({send(1, 4)}, {}).empty());
  CHECK_FALSE(compare({send(1, 4)}, {send(0, 4)}).empty());
  // Calls without both ranks are ignored.
  CHECK(compare({send(2, 4)}, {}).empty());
  CHECK(compare({send(2, 4), sum(8)}, {sum(8)}).empty());
}

TEST_CASE("agreement: an exchange within a group") {
  ComparedCommand own = send(1, 4), other = send(0, 4);
  own.calls.push_back(receive(1, 4).calls[0]);
  other.calls.insert(other.calls.begin(), receive(0, 4).calls[0]);
  CHECK(compare({own}, {other}).empty());
  other.calls[0].count = 3;
  CHECK(contains(compare({own}, {other}),
                 "rank 0 has send of 4 i32 to rank 1 with receive of 4 i32 from rank 1"));
}

TEST_CASE("agreement: commands of a communicator without the other rank are of no account") {
  ComparedCommand part = sum(8);
  part.communicator = 9;
  part.members = {0, 2};
  CHECK(compare({part, sum(8)}, {sum(8)}).empty());
  CHECK_FALSE(compare({part, sum(8)}, {sum(8)}, 2).empty());
}

TEST_CASE("agreement: what is encoded is decoded") {
  Commands own = {sum(8, "a\nb\x1f"), send(1, 1ull << 40)};
  own[1].calls.push_back(receive(2, 5).calls[0]);
  const Commands read = detail::decode(detail::encode(own));
  REQUIRE(read.size() == 2);
  CHECK(read[0].label == "a b ");
  CHECK(read[0].location == "train.cpp:42");
  CHECK(read[0].members == own[0].members);
  CHECK(read[0].calls == own[0].calls);
  CHECK(read[1].calls == own[1].calls);
  CHECK(detail::decode("").empty());
}

TEST_CASE("agreement: foreign text is refused") {
  for (const char* const text : {"x",
                                 "1\x1f"
                                 "2,x,\x1f\n",
                                 "1\x1f\x1f"
                                 "9,0,0,0,0;\x1f\x1f\n",
                                 "1\x1f\x1f"
                                 "0,0,0;\x1f\x1f\n"}) {
    CHECK(code_of([&] { static_cast<void>(detail::decode(text)); }) == ErrorCode::RankMismatch);
  }
}

TEST_CASE("agreement: what a rank sends to itself, it receives in the same group") {
  const auto own = [](const Commands& commands) {
    return detail::find_mismatch({0, &commands}, {0, &commands});
  };
  const auto group = [](ComparedCommand command, const ComparedCommand& with) {
    command.calls.push_back(with.calls[0]);
    return command;
  };
  CHECK(own({group(send(0, 8), receive(0, 8)), sum(8)}).empty());
  CHECK(own({send(1, 8), receive(2, 8)}).empty());
  const std::string text = own({sum(8), send(0, 8)});
  CHECK(contains(text, "rank 0 has send of 8 i32 to rank 0, \"step/gradients\", train.cpp:42"));
  CHECK(contains(text, "does not receive from itself, in the same group"));
  CHECK(!own({receive(0, 8)}).empty());
  CHECK(!own({group(send(0, 8), receive(0, 9))}).empty());
  CHECK(!own({send(0, 8), receive(0, 8)}).empty());  // one after the other
}

TEST_CASE("agreement: ranks that wait for each other in a cycle are found") {
  const auto find = [](const std::vector<Commands>& lists) {
    std::vector<detail::RankCommands> ranks;
    for (std::uint32_t rank = 0; rank < lists.size(); ++rank) {
      ranks.push_back({rank, &lists[rank]});
      for (std::uint32_t other = 0; other < rank; ++other)
        CHECK(detail::find_mismatch({other, &lists[other]}, ranks.back()).empty());
    }
    return detail::find_deadlock(ranks);
  };
  // Each rank first sends to the next: nobody receives.
  const std::string text =
      find({{send(1, 8), receive(2, 8)}, {send(2, 8), receive(0, 8)}, {send(0, 8), receive(1, 8)}});
  CHECK(contains(text, "rank 0 has send of 8 i32 to rank 1"));
  CHECK(contains(text, "and waits for rank 1; rank 1 has send of 8 i32 to rank 2"));
  CHECK(contains(text, "; rank 2 has send of 8 i32 to rank 0"));
  // One of them receives first.
  CHECK(
      find({{send(1, 8), receive(2, 8)}, {receive(0, 8), send(2, 8)}, {receive(1, 8), send(0, 8)}})
          .empty());
  // All in one group.
  const auto exchange = [](std::uint32_t to, std::uint32_t from) {
    ComparedCommand command = send(to, 8);
    command.calls.push_back(receive(from, 8).calls[0]);
    return command;
  };
  CHECK(find({{exchange(1, 2)}, {exchange(2, 0)}, {exchange(0, 1)}}).empty());
  CHECK(find({{sum(8), sum(8)}, {sum(8), sum(8)}, {sum(8), sum(8)}}).empty());
  // Collectives of pairs, each pair in the same order.
  const auto pair = [](std::uint32_t a, std::uint32_t b) {
    ComparedCommand command = sum(8);
    command.communicator = 10 * a + b;
    command.members = {a, b};
    return command;
  };
  CHECK(
      find({{pair(0, 1), pair(0, 2)}, {pair(0, 1), pair(1, 2)}, {pair(0, 2), pair(1, 2)}}).empty());
  CHECK(
      contains(find({{pair(0, 1), pair(0, 2)}, {pair(1, 2), pair(0, 1)}, {pair(0, 2), pair(1, 2)}}),
               "in a cycle"));
  // A rank whose commands are not known completes them.
  const Commands alone = {send(2, 8), sum(8)};
  const detail::RankCommands known{0, &alone};
  CHECK(detail::find_deadlock({&known, 1}).empty());
}

}  // namespace reprise::test

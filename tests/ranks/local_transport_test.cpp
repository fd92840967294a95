#include "collectives/local_transport.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "ranks/expected_collectives.hpp"
#include "support/contains.hpp"
#include "support/thrown_by.hpp"

namespace reprise::test {
namespace {

using detail::HostTransport;
using detail::make_local_transports;
using Transports = std::vector<std::unique_ptr<HostTransport>>;
using OperationPtr = std::unique_ptr<HostTransport::Operation>;

constexpr int kMaxPolls = 1'000'000;  // ends a test that would not end

// Polls all operations in turn on this thread.
bool complete(std::vector<OperationPtr>& operations) {
  for (int i = 0; i < kMaxPolls; ++i) {
    bool is_complete = true;
    for (const OperationPtr& operation : operations) {
      const bool is_done = operation->poll();
      is_complete = is_complete && is_done;
    }
    if (is_complete) return true;
  }
  return false;
}

void wait(HostTransport::Operation& operation) {
  while (!operation.poll()) std::this_thread::yield();
}

// Runs `work` for each rank on a thread of its own.
void on_threads(Transports& transports, const std::function<void(HostTransport&)>& work) {
  std::vector<std::thread> threads;
  for (const auto& transport : transports) threads.emplace_back([&] { work(*transport); });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

TEST_CASE("local transport: every collective gives what plain C++ gives, on one thread") {
  for (const std::uint32_t size : {1u, 2u, 3u, 4u}) {
    const Transports transports = make_local_transports(size);
    for (const CollectiveCase& c : all_cases(size, 37)) {
      for (const Placement placement : {Placement::Separate, Placement::InPlace}) {
        std::vector<RankCase> ranks;
        ranks.reserve(size);
        std::vector<OperationPtr> operations;
        for (std::uint32_t rank = 0; rank < size; ++rank) {
          ranks.emplace_back(c, rank, size, placement);
          operations.push_back(start(*transports[rank], ranks.back().call()));
        }
        INFO(name_of(c), " of ", size);
        REQUIRE(complete(operations));
        for (const RankCase& rank : ranks) CHECK(rank.is_as_expected());
      }
    }
  }
}

TEST_CASE("local transport: large collectives with a thread per rank, some of them in place") {
  for (const std::uint32_t size : {1u, 2u, 3u, 4u}) {
    Transports transports = make_local_transports(size);
    std::vector<CollectiveCase> cases;
    for (const CollectiveKind kind : kCollectives) {
      for (const std::uint64_t count : {0u, 1u, 100'003u})
        cases.push_back({kind, ElementType::F32, ReduceOperator::Average, size - 1, count});
      cases.push_back({kind, ElementType::BF16, ReduceOperator::Sum, 0, 70'001});
    }
    std::vector<std::vector<RankCase>> ranks(size);
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      for (const CollectiveCase& c : cases)
        ranks[rank].emplace_back(c, rank, size,
                                 rank % 2 == 0 ? Placement::InPlace : Placement::Separate);
    }
    on_threads(transports, [&](HostTransport& transport) {
      std::vector<OperationPtr> operations;
      for (const RankCase& rank : ranks[transport.rank()])
        operations.push_back(start(transport, rank.call()));
      for (const OperationPtr& operation : operations) wait(*operation);
    });
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      for (std::size_t i = 0; i < cases.size(); ++i) {
        INFO(name_of(cases[i]), " of ", size);
        CHECK(ranks[rank][i].is_as_expected());
      }
    }
  }
}

TEST_CASE("local transport: a reduction adds in the order of the ranks") {
  const Transports transports = make_local_transports(3);
  std::array<std::vector<float>, 3> values{{{1e8f}, {-1e8f}, {1.0f}}};
  std::vector<OperationPtr> operations;
  for (const std::uint32_t rank : {2u, 0u, 1u})
    operations.push_back(start(*transports[rank], sum_of(values[rank])));
  REQUIRE(complete(operations));
  for (const std::vector<float>& v : values) CHECK(v[0] == (1e8f + -1e8f) + 1.0f);

  values = {{{1.0f}, {1e8f}, {-1e8f}}};
  operations.clear();
  for (const std::uint32_t rank : {1u, 2u, 0u})
    operations.push_back(start(*transports[rank], sum_of(values[rank])));
  REQUIRE(complete(operations));
  for (const std::vector<float>& v : values) CHECK(v[0] == 0.0f);
}

TEST_CASE("local transport: integers wrap around, and Min and Max ignore a NaN and order zeros") {
  const Transports transports = make_local_transports(2);
  const auto reduce = [&]<class T>(ElementType type, ReduceOperator op, T a, T b) {
    T results[2] = {a, b};
    std::vector<OperationPtr> operations;
    for (std::uint32_t rank = 0; rank < 2; ++rank)
      operations.push_back(start(*transports[rank], {.type = type,
                                                     .reduce = op,
                                                     .count = 1,
                                                     .send = &results[rank],
                                                     .receive = &results[rank]}));
    REQUIRE(complete(operations));
    CHECK(std::memcmp(&results[0], &results[1], sizeof(T)) == 0);
    return results[0];
  };
  using Limits64 = std::numeric_limits<std::int64_t>;
  CHECK(reduce(ElementType::I8, ReduceOperator::Sum, std::int8_t{100}, std::int8_t{100}) == -56);
  CHECK(reduce(ElementType::U8, ReduceOperator::Product, std::uint8_t{200}, std::uint8_t{3}) == 88);
  CHECK(reduce(ElementType::I64, ReduceOperator::Sum, Limits64::max(), std::int64_t{1}) ==
        Limits64::min());
  CHECK(reduce(ElementType::U64, ReduceOperator::Max, ~std::uint64_t{0}, std::uint64_t{1}) ==
        ~std::uint64_t{0});
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(reduce(ElementType::F32, ReduceOperator::Min, nan, 2.0f) == 2.0f);
  CHECK(reduce(ElementType::F32, ReduceOperator::Max, 2.0f, nan) == 2.0f);
  CHECK(std::isnan(reduce(ElementType::F32, ReduceOperator::Max, nan, nan)));
  CHECK(std::signbit(reduce(ElementType::F64, ReduceOperator::Min, 0.0, -0.0)));
  CHECK_FALSE(std::signbit(reduce(ElementType::F64, ReduceOperator::Max, -0.0, 0.0)));
}

TEST_CASE("local transport: a group starts sends, receives and collectives together") {
  constexpr std::uint32_t kSize = 3;
  const Transports transports = make_local_transports(kSize);
  std::array<std::array<int, 2>, kSize> sent{}, received{};
  std::array<int, kSize> to_self{}, from_self{};
  std::array<std::vector<float>, kSize> sums;
  std::vector<OperationPtr> operations;
  for (std::uint32_t rank = 0; rank < kSize; ++rank) {
    const int base = static_cast<int>(rank) * 10;
    sent[rank] = {base, base + 1};
    to_self[rank] = base + 2;
    sums[rank].assign(5, 1.0f);
    const std::uint32_t next = (rank + 1) % kSize, previous = (rank + 2) % kSize;
    const CollectiveCall group[] = {send_to(next, {&sent[rank][0], 1}),
                                    sum_of(sums[rank]),
                                    send_to(rank, {&to_self[rank], 1}),
                                    send_to(next, {&sent[rank][1], 1}),
                                    receive_from(previous, {&received[rank][0], 1}),
                                    receive_from(rank, {&from_self[rank], 1}),
                                    receive_from(previous, {&received[rank][1], 1})};
    operations.push_back(transports[rank]->start(group));
  }
  REQUIRE(complete(operations));
  for (std::uint32_t rank = 0; rank < kSize; ++rank) {
    CHECK(received[rank] == sent[(rank + 2) % kSize]);
    CHECK(from_self[rank] == to_self[rank]);
    CHECK(sums[rank] == std::vector<float>(5, 3.0f));
  }
}

TEST_CASE("local transport: an operation waits for all ranks, and one rank's polls complete it") {
  const Transports transports = make_local_transports(2);
  std::vector<float> a(300'000, 1.0f), b(300'000, 2.0f);
  const OperationPtr first = start(*transports[0], sum_of(a));
  CHECK_FALSE(first->poll());
  CHECK(a[0] == 1.0f);
  const OperationPtr second = start(*transports[1], sum_of(b));
  int polls = 0;
  while (!first->poll() && polls < kMaxPolls) ++polls;
  CHECK(b.back() == 3.0f);
  CHECK(second->poll());
}

TEST_CASE("local transport: a send that waits does not hold up later collectives") {
  const Transports transports = make_local_transports(2);
  const int sent = 7;
  int received = 0;
  std::vector<float> a{1}, b{2};
  const OperationPtr send = start(*transports[0], send_to(1, {&sent, 1}));
  std::vector<OperationPtr> sums;
  sums.push_back(start(*transports[0], sum_of(a)));
  sums.push_back(start(*transports[1], sum_of(b)));
  CHECK(complete(sums));
  CHECK_FALSE(send->poll());
  const OperationPtr receive = start(*transports[1], receive_from(0, {&received, 1}));
  CHECK(receive->poll());
  CHECK(send->poll());
  CHECK(received == 7);
}

TEST_CASE("local transport: split makes transports of the ranks with one color, in their order") {
  Transports transports = make_local_transports(4);
  std::array<std::vector<float>, 4> values;
  on_threads(transports, [&](HostTransport& transport) {
    const std::uint32_t rank = transport.rank();
    const auto part = transport.split(rank % 2);
    const auto pair = part->split(0);
    values[rank].assign(1, static_cast<float>(rank));
    wait(*start(*pair, sum_of(values[rank])));
    values[rank].push_back(static_cast<float>(pair->rank()));
    values[rank].push_back(static_cast<float>(pair->size()));
  });
  CHECK(values[0] == std::vector<float>{2, 0, 2});
  CHECK(values[1] == std::vector<float>{4, 0, 2});
  CHECK(values[2] == std::vector<float>{2, 1, 2});
  CHECK(values[3] == std::vector<float>{4, 1, 2});
}

TEST_CASE("local transport: ranks that start different calls get RankMismatch with both") {
  std::vector<float> a(4), b(4);
  const auto mismatch = [&](const CollectiveCall& first, const CollectiveCall& second) {
    const Transports transports = make_local_transports(2);
    const OperationPtr operation = start(*transports[0], first);
    const Error error = thrown_by([&] { static_cast<void>(start(*transports[1], second)); });
    CHECK(error.code() == ErrorCode::RankMismatch);
    CHECK(code_of([&] { static_cast<void>(operation->poll()); }) == ErrorCode::RankMismatch);
    return std::string(error.what());
  };
  const CollectiveCall sum = sum_of(a);
  CollectiveCall other = sum_of(b);
  other.count = 3;
  const std::string text = mismatch(sum, other);
  CHECK(contains(text, "rank 0 all_reduce of 4 f32 (sum)"));
  CHECK(contains(text, "rank 1 all_reduce of 3 f32 (sum)"));
  other = sum_of(b);
  other.type = ElementType::U32;
  mismatch(sum, other);
  other = sum_of(b);
  other.reduce = ReduceOperator::Max;
  mismatch(sum, other);
  other.kind = CollectiveKind::AllToAll;
  other.count = 2;
  mismatch(sum, other);
  CollectiveCall from_0 = sum_of(a), from_1 = sum_of(b);
  from_0.kind = from_1.kind = CollectiveKind::Broadcast;
  from_1.peer = 1;
  CHECK(contains(mismatch(from_0, from_1), "rank 1 broadcast of 4 f32 from rank 1"));
  int sent[2] = {}, received[1] = {};
  CHECK(contains(mismatch(send_to(1, sent), receive_from(0, received)),
                 "rank 0 send of 2 i32 to rank 1, rank 1 receive of 1 i32 from rank 0"));
}

TEST_CASE("local transport: an invalid call starts nothing of its group") {
  const Transports transports = make_local_transports(2);
  std::vector<float> a{1}, b{2};
  const auto refused = [&](CollectiveCall call) {
    const CollectiveCall group[] = {sum_of(a), call};
    return code_of([&] { static_cast<void>(transports[0]->start(group)); });
  };
  const CollectiveCall sum = sum_of(a);
  CollectiveCall call = sum;
  call.type = ElementType::I32;
  call.reduce = ReduceOperator::Average;
  CHECK(refused(call) == ErrorCode::InvalidArgument);
  call = sum;
  call.kind = CollectiveKind::Broadcast;
  call.peer = 2;
  CHECK(refused(call) == ErrorCode::InvalidArgument);
  call = sum;
  call.send = nullptr;
  CHECK(refused(call) == ErrorCode::InvalidArgument);
  call = sum;
  call.count = std::uint64_t{1} << 62;
  CHECK(refused(call) == ErrorCode::InvalidArgument);

  std::vector<OperationPtr> operations;
  operations.push_back(start(*transports[0], sum_of(a)));
  operations.push_back(start(*transports[1], sum_of(b)));
  CHECK(complete(operations));
  CHECK(a[0] == 3.0f);
}

TEST_CASE(
    "local transport: kMaxLocalRanks ranks work, and a pair needs memory only while it waits") {
  constexpr std::uint32_t kRanks = detail::kMaxLocalRanks, kLast = kRanks - 1;
  const Transports transports = make_local_transports(kRanks);
  float sent = 3, received = 0;
  CollectiveCall send{.kind = CollectiveKind::Send, .peer = kLast, .count = 1, .send = &sent};
  CollectiveCall receive{.kind = CollectiveKind::Receive, .count = 1, .receive = &received};
  for (int round = 0; round < 3; ++round) {
    std::vector<OperationPtr> operations;
    operations.push_back(start(*transports[0], send));
    operations.push_back(start(*transports[kLast], receive));
    CHECK(complete(operations));
    CHECK(received == sent++);
  }
}

TEST_CASE("local transport: abort ends all operations, starts and splits with its first reason") {
  Transports transports = make_local_transports(3);
  std::vector<float> values(1);
  const OperationPtr operation = start(*transports[0], sum_of(values));
  std::thread waiting([&] {
    const Error error = thrown_by([&] { static_cast<void>(transports[1]->split(0)); });
    CHECK(error.code() == ErrorCode::RankLost);
  });
  transports[2]->abort("rank 2 failed");
  transports[1]->abort("later");
  waiting.join();
  const Error error = thrown_by([&] { static_cast<void>(operation->poll()); });
  CHECK(error.code() == ErrorCode::RankLost);
  CHECK(contains(error.what(), "rank 2 failed"));
  CHECK(code_of([&] { static_cast<void>(start(*transports[1], sum_of(values))); }) ==
        ErrorCode::RankLost);
}

TEST_CASE("local transport: an operation that waits for a rank that ended throws RankLost") {
  Transports transports = make_local_transports(2);
  std::vector<float> a{1}, b{2};
  const OperationPtr complete_later = start(*transports[0], sum_of(a));
  CHECK(start(*transports[1], sum_of(b))->poll());
  transports[1].reset();
  CHECK(complete_later->poll());
  const OperationPtr waiting = start(*transports[0], sum_of(a));
  const Error error = thrown_by([&] { static_cast<void>(waiting->poll()); });
  CHECK(error.code() == ErrorCode::RankLost);
  CHECK(contains(error.what(), "rank 1 ended"));
}

TEST_CASE("local transport: no rank accesses the buffers of an operation that was discarded") {
  for (int i = 0; i < 20; ++i) {
    Transports transports = make_local_transports(3);
    on_threads(transports, [&](HostTransport& transport) {
      auto values = std::make_unique<std::vector<float>>(200'000, 1.0f);
      OperationPtr operation;
      try {
        operation = start(transport, sum_of(*values));
        if (transport.rank() == 1) {
          static_cast<void>(operation->poll());
        } else {
          wait(*operation);
        }
      } catch (const Error& error) {
        CHECK(error.code() == ErrorCode::RankLost);
      }
      operation.reset();
      values.reset();
    });
  }
}

}  // namespace reprise::test

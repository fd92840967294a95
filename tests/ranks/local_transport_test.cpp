#include "collectives/local_transport.hpp"

#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "ranks/transport_cases.hpp"
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

TEST_CASE("local transport: the cases of every transport, with a thread per rank") {
  for (const std::uint32_t size : {1u, 2u, 3u, 4u}) {
    for (const TransportCase& c : kTransportCases) {
      Transports transports = make_local_transports(size);
      std::vector<std::vector<std::string>> faults(size);
      on_threads(transports, [&](HostTransport& transport) {
        TransportRank own(transport);
        c.run(own);
        faults[own.rank()] = own.faults();
      });
      INFO(c.name);
      for (const auto& of_rank : faults) CHECK(of_rank == std::vector<std::string>());
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

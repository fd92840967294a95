// Collectives as commands of graphs, with all ranks in this process.
#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <reprise/collectives.hpp>
#include <reprise/find_races.hpp>
#include <reprise/reprise.hpp>

#include "collectives/local_transport.hpp"
#include "ranks/local_ranks.hpp"
#include "ranks/mismatched_collectives.hpp"
#include "support/contains.hpp"
#include "support/thrown_by.hpp"

namespace reprise::test {

TEST_CASE("local ranks: an all_reduce between dispatches and copies, replayed") {
  for (const std::uint32_t count : {1u, 2u, 3u, 8u}) {
    Results results;
    check_all_succeed(count, [&](LocalRank& own) {
      const auto x = own.buffer(static_cast<int>(own.rank())), y = own.buffer(0), z = own.buffer(0);
      CapturedGraph graph = own.compile([&](CommandBuffer& cmd) {
        cmd.copy(x, y);
        cmd.add(all_reduce(own.world, y, y));
        cmd.copy(y, z);
        cmd.fill(y, -1);
      });
      for (int replay = 0; replay < 20; ++replay) {
        graph.launch(own.queue).wait();
        const std::vector<int> values = own.values(z);
        const int n = static_cast<int>(count), ranks = n * (n - 1) / 2;
        results.add(values[0] == ranks && values[99] == ranks + 99 * n);
      }
    });
    results.check(static_cast<int>(count) * 20);
  }
}

TEST_CASE("local ranks: in a host callback, no communicator is made or split") {
  std::vector<ErrorCode> codes;
  check_all_succeed(1, [&](LocalRank& own) {
    own.run([&](CommandBuffer& cmd) {
      cmd.host([&] {
        codes.push_back(
            code_of([&] { static_cast<void>(Communicator::from_environment(own.device)); }));
        codes.push_back(code_of([&] { static_cast<void>(own.world.split(0)); }));
      });
    });
  });
  CHECK(codes == std::vector(2, ErrorCode::InvalidState));
}

TEST_CASE("local ranks: every collective as a command") {
  Results results;
  check_all_succeed(3, [&](LocalRank& own) {
    const int rank = static_cast<int>(own.rank());
    const auto x = own.buffer(1000 * rank), max = own.buffer(0), root = own.buffer(1000 * rank),
               all = own.buffer(0, 3 * kCount), part = own.buffer(0),
               parts = own.buffer(rank, 3 * kCount), swapped = own.buffer(0, 3 * kCount),
               from = own.buffer(0);
    const std::uint32_t next = (own.rank() + 1) % 3, previous = (own.rank() + 2) % 3;
    own.run([&](CommandBuffer& cmd) {
      cmd.add(reduce(own.world, x, max, 1, ReduceOperator::Max));
      cmd.add(broadcast(own.world, root, 2));
      cmd.add(all_gather(own.world, x, all));
      cmd.add(reduce_scatter(own.world, parts, part));
      cmd.add(all_to_all(own.world, parts, swapped));
      const CollectiveOp exchange[] = {send(own.world, x, next),
                                       receive(own.world, from, previous)};
      cmd.add(CollectiveOp::group(exchange));
    });
    results.add(own.values(max)[5] == (rank == 1 ? 2005 : 5));
    results.add(own.values(root)[5] == 2005);
    const auto gathered = own.values(all);
    results.add(gathered[5] == 5 && gathered[105] == 1005 && gathered[205] == 2005);
    results.add(own.values(part)[5] == 3 * (rank * 100 + 5) + 3);
    const auto received = own.values(swapped);
    for (int other = 0; other < 3; ++other)
      results.add(received[static_cast<std::size_t>(other) * 100 + 5] == other + rank * 100 + 5);
    results.add(own.values(from)[5] == 1000 * static_cast<int>(previous) + 5);
  });
  results.check(3 * 8);
}

TEST_CASE("local ranks: collectives run in the recorded order beside independent work") {
  Results results;
  check_all_succeed(2, [&](LocalRank& own) {
    std::vector<GpuRef<int>> buffers;
    for (int i = 0; i < 6; ++i) buffers.push_back(own.buffer(i));
    CapturedGraph graph = own.compile([&](CommandBuffer& cmd) {
      for (const auto& buffer : buffers) cmd.add(all_reduce(own.world, buffer, buffer));
      for (int i = 0; i < 40; ++i) cmd.fill(own.pool->allocate<int>(1000), i);
    });
    // A chain orders the collectives, and nothing else.
    results.add(graph.report().needed_edges == 5);
    for (int replay = 0; replay < 5; ++replay) graph.launch(own.queue).wait();
    for (int i = 0; i < 6; ++i)
      results.add(own.values(buffers[static_cast<std::size_t>(i)])[0] == i << 5);
  });
  results.check(2 * 7);
}

TEST_CASE("local ranks: graphs with collectives on several queues do not overlap") {
  Results results;
  check_all_succeed(2, [&](LocalRank& own) {
    const Queue other = own.device.create_queue();
    const auto x = own.buffer(1), y = own.buffer(1);
    CapturedGraph first =
        own.compile([&](CommandBuffer& cmd) { cmd.add(all_reduce(own.world, x, x)); }, "first");
    CapturedGraph second =
        own.compile([&](CommandBuffer& cmd) { cmd.add(all_reduce(own.world, y, y)); }, "second");
    for (int replay = 0; replay < 10; ++replay) {
      static_cast<void>(first.launch(own.queue));
      static_cast<void>(second.launch(other));
    }
    own.queue.wait_idle();
    other.wait_idle();
    results.add(own.values(x)[0] == 1 << 10);
    results.add(own.values(y)[0] == 1 << 10);
  });
  results.check(4);
}

TEST_CASE("local ranks: a loop with an all_reduce ends on all ranks") {
  Results results;
  check_all_succeed(2, [&](LocalRank& own) {
    const auto x = own.buffer(1);
    CommandBuffer body =
        own.device.create_command_buffer({.label = "body", .level = Level::Secondary});
    body.begin();
    body.add(all_reduce(own.world, x, x));
    body.end();
    const Condition go = own.device.create_condition({.name = "go", .initial = 1});
    own.run([&](CommandBuffer& cmd) { cmd.execute_while(go, body, {.max_iterations = 7}); });
    results.add(own.values(x)[0] == 1 << 7);
  });
  results.check(2);
}

TEST_CASE("local ranks: a split communicates within its color") {
  Results results;
  check_all_succeed(4, [&](LocalRank& own) {
    const Communicator pair = own.world.split(own.rank() % 2);
    results.add(pair.size() == 2 && pair.rank() == own.rank() / 2);
    const auto x = own.buffer(static_cast<int>(own.rank())), y = own.buffer(1);
    CapturedGraph graph = own.compile([&](CommandBuffer& cmd) {
      cmd.add(all_reduce(pair, x, x));
      cmd.add(all_reduce(own.world, y, y));
    });
    graph.launch(own.queue).wait();
    results.add(own.values(x)[0] == (own.rank() % 2 == 0 ? 2 : 4));
    results.add(own.values(y)[0] == 4);
  });
  results.check(4 * 3);
}

TEST_CASE("local ranks: different collectives are refused, and both commands are named") {
  for (const MismatchCase& one : mismatch_cases()) {
    CAPTURE(one.name);
    const auto failed = on_ranks(2, [&](LocalRank& own) {
      const auto x = own.pool->allocate<int>(kMismatchedElements, "x");
      static_cast<void>(own.compile([&](CommandBuffer& cmd) {
        cmd.begin_label("gradients");
        one.record(cmd, own.world, x, own.rank() == 1);
        cmd.end_label();
      }));
    });
    REQUIRE(failed.size() == 2);
    for (const auto& [rank, failure] : failed) {
      INFO(failure.text);
      CHECK(failure.code == ErrorCode::RankMismatch);
      CHECK(contains(failure.text, "\"gradients\", mismatched_collectives.hpp:"));
      for (const std::string& part : one.expected) CHECK(contains(failure.text, part));
    }
  }
}

TEST_CASE("local ranks: another launch order is found by the next compile") {
  const auto failed = on_ranks(2, [&](LocalRank& own) {
    const auto x = own.buffer(1);
    const auto sum = [&](CommandBuffer& cmd) { cmd.add(all_reduce(own.world, x, x)); };
    const auto sums = [&](CommandBuffer& cmd) {
      cmd.add(all_reduce(own.world, x, x));
      cmd.add(all_reduce(own.world, x, x));
    };
    CapturedGraph one = own.compile(sum, "one"), two = own.compile(sums, "two");
    static_cast<void>(one.launch(own.queue));
    static_cast<void>(two.launch(own.queue));
    // The number of collectives is the same, so this rank does not hang.
    static_cast<void>((own.rank() == 0 ? one : two).launch(own.queue));
    static_cast<void>((own.rank() == 0 ? two : one).launch(own.queue));
    own.queue.wait_idle();
    static_cast<void>(own.compile(sum, "three"));
  });
  REQUIRE(failed.size() == 2);
  for (const auto& [rank, failure] : failed) {
    CHECK(failure.code == ErrorCode::RankMismatch);
    CHECK(contains(failure.text, "launch 3 of graphs with collectives of ranks"));
    CHECK(contains(failure.text, "rank 0 launched graph one"));
    CHECK(contains(failure.text, "rank 1 launched graph two"));
  }
}

TEST_CASE("local ranks: update compares the collectives as compile does") {
  const auto failed = on_ranks(2, [&](LocalRank& own) {
    const auto x = own.buffer(1);
    CapturedGraph graph =
        own.compile([&](CommandBuffer& cmd) { cmd.add(all_reduce(own.world, x, x)); });
    static_cast<void>(graph.update(own.record([&](CommandBuffer& cmd) {
      cmd.add(
          all_reduce(own.world, x, x, own.rank() == 0 ? ReduceOperator::Max : ReduceOperator::Min));
    })));
  });
  REQUIRE(failed.size() == 2);
  CHECK(failed.at(0).code == ErrorCode::RankMismatch);
  CHECK(contains(failed.at(1).text, "(max)"));
}

namespace {

// Throws `expected` on rank 1, for lack of memory for `large` in a pool of `budget` bytes. Slabs of
// this size are not trimmed.
void check_refused_on_all(
    std::uint64_t budget, ErrorCode expected,
    const std::function<void(LocalRank&, const CommandBuffer&, CompileDesc)>& make) {
  std::mutex mutex;
  std::map<std::uint32_t, Failure> refusals;
  Results results;
  check_all_succeed(3, [&](LocalRank& own) {
    const auto x = own.pool->allocate<int>(1, "x", PerReplica{2});
    own.run([&](CommandBuffer& cmd) { cmd.fill(x, 1); });
    const Communicator low = own.world.split(own.rank() < 2 ? 0 : 1);
    const auto pool =
        own.device.create_pool({.label = "own", .budget = own.rank() == 1 ? budget : 64u << 20});
    const auto large = pool->transient<char>(1 << 13, "large");
    const CommandBuffer step = own.record([&](CommandBuffer& cmd) {
      cmd.fill(large, char{1});
      cmd.add(all_reduce(low, x, x));
      cmd.add(all_reduce(own.world, x, x));
    });
    try {
      make(own, step, {.pool = pool});
    } catch (const Error& error) {
      const std::lock_guard lock(mutex);
      refusals[own.rank()] = {error.code(), error.what()};
    }
    // The job goes on.
    own.run([&](CommandBuffer& cmd) { cmd.add(all_reduce(own.world, x, x)); });
    results.add(own.values(x)[0] == 3 && !own.world.is_lost());
  });
  results.check(3);
  REQUIRE(refusals.size() == 3);
  CHECK(refusals.at(1).code == expected);
  for (const std::uint32_t rank : {0U, 2U}) {
    INFO(refusals.at(rank).text);
    CHECK(refusals.at(rank).code == ErrorCode::RankLost);
    CHECK(contains(refusals.at(rank).text, "graph step: rank 1 cannot compile it: "));
    CHECK(contains(refusals.at(rank).text, refusals.at(1).text));
  }
}

}  // namespace

TEST_CASE("local ranks: a graph that one rank cannot make is refused on all") {
  for (const std::uint32_t replicas : {1u, 2u}) {
    check_refused_on_all(replicas == 1 ? 1u << 12 : 3u << 12, ErrorCode::SlabExhausted,
                         [&](LocalRank& own, const CommandBuffer& step, CompileDesc desc) {
                           desc.replicas = replicas;
                           static_cast<void>(own.device.compile(step, desc));
                         });
  }
}

TEST_CASE("local ranks: an update that fails on one rank throws on all") {
  for (const std::uint32_t replicas : {1u, 2u}) {
    check_refused_on_all(replicas == 1 ? 1u << 12 : 3u << 12,
                         replicas == 1 ? ErrorCode::SlabExhausted : ErrorCode::InvalidState,
                         [&](LocalRank& own, const CommandBuffer& step, CompileDesc desc) {
                           desc.replicas = replicas;
                           CapturedGraph graph =
                               own.device.compile(own.record([](CommandBuffer&) {}), desc);
                           static_cast<void>(graph.update(step));
                         });
  }
}

TEST_CASE("local ranks: all ranks replay the same replicas, one after another, on any queues") {
  Results results;
  check_all_succeed(2, [&](LocalRank& own) {
    const Queue other = own.device.create_queue();
    const auto x = own.pool->allocate<int>(kCount, "x", PerReplica{2});
    own.run([&](CommandBuffer& cmd) {
      cmd.fill(x, 1);
      cmd.fill(x.replica(1), 3);
    });
    // An update that adds the collectives restarts the selection with replica 0.
    CapturedGraph pair = own.device.compile(own.record([](CommandBuffer&) {}), {.replicas = 2});
    for (std::uint32_t replay = 0; replay < own.rank(); ++replay) pair.launch(own.queue).wait();
    static_cast<void>(
        pair.update(own.record([&](CommandBuffer& cmd) { cmd.add(all_reduce(own.world, x, x)); })));
    for (std::uint32_t replay = 0; replay < 10; ++replay) {
      const bool is_on_other = own.rank() == 0 && replay % 3 == 0;
      results.add(pair.launch(is_on_other ? other : own.queue).replica() == replay % 2);
    }
    own.device.wait_idle();
    results.add(own.values(x)[0] == 1 << 5);
    results.add(own.values(x.replica(1))[7] == 3 << 5);
  });
  results.check(2 * 12);
}

TEST_CASE("local ranks: a launch of another replica is found by the next compile") {
  const auto failed = on_ranks(2, [](LocalRank& own) {
    const auto x = own.pool->allocate<int>(kCount, "x", PerReplica{2});
    const CommandBuffer step =
        own.record([&](CommandBuffer& cmd) { cmd.add(all_reduce(own.world, x, x)); });
    CapturedGraph pair = own.device.compile(step, {.replicas = 2});
    pair.launch(own.queue, {.replica = own.rank()}).wait();
    static_cast<void>(own.device.compile(step));
  });
  REQUIRE(failed.size() == 2);
  for (const auto& [rank, failure] : failed) {
    CHECK(failure.code == ErrorCode::RankMismatch);
    CHECK(contains(failure.text, "launch 1 of graphs with collectives of ranks"));
    CHECK(contains(failure.text, "rank 0 launched graph step"));
    CHECK(contains(failure.text, "rank 1 launched replica 1 of graph step"));
  }
}

TEST_CASE("local ranks: find_races refuses collectives") {
  const auto failed = on_ranks(1, [](LocalRank& own) {
    const auto x = own.buffer(1);
    static_cast<void>(
        find_races(own.record([&](CommandBuffer& cmd) { cmd.add(all_reduce(own.world, x, x)); })));
  });
  REQUIRE(failed.size() == 1);
  CHECK(failed.at(0).code == ErrorCode::Unsupported);
  CHECK(contains(failed.at(0).text, "find_races cannot run command buffer step with command 0"));
}

TEST_CASE("local ranks: invalid communicators and collectives are refused") {
  const Instance instance;
  const Device device = instance.open_device(DeviceSelector::named("host"));
  const auto pool = device.create_pool();
  const auto x = pool->allocate<int>(100, "x"), y = pool->allocate<int>(50, "y");
  const Communicator world = detail::local_communicators(device, 1).front();
  const auto refusal = [](const std::function<CollectiveOp()>& make) {
    return thrown_by([&] { static_cast<void>(make()); });
  };
  CHECK(refusal([&] { return all_reduce(Communicator(), x, x); }).code() ==
        ErrorCode::NotInitialized);
  CHECK(refusal([&] { return all_reduce(world, x, GpuRef<int>()); }).code() ==
        ErrorCode::NotInitialized);
  CHECK(refusal([&] { return all_reduce(world, GpuRef<int>(), x); }).code() ==
        ErrorCode::InvalidArgument);
  const Error small = refusal([&] { return all_reduce(world, x, y); });
  CHECK(small.code() == ErrorCode::OutOfRange);
  CHECK(contains(small.what(), "needs 400 bytes of the receive buffer, and y has 200"));
  CHECK(refusal([&] { return broadcast(world, x, 1); }).code() == ErrorCode::InvalidArgument);
  CHECK(refusal([&] { return all_reduce(world, x, x, ReduceOperator::Average); }).code() ==
        ErrorCode::InvalidArgument);
  CHECK(refusal([&] { return all_reduce(world, x.slice(0, 50), x.slice(10, 50)); }).code() ==
        ErrorCode::Overlap);
  CHECK(refusal([&] { return CollectiveOp::group({}); }).code() == ErrorCode::InvalidArgument);
  CHECK(refusal([&] {
          return CollectiveOp(world, {.count = ~std::uint64_t{0} / 2, .send = x, .receive = x});
        }).code() == ErrorCode::OutOfRange);
  const Error unknown = refusal([&] {
    return CollectiveOp(
        world, {.type = static_cast<ElementType>(77), .count = 1, .send = x, .receive = x});
  });
  CHECK(unknown.code() == ErrorCode::InvalidArgument);
  CHECK(contains(unknown.what(), "CollectiveDesc::type is 77"));
  for (const CollectiveDesc& wrong :
       {CollectiveDesc{
            .kind = static_cast<CollectiveKind>(77), .count = 1, .send = x, .receive = x},
        CollectiveDesc{
            .reduce = static_cast<ReduceOperator>(77), .count = 1, .send = x, .receive = x}}) {
    const Error error = refusal([&] { return CollectiveOp(world, wrong); });
    CHECK(error.code() == ErrorCode::InvalidArgument);
    CHECK(contains(error.what(), " is 77, which is none of its enumerators"));
  }
  CHECK(refusal([&] { return all_reduce(world, x, x, static_cast<ReduceOperator>(77)); }).code() ==
        ErrorCode::InvalidArgument);
  for (const std::uint32_t ranks : {0u, detail::kMaxLocalRanks + 1, ~0u}) {
    const Error count =
        thrown_by([&] { static_cast<void>(detail::local_communicators(device, ranks)); });
    CHECK(count.code() == ErrorCode::InvalidArgument);
    CHECK(contains(count.what(), "the number of ranks is " + std::to_string(ranks)));
  }
  const Error limit = thrown_by([&] {
    static_cast<void>(
        detail::local_communicators(device, 1, {.stall_limit = std::chrono::milliseconds(999)}));
  });
  CHECK(limit.code() == ErrorCode::InvalidArgument);
  CHECK(contains(
      limit.what(),
      "local_communicators: a stall_limit of 999 ms is too short; the minimum is 1000 ms"));
  CHECK(thrown_by([&] { static_cast<void>(Communicator().rank()); }).code() ==
        ErrorCode::NotInitialized);
}

TEST_CASE("local ranks: a rank that ends makes the others fail instead of waiting") {
  const auto failed = on_ranks(3, [&](LocalRank& own) {
    const auto x = own.buffer(1);
    {
      CapturedGraph graph =
          own.compile([&](CommandBuffer& cmd) { cmd.add(all_reduce(own.world, x, x)); });
      if (own.rank() == 2) return;
      graph.launch(own.queue).wait();
    }
  });
  REQUIRE(failed.size() == 2);
  for (const auto& [rank, failure] : failed) CHECK(failure.code == ErrorCode::RankLost);
}

TEST_CASE("local ranks: a send to the own rank without its receive is refused on every rank") {
  for (const std::uint32_t count : {1U, 2U, 3U}) {
    const auto failed = on_ranks(count, [&](LocalRank& own) {
      const auto x = own.buffer(1);
      static_cast<void>(own.compile([&](CommandBuffer& cmd) {
        if (own.rank() == 0) cmd.add(send(own.world, x, 0));
        cmd.add(all_reduce(own.world, x, x));
      }));
    });
    REQUIRE(failed.size() == count);
    for (const auto& [rank, failure] : failed) {
      INFO(failure.text);
      CHECK(failure.code == ErrorCode::RankMismatch);
      CHECK(contains(failure.text, "does not receive from itself"));
    }
  }
}

TEST_CASE("local ranks: an exception on one rank ends the others") {
  const auto failed = on_ranks(3, [&](LocalRank& own) {
    const auto x = own.buffer(1);
    CapturedGraph graph =
        own.compile([&](CommandBuffer& cmd) { cmd.add(all_reduce(own.world, x, x)); });
    graph.launch(own.queue).wait();
    if (own.rank() == 1) static_cast<void>(Communicator().rank());  // throws
    graph.launch(own.queue).wait();
  });
  REQUIRE(failed.size() == 3);
  CHECK(failed.at(1).code == ErrorCode::NotInitialized);
  CHECK(failed.at(0).code == ErrorCode::RankLost);
  CHECK(failed.at(2).code == ErrorCode::RankLost);
}

TEST_CASE("local ranks: all ranks inspect together, in one pass") {
  constexpr std::uint32_t kRanks = 3;
  Results results;
  check_all_succeed(kRanks, [&](LocalRank& own) {
    const auto x = own.buffer(static_cast<int>(own.rank()));
    CapturedGraph graph = own.compile([&](CommandBuffer& cmd) {
      cmd.add(all_reduce(own.world, x, x));
      cmd.fill(x.slice(0, 1), -1);
      cmd.add(all_reduce(own.world, x, x));
    });
    graph.launch(own.queue).wait();
    const Inspection found = graph.inspect(own.queue, {.budget = 512});
    graph.launch(own.queue).wait();
    results.add(found.passes == 1 && found.commands.size() == 3);
    // Elements 1: 1 + 2 + 3, times 3 for the second, and again by the inspected ones.
    const InspectedRange& last = found.ranges.back();
    results.add(last.state == InspectedRange::State::NotRepeatable &&
                last.statistics.count == 4 * kCount);
    results.add(found.note.find("collectives") != std::string::npos);
    results.add(own.values(x)[1] == 6 * 3 * 9 * 9);
  });
  results.check(static_cast<int>(kRanks) * 4);
}

}  // namespace reprise::test

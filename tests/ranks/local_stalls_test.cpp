// When ranks that wait for others end the job, and when they do not.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <reprise/collectives.hpp>
#include <reprise/reprise.hpp>

#include "ranks/local_ranks.hpp"
#include "support/contains.hpp"

namespace reprise::test {

TEST_CASE("local ranks: a rank that launches nothing for too long ends the job by name") {
  const auto failed =
      on_ranks(2,
               [&](LocalRank& own) {
                 const auto x = own.buffer(1);
                 CommandBuffer cmd = own.record([&](CommandBuffer& to) {
                   const auto scope = to.label("gradients");
                   to.add(all_reduce(own.world, x, x));
                 });
                 CapturedGraph graph =
                     own.device.compile(cmd, {.lowering = Lowering::Auto.with_fault_markers()});
                 graph.launch(own.queue).wait();
                 if (own.rank() == 0) graph.launch(own.queue).wait();
                 // Rank 1 does something else until the job has ended.
                 while (own.rank() == 1) {
                   std::this_thread::sleep_for(std::chrono::milliseconds(20));
                   static_cast<void>(own.compile([&](CommandBuffer& to) { to.fill(x, 1); }));
                   if (own.world.is_lost()) graph.launch(own.queue).wait();
                 }
               },
               {.stall_limit = std::chrono::seconds(1)});
  REQUIRE(failed.size() == 2);
  for (const auto& [rank, failure] : failed) {
    INFO(failure.text);
    CHECK(failure.code == ErrorCode::RankLost);
    CHECK(contains(failure.text,
                   "rank 1 (this process) has not reported replay 2 of graph step for 1000 "
                   "ms, for which rank 0 waits"));
    CHECK(contains(failure.text, "command 0, op all_reduce, in \"gradients\""));
  }
}

TEST_CASE("local ranks: ranks may be idle for longer than the limit") {
  Results results;
  const auto failed =
      on_ranks(2,
               [&](LocalRank& own) {
                 const auto x = own.buffer(1);
                 CapturedGraph graph =
                     own.compile([&](CommandBuffer& cmd) { cmd.add(all_reduce(own.world, x, x)); });
                 for (int replay = 0; replay < 4; ++replay) {
                   graph.launch(own.queue).wait();
                   std::this_thread::sleep_for(std::chrono::milliseconds(1300));
                 }
                 results.add(!own.world.is_lost());
               },
               {.stall_limit = std::chrono::seconds(1)});
  CHECK(failed.empty());
  results.check(2);
}

TEST_CASE("local ranks: with many communicators, idle ranks are not taken for lost") {
  Results results;
  const auto failed = on_ranks(2,
                               [&](LocalRank& own) {
                                 const auto x = own.buffer(1);
                                 std::vector<Communicator> parts;
                                 std::vector<CapturedGraph> graphs;
                                 for (int i = 0; i < 300; ++i) {
                                   parts.push_back(own.world.split(0));
                                   graphs.push_back(own.compile([&](CommandBuffer& cmd) {
                                     cmd.add(all_reduce(parts.back(), x, x));
                                   }));
                                   graphs.back().launch(own.queue).wait();
                                 }
                                 std::this_thread::sleep_for(std::chrono::milliseconds(1500));
                                 graphs.back().launch(own.queue).wait();
                                 results.add(!own.world.is_lost());
                               },
                               {.stall_limit = std::chrono::seconds(1)});
  CHECK(failed.empty());
  results.check(2);
}

TEST_CASE("local ranks: a rank that drops a communicator may do so before the others") {
  Results results;
  const auto failed =
      on_ranks(2,
               [&](LocalRank& own) {
                 const auto x = own.buffer(1);
                 for (int i = 0; i < 3; ++i) {
                   const Communicator part = own.world.split(0);
                   CapturedGraph graph =
                       own.compile([&](CommandBuffer& cmd) { cmd.add(all_reduce(part, x, x)); });
                   graph.launch(own.queue).wait();
                   if (own.rank() == 0)
                     std::this_thread::sleep_for(std::chrono::milliseconds(1300));
                 }
                 results.add(!own.world.is_lost());
               },
               {.stall_limit = std::chrono::seconds(1)});
  CHECK(failed.empty());
  results.check(2);
}

TEST_CASE("local ranks: who waits in a communicator that another rank has dropped gets RankLost") {
  const auto failed = on_ranks(2, [&](LocalRank& own) {
    const auto x = own.buffer(1);
    const Communicator part = own.world.split(0);
    CapturedGraph graph = own.compile([&](CommandBuffer& cmd) { cmd.add(all_reduce(part, x, x)); });
    graph.launch(own.queue).wait();
    if (own.rank() == 0) graph.launch(own.queue).wait();
  });
  REQUIRE(failed.size() == 1);
  INFO(failed.at(0).text);
  CHECK(failed.at(0).code == ErrorCode::RankLost);
}

TEST_CASE("local ranks: a replay that waits for longer than the limit is reported, and goes on") {
  std::atomic<bool> is_released = false;
  std::mutex mutex;
  std::vector<std::string> reported;
  const auto failed = on_ranks(
      2,
      [&](LocalRank& own) {
        const auto x = own.buffer(1);
        CommandBuffer cmd = own.record([&](CommandBuffer& to) {
          const auto scope = to.label("long");
          to.host([&] {
            while (!is_released) std::this_thread::yield();
          });
          to.add(all_reduce(own.world, x, x));
        });
        CapturedGraph graph =
            own.device.compile(cmd, {.lowering = Lowering::Auto.with_fault_markers()});
        const Fence fence = graph.launch(own.queue);
        std::this_thread::sleep_for(std::chrono::milliseconds(2500));
        is_released = true;
        fence.wait();
        if (own.world.is_lost()) throw std::logic_error("the job has ended");
      },
      {.stall_limit = std::chrono::seconds(1)},
      [&](const Message& message) {
        const std::lock_guard lock(mutex);
        if (message.id == "replay-waits") reported.push_back(message.text);
      });
  CHECK(failed.empty());
  REQUIRE(reported.size() == 2);
  for (const std::string& text : reported) {
    CHECK(contains(text, "replay 1 of graph step has not completed 1000 ms after its launch"));
    CHECK(contains(text, "in \"long\""));
  }
}

TEST_CASE("local ranks: a rank that ends at once after its last replay does not end the job") {
  Results results;
  check_all_succeed(2, [&](LocalRank& own) {
    const auto x = own.buffer(1);
    CapturedGraph graph =
        own.compile([&](CommandBuffer& cmd) { cmd.add(all_reduce(own.world, x, x)); });
    graph.launch(own.queue).wait();
    if (own.rank() == 1) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    results.add(!own.world.is_lost());
  });
  results.check(1);
}

}  // namespace reprise::test

// When ranks that wait for others end the job, and when they do not.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <reprise/collectives.hpp>
#include <reprise/reprise.hpp>

#include "collectives/job_rank.hpp"
#include "collectives/rank_control.hpp"
#include "ranks/local_ranks.hpp"
#include "support/contains.hpp"

namespace reprise::test {
namespace {

// Rank 0 of two. The other is connected, has never reported a launch, and shows no sign of life.
class SilentPeer final : public detail::RankControl {
 public:
  explicit SilentPeer(std::chrono::milliseconds age) : age_(age) {}
  std::uint32_t rank() const noexcept override { return 0; }
  std::uint32_t size() const noexcept override { return 2; }
  std::vector<std::string> all_gather(std::uint64_t, std::span<const std::uint32_t> members,
                                      std::string message) override {
    return std::vector<std::string>(members.size(), message);
  }
  void end_group(std::uint64_t) noexcept override {}
  void report_progress(std::string) override {}
  std::size_t max_report_bytes() const noexcept override { return 4096; }
  std::vector<Progress> progress() const override {
    return {{{}, {}, true, "node0, pid 1"}, {{}, age_, true, "node1, pid 2"}};
  }
  void abort(std::string reason) noexcept override {
    const std::lock_guard lock(mutex_);
    if (reason_.empty()) reason_ = std::move(reason);
  }
  std::string abort_reason() const override {
    const std::lock_guard lock(mutex_);
    return reason_;
  }
  std::shared_ptr<const void> on_abort(std::function<void(const std::string&)>) override {
    return nullptr;
  }

 private:
  const std::chrono::nanoseconds age_;
  mutable std::mutex mutex_;
  std::string reason_;
};

}  // namespace

TEST_CASE("local ranks: a rank that falls silent before its first report ends the job by name") {
  const Instance instance;
  const Device device = instance.open_device(DeviceSelector::named("host"));
  const auto x = device.create_pool()->allocate<int>(1, "x");
  const std::vector<Communicator> worlds = detail::local_communicators(device, 2);
  const CollectiveOp op = all_reduce(worlds[0], x, x);
  const auto control = std::make_shared<SilentPeer>(std::chrono::milliseconds(1500));
  detail::JobRank rank(detail::CollectiveOrder::of(device), control, std::chrono::seconds(1));
  rank.compare("step", 1, std::vector<detail::RankAgreement::Collective>{{&op, "", {}}});
  rank.record_launch(1, 1, 0, nullptr);
  for (int i = 0; i < 500 && control->abort_reason().empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(control->abort_reason() ==
        "rank 1 (node1, pid 2) has not reported replay 1 of graph step for 1000 ms, and is silent, "
        "for which rank 0 waits");
}

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

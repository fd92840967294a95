#include "run/background_thread.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <utility>

using namespace reprise::detail;

namespace {

// So many steps, then it is over; says when it is dropped.
class CountedJob final : public BackgroundJob {
 public:
  CountedJob(std::uint32_t steps, std::atomic<std::uint32_t>& done, std::promise<void> dropped)
      : left_(steps), done_(done), dropped_(std::move(dropped)) {}
  ~CountedJob() override { dropped_.set_value(); }
  [[nodiscard]] Next step() noexcept override {
    ++done_;
    return --left_ == 0 ? Next::Over : Next::Again;
  }

 private:
  std::uint32_t left_;
  std::atomic<std::uint32_t>& done_;
  std::promise<void> dropped_;
};

// Its step drops the thread that runs it.
class DroppingJob final : public BackgroundJob {
 public:
  DroppingJob(std::unique_ptr<BackgroundThread>& thread, std::promise<void> dropped) : thread_(thread), dropped_(std::move(dropped)) {}
  ~DroppingJob() override { dropped_.set_value(); }
  [[nodiscard]] Next step() noexcept override {
    thread_.reset();
    return Next::Again;
  }

 private:
  std::unique_ptr<BackgroundThread>& thread_;
  std::promise<void> dropped_;
};

}  // namespace

TEST_CASE("background thread: jobs are done step by step, in turns, until each is over") {
  std::atomic<std::uint32_t> first{0}, second{0};
  std::promise<void> first_dropped, second_dropped;
  auto first_gone = first_dropped.get_future(), second_gone = second_dropped.get_future();
  BackgroundThread thread;
  thread.add(std::make_unique<CountedJob>(3, first, std::move(first_dropped)));
  thread.add(std::make_unique<CountedJob>(5, second, std::move(second_dropped)));
  first_gone.wait();
  second_gone.wait();
  CHECK(first == 3);
  CHECK(second == 5);
}

TEST_CASE("background thread: what is left when it goes is dropped, and without a job there is none") {
  std::atomic<std::uint32_t> steps{0};
  std::promise<void> dropped;
  auto gone = dropped.get_future();
  {
    const BackgroundThread idle;
    BackgroundThread thread;
    thread.add(std::make_unique<CountedJob>(~0u, steps, std::move(dropped)));
  }
  CHECK(gone.wait_for(std::chrono::seconds(60)) == std::future_status::ready);
}

TEST_CASE("background thread: a step may drop it") {
  std::promise<void> dropped;
  auto gone = dropped.get_future();
  auto thread = std::make_unique<BackgroundThread>();
  BackgroundThread& it = *thread;
  it.add(std::make_unique<DroppingJob>(thread, std::move(dropped)));
  CHECK(gone.wait_for(std::chrono::seconds(60)) == std::future_status::ready);
}

#include "collectives/host_progress.hpp"

#include <chrono>
#include <exception>
#include <utility>

#include "base/background_thread.hpp"
#include "base/failure.hpp"

namespace reprise::detail {
namespace {

// Polls without a pause for this long after the last progress, and then with pauses: other ranks
// may need the processor.
constexpr std::chrono::microseconds kBusy{100}, kPause{50};

}  // namespace

HostProgress::~HostProgress() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  submitted_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void HostProgress::submit(HostTransport& transport, std::span<const CollectiveCall> calls,
                          GraphRecordCtx::StepDone done) {
  {
    const std::lock_guard lock(mutex_);
    if (!thread_.joinable()) thread_ = start_background_thread("rp-collectives", [this] { run(); });
    queue_.push_back({&transport, calls, std::move(done)});
  }
  submitted_.notify_one();
}

bool HostProgress::advance(Work& work) noexcept {
  bool has_ended = false;
  std::exception_ptr error = exception_of([&] {
    if (!work.operation) work.operation = work.transport->start(work.calls);
    has_ended = work.operation->poll();
    if (has_ended) work.operation.reset();
  });
  if (!has_ended && !error) return false;
  work.done(std::move(error));
  return true;
}

void HostProgress::run() {
  using Clock = std::chrono::steady_clock;
  std::list<Work> active;
  Clock::time_point progressed = Clock::now();
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      if (active.empty()) submitted_.wait(lock, [this] { return stops_ || !queue_.empty(); });
      if (stops_ && active.empty()) return;
      for (; !queue_.empty(); queue_.pop_front()) {
        active.push_back(std::move(queue_.front()));
        progressed = Clock::now();
      }
    }
    for (auto work = active.begin(); work != active.end();) {
      if (!advance(*work)) {
        ++work;
        continue;
      }
      work = active.erase(work);
      progressed = Clock::now();
    }
    if (Clock::now() - progressed < kBusy) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(kPause);
    }
  }
}

}  // namespace reprise::detail

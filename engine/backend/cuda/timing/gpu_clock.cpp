#include "backend/cuda/timing/gpu_clock.hpp"

#include <atomic>
#include <cmath>
#include <thread>

#include "base/steady_clock.hpp"

namespace reprise::detail {
namespace {

constexpr unsigned kIterations = 32;
constexpr std::size_t kMailboxWords = kIterations + 1;
constexpr std::int64_t kFirstTimeout = 50'000'000,
                       kNextTimeout = 2'000'000;    // ns; time limits of the host
constexpr unsigned long long kTimeout = 5'000'000;  // ns; time limit of the kernel per iteration
constexpr std::int64_t kValidFor = 1'000'000'000;
constexpr double kMaxDrift = 1e-4;  // a rate further from 1 is a measurement error

}  // namespace

GpuClock::GpuClock(std::shared_ptr<const CudaContext> context,
                   std::shared_ptr<const Readback> readback, std::shared_ptr<const CudaKernel> echo)
    : context_(std::move(context)),
      readback_(std::move(readback)),
      echo_(std::move(echo)),
      mailbox_(context_, BufferKind::PinnedHost, kMailboxWords * sizeof(std::uint64_t),
               Stage::Profile, "for the clock") {}

std::optional<ClockPair> GpuClock::measure() {
  const SetupScope scope(*context_, Stage::Profile);
  const CallContext call = context_->at(Stage::Profile, "the GPU's clock");
  std::uint64_t* mailbox = mailbox_.words();
  for (std::size_t i = 0; i < kMailboxWords; ++i) std::atomic_ref(mailbox[i]).store(0);
  unsigned iterations = kIterations;
  unsigned long long timeout = kTimeout;
  void* parameters[] = {&mailbox, &iterations, &timeout};
  cuda_check(context_->driver.cuLaunchKernel(echo_->function(), 1, 1, 1, 1, 1, 1, 0,
                                             readback_->stream(), parameters, nullptr),
             "cuLaunchKernel", call);
  std::optional<ClockPair> best;
  for (unsigned iteration = 1; iteration <= kIterations; ++iteration) {
    const std::int64_t asked = steady_now();
    std::atomic_ref(mailbox[0]).store(iteration);
    const std::int64_t timeout_ns = iteration == 1 ? kFirstTimeout : kNextTimeout;
    std::uint64_t answer = 0;
    std::int64_t answered = asked;
    while ((answer = std::atomic_ref(mailbox[iteration]).load()) == 0 &&
           answered - asked < timeout_ns)
      answered = steady_now();
    if (answer == 0) break;
    answered = steady_now();
    const std::int64_t error = (answered - asked) / 2 + 1;
    // The first answer includes the kernel launch and is too inexact.
    if (iteration > 1 && (!best || error < best->error))
      best = ClockPair{asked + (answered - asked) / 2, static_cast<std::int64_t>(answer), error};
  }
  std::atomic_ref(mailbox[0]).store(kIterations);  // lets a late kernel exit at once
  readback_->wait();
  return best;
}

void GpuClock::align() {
  const std::unique_lock lock_measuring(measuring_, std::try_to_lock);
  if (!lock_measuring) return;
  {
    const std::lock_guard lock(mutex_);
    if (last_ && steady_now() - last_->host < kValidFor) return;
  }
  const std::optional<ClockPair> pair = measure();
  if (!pair) return;
  const std::lock_guard lock(mutex_);
  if (last_ && pair->other > last_->other) {
    const double rate = static_cast<double>(pair->host - last_->host) /
                        static_cast<double>(pair->other - last_->other);
    rate_ = std::abs(rate - 1) < kMaxDrift ? rate : 1;
  }
  last_ = pair;
}

std::optional<ClockPair> GpuClock::pair() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

std::int64_t GpuClock::to_host(std::uint64_t device_time) const {
  const std::lock_guard lock(mutex_);
  if (device_time == 0 || !last_) return 0;
  const std::int64_t since = static_cast<std::int64_t>(device_time) - last_->other;
  return last_->host + static_cast<std::int64_t>(static_cast<double>(since) * rate_);
}

}  // namespace reprise::detail

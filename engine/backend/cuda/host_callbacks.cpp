#include "backend/cuda/host_callbacks.hpp"

#include <new>

#include "base/steady_clock.hpp"

namespace reprise::detail {

HostCallbacks::HostCallbacks() : set_(std::make_shared<Set>(0)) {}

std::shared_ptr<HostCallbacks::Set> HostCallbacks::begin_set(std::uint64_t replays) {
  return std::exchange(set_, std::make_shared<Set>(replays));
}

HostCallbacks::Call* HostCallbacks::add(const std::function<void()>& function,
                                        std::uint32_t command) {
  Call*& call = set_->call_of_[command];
  if (call == nullptr) {
    call = &set_->calls_.emplace_back();
    call->owner = this;
    call->function = &function;
    call->command = command;
    call->count = set_->replays_;
  }
  has_calls_.store(true, std::memory_order_release);
  return call;
}

std::shared_ptr<const HostTimes> HostCallbacks::time(std::uint32_t command) {
  Call& call = *set_->call_of_.at(command);
  if (!call.owned_times) {
    call.owned_times = std::make_shared<HostTimes>();
    call.times.store(call.owned_times.get(), std::memory_order_release);
  }
  return call.owned_times;
}

void HostCallbacks::run(void* call) noexcept {
  auto& self = *static_cast<Call*>(call);
  const std::uint64_t replay = ++self.count;
  HostTimes* const times = self.times.load(std::memory_order_acquire);
  const std::int64_t started = times == nullptr ? 0 : steady_now();
  self.owner->run_function(self, replay);
  if (times != nullptr) times->record(replay, {started, steady_now()});
}

void HostCallbacks::run_function(const Call& self, std::uint64_t replay) noexcept {
  try {
    (*self.function)();
  } catch (...) {
    record_error(replay, self.command, std::current_exception());
  }
}

void HostCallbacks::record_error(std::uint64_t replay, std::uint32_t command,
                                 std::exception_ptr error) noexcept {
  const std::lock_guard lock(mutex_);
  try {
    const auto [at, first] = thrown_.try_emplace(replay, Thrown{command, error});
    if (!first && command < at->second.command) at->second = {command, std::move(error)};
  } catch (...) {
    if (first_dropped_ == 0) first_dropped_ = replay;
  }
}

std::exception_ptr HostCallbacks::error(std::uint64_t replay) const {
  if (!has_calls_.load(std::memory_order_acquire)) return nullptr;
  const std::lock_guard lock(mutex_);
  if (const auto found = thrown_.find(replay); found != thrown_.end()) return found->second.error;
  return first_dropped_ == replay && replay != 0 ? std::make_exception_ptr(std::bad_alloc())
                                                 : nullptr;
}

}  // namespace reprise::detail

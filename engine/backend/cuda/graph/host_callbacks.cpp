#include "backend/cuda/graph/host_callbacks.hpp"

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
  self.owner->errors_.run(*self.function, replay, self.command);
  if (times != nullptr) times->record(replay, {started, steady_now()});
}

}  // namespace reprise::detail

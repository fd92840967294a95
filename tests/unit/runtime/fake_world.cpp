#include <algorithm>
#include <utility>

#include "unit/runtime/fake_device.hpp"

namespace reprise::test {

FakeWorld::FakeWorld() {
  events_.reserve(kMaxEvents);
  freed_.reserve(kMaxEvents);
}

void FakeWorld::may_fail(std::string_view call, Stage stage) {
  if (calls_++ != failing_) return;
  failed_ = call;
  ErrorDetails details;
  details.code = ErrorCode::NativeFailure;
  details.stage = stage;
  details.native_call = call;
  throw Error(std::move(details), "the fake device fails " + std::string(call));
}

void FakeWorld::record(const Event& event) {
  if (events_.size() < kMaxEvents) events_.push_back(event);
}

void FakeWorld::record_freed(const char* kind) {
  if (freed_.size() < kMaxEvents) freed_.emplace_back(kind);
}

void FakeWorld::set_completion(Completion completion) {
  std::lock_guard lock(mutex_);
  completion_ = completion;
}

void FakeWorld::complete(std::string_view label, std::uint64_t serial) {
  std::lock_guard lock(mutex_);
  for (FakeQueue* queue : queues_) {
    if (queue->label() == label)
      queue->completed = std::max(queue->completed, std::min(serial, queue->last));
  }
  changed_.notify_all();
}

void FakeWorld::complete_all() {
  std::lock_guard lock(mutex_);
  for (FakeQueue* queue : queues_) queue->completed = queue->last;
  changed_.notify_all();
}

void FakeWorld::fail_call(std::uint64_t n) {
  std::lock_guard lock(mutex_);
  calls_ = 0;
  failing_ = n;
  failed_.clear();
}

void FakeWorld::fail_nothing() { fail_call(~std::uint64_t{0}); }

void FakeWorld::limit_bytes(std::uint64_t bytes) {
  std::lock_guard lock(mutex_);
  limit_ = bytes;
}

void FakeWorld::set_time_of(std::function<double(const Plan&)> time_of) {
  std::lock_guard lock(mutex_);
  time_of_ = std::move(time_of);
}

std::uint64_t FakeWorld::calls() const {
  std::lock_guard lock(mutex_);
  return calls_;
}
std::string FakeWorld::failed_call() const {
  std::lock_guard lock(mutex_);
  return failed_;
}
std::size_t FakeWorld::memory_blocks() const {
  std::lock_guard lock(mutex_);
  return memory_.size();
}
std::uint64_t FakeWorld::memory_bytes() const {
  std::lock_guard lock(mutex_);
  return bytes_;
}
std::size_t FakeWorld::execs() const {
  std::lock_guard lock(mutex_);
  return execs_.size();
}
std::size_t FakeWorld::queues() const {
  std::lock_guard lock(mutex_);
  return queues_.size();
}
std::size_t FakeWorld::backends() const {
  std::lock_guard lock(mutex_);
  return backends_;
}
std::size_t FakeWorld::kernel_loads() const {
  std::lock_guard lock(mutex_);
  return kernel_loads_;
}
std::vector<FakeWorld::Event> FakeWorld::events() const {
  std::lock_guard lock(mutex_);
  return events_;
}
std::vector<FakeWorld::Event> FakeWorld::waits() const {
  auto all = events();
  std::erase_if(all, [](const Event& event) { return event.kind != Event::Kind::Wait; });
  return all;
}
std::vector<std::string> FakeWorld::freed() const {
  std::lock_guard lock(mutex_);
  return freed_;
}
std::vector<std::string> FakeWorld::violations() const {
  std::lock_guard lock(mutex_);
  return violations_;
}
void FakeWorld::clear_events() {
  std::lock_guard lock(mutex_);
  events_.clear();
  freed_.clear();
}
void FakeWorld::wait_until_empty() {
  std::unique_lock lock(mutex_);
  changed_.wait(
      lock, [&] { return backends_ == 0 && memory_.empty() && execs_.empty() && queues_.empty(); });
}
void FakeWorld::wait_until_execs(std::size_t count) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return execs_.size() == count; });
}
void FakeWorld::wait_until_a_thread_waits() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return waiting_ != 0; });
}

}  // namespace reprise::test

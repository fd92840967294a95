#include "backend/host/host_work_queue.hpp"

#include <algorithm>
#include <limits>
#include <system_error>
#include <utility>

#include "backend/host/host_exec.hpp"
#include "backend/host/process_exit.hpp"
#include "base/background_thread.hpp"
#include "base/failure.hpp"
#include "base/text.hpp"

namespace reprise::detail {

namespace {

constexpr std::size_t kInitialCapacity = 64;
constexpr std::uint64_t kAllSerials = std::numeric_limits<std::uint64_t>::max();

// A launch does not wake a napping worker. After this many naps without a launch the worker sleeps
// until it is notified.
constexpr std::chrono::microseconds kNap{100};
constexpr std::uint32_t kMaxNaps = 20;

}  // namespace

HostWorkQueue::HostWorkQueue(std::string_view label, const DeviceGeneration& generation,
                             std::uint32_t threads)
    : label_(label), generation_(generation), workers_(threads), ring_(kInitialCapacity) {
  add_to_process(*this);
}

HostWorkQueue::~HostWorkQueue() {
  close();
  remove_from_process(*this);
}

std::uint64_t HostWorkQueue::submit(HostExec& exec, std::uint64_t replay) {
  std::lock_guard lock(mutex_);
  require_alive(Stage::Launch);
  start_worker();
  const std::uint64_t serial = last_serial_.load(std::memory_order_relaxed) + 1;
  push({.serial = serial, .exec = &exec, .replay = replay});
  last_serial_.store(serial, std::memory_order_release);
  if (!is_running_) wake_worker(Priority::Launch);
  return serial;
}

std::uint64_t HostWorkQueue::mark() {
  std::lock_guard lock(mutex_);
  require_alive(Stage::Launch);
  const std::uint64_t serial = last_serial_.load(std::memory_order_relaxed) + 1;
  if (count_ == 0 && !is_running_) {
    completed_.store(serial, std::memory_order_release);
  } else {
    push({.serial = serial});
  }
  last_serial_.store(serial, std::memory_order_release);
  return serial;
}

std::uint64_t HostWorkQueue::submit_write(std::byte* destination,
                                          std::span<const std::byte> bytes) {
  std::lock_guard lock(mutex_);
  require_alive(Stage::Launch);
  start_worker();
  const std::uint64_t serial = last_serial_.load(std::memory_order_relaxed) + 1;
  Entry entry{.serial = serial};
  entry.write.destination = destination;
  entry.write.size = static_cast<std::uint32_t>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), entry.write.bytes.begin());
  push(std::move(entry));
  last_serial_.store(serial, std::memory_order_release);
  if (!is_running_) wake_worker(Priority::Launch);
  return serial;
}

void HostWorkQueue::submit_wait(const std::shared_ptr<HostWorkQueue>& other, std::uint64_t serial) {
  if (other.get() == this || other->reached(serial)) return;
  std::lock_guard lock(mutex_);
  require_alive(Stage::Launch);
  start_worker();
  push({.other = other, .other_serial = serial});
}

bool HostWorkQueue::done(std::uint64_t serial) {
  if (reached(serial)) return true;
  std::lock_guard lock(mutex_);
  if (reached(serial)) return true;
  require_alive(Stage::Wait);
  if (!is_running_) wake_worker(Priority::Wait);
  return false;
}

bool HostWorkQueue::wait(std::uint64_t serial, Timeout timeout, Runner runner) {
  if (reached(serial)) return true;
  constexpr auto kNoDeadline = std::chrono::steady_clock::time_point::max();
  auto deadline = kNoDeadline;
  if (timeout) {
    const auto now = std::chrono::steady_clock::now();
    if (*timeout < kNoDeadline - now) deadline = now + *timeout;
  }
  Lock lock(mutex_);
  for (;;) {
    if (reached(serial)) return true;
    require_alive(Stage::Wait);
    if (!timeout && may_run_next(runner)) {
      run_entries(lock, serial, runner);
      continue;
    }
    if (!is_running_) wake_worker(Priority::Wait);
    if (timeout && std::chrono::steady_clock::now() >= deadline) return false;
    ++waiting_;
    if (deadline == kNoDeadline) {
      changed_.wait(lock);
    } else {
      changed_.wait_until(lock, deadline);
    }
    --waiting_;
  }
}

void HostWorkQueue::push(Entry entry) {
  if (count_ == ring_.size()) {
    std::vector<Entry> larger(ring_.size() * 2);
    for (std::size_t i = 0; i < count_; ++i)
      larger[i] = std::move(ring_[(head_ + i) & (ring_.size() - 1)]);
    ring_ = std::move(larger);
    head_ = 0;
  }
  ring_[(head_ + count_) & (ring_.size() - 1)] = std::move(entry);
  ++count_;
}

HostWorkQueue::Entry HostWorkQueue::pop() {
  Entry entry = std::move(ring_[head_]);
  head_ = (head_ + 1) & (ring_.size() - 1);
  --count_;
  return entry;
}

bool HostWorkQueue::may_run_next(Runner runner) const {
  if (is_running_ || count_ == 0 || is_stopped_) return false;
  const HostExec* exec = ring_[head_].exec;
  return runner == Runner::DeviceThread || exec == nullptr || !exec->has_callbacks();
}

void HostWorkQueue::run_entries(Lock& lock, std::uint64_t serial, Runner runner) {
  while (may_run_next(runner) && !reached(serial)) {
    Entry entry = pop();
    is_running_ = true;
    running_ = entry.exec;
    lock.unlock();
    run(entry, runner);
    entry.other.reset();  // may be the last reference to that queue
    lock.lock();
    running_ = nullptr;
    is_running_ = false;
    if (entry.serial != 0 && !generation_.is_lost())
      completed_.store(entry.serial, std::memory_order_release);
    if (waiting_ != 0) changed_.notify_all();
  }
  if (count_ != 0) wake_worker(Priority::Wait);
}

void HostWorkQueue::run(const Entry& entry, Runner runner) noexcept {
  if (entry.exec != nullptr) {
    entry.exec->run(workers_, entry.replay);
  } else if (entry.write.size != 0) {
    std::copy_n(entry.write.bytes.begin(), entry.write.size, entry.write.destination);
  } else if (entry.other) {
    try {
      static_cast<void>(entry.other->wait(entry.other_serial, std::nullopt, runner));
    } catch (...) {
      // The device is lost, and this queue with it. Its own waiters receive the error.
    }
  }
}

void HostWorkQueue::start_worker() {
  if (worker_state_ != Worker::NotStarted) return;
  try {
    worker_ = start_background_thread("reprise-host", [this] { worker_main(); });
  } catch (const std::system_error& error) {
    fail(ErrorCode::OutOfMemory, Stage::Launch, label_,
         concat("no thread could be started for queue ", label_, ": ", error.what()));
  }
  prepare_process_exit();
  worker_state_ = Worker::Awake;
}

void HostWorkQueue::wake_worker(Priority priority) {
  switch (worker_state_) {
    case Worker::NotStarted: return;  // the queue never had an entry
    case Worker::Napping:
      if (priority == Priority::Launch) return;
      break;
    case Worker::Asleep: break;
    case Worker::Awake: return;
  }
  worker_state_ = Worker::Awake;
  work_.notify_one();
}

void HostWorkQueue::worker_main() {
  Lock lock(mutex_);
  std::uint32_t naps = 0;
  std::uint64_t last_seen = 0;
  while (!closed_) {
    if (may_run_next(Runner::DeviceThread)) {
      run_entries(lock, kAllSerials, Runner::DeviceThread);
      naps = 0;
      continue;
    }
    if (const std::uint64_t last = last_serial(); last != last_seen) {
      last_seen = last;
      naps = 0;
    }
    if (naps < kMaxNaps) {
      ++naps;
      worker_state_ = Worker::Napping;
      work_.wait_for(lock, kNap);
    } else {
      naps = 0;
      worker_state_ = Worker::Asleep;
      work_.wait(lock);
    }
    worker_state_ = Worker::Awake;
  }
}

void HostWorkQueue::abandon() {
  std::vector<Entry> dropped(kInitialCapacity);  // freed without the lock
  std::lock_guard lock(mutex_);
  ring_.swap(dropped);
  head_ = count_ = 0;
  changed_.notify_all();
}

void HostWorkQueue::wait_until_idle() {
  Lock lock(mutex_);
  ++waiting_;
  changed_.wait(lock, [this] { return !is_running_; });
  --waiting_;
}

void HostWorkQueue::wait_until_not_running(const HostExec& exec) {
  Lock lock(mutex_);
  ++waiting_;
  changed_.wait(lock, [&] { return running_ != &exec; });
  --waiting_;
}

bool HostWorkQueue::stop() {
  const std::lock_guard lock(mutex_);
  is_stopped_ = true;
  return is_running_;
}

void HostWorkQueue::close() {
  {
    Lock lock(mutex_);
    closed_ = true;
    work_.notify_one();
    ++waiting_;
    changed_.wait(lock, [this] { return !is_running_; });
    --waiting_;
  }
  if (worker_.joinable()) worker_.join();
}

}  // namespace reprise::detail

#include "backend/host/host_work_queue.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "backend/host/host_exec.hpp"

namespace reprise::detail {

namespace {

constexpr std::size_t kUsualDepth = 64;
constexpr std::uint64_t kEverything = std::numeric_limits<std::uint64_t>::max();

// A launch does not wake a napping worker. After this many naps without a launch the worker sleeps
// until it is notified.
constexpr std::chrono::microseconds kNap{100};
constexpr std::uint32_t kNaps = 20;

}  // namespace

HostWorkQueue::HostWorkQueue(std::string_view label, const DeviceGeneration& generation,
                             std::uint32_t threads)
    : label_(label), generation_(generation), workers_(threads), ring_(kUsualDepth) {}

HostWorkQueue::~HostWorkQueue() { close(); }

std::uint64_t HostWorkQueue::submit(HostExec& exec, std::uint64_t replay) {
  std::lock_guard lock(mutex_);
  require_alive(Stage::Launch);
  const std::uint64_t serial = last_serial_.load(std::memory_order_relaxed) + 1;
  push({.serial = serial, .exec = &exec, .replay = replay});
  last_serial_.store(serial, std::memory_order_release);
  if (!driven_) call_worker(Priority::Launch);
  return serial;
}

std::uint64_t HostWorkQueue::mark() {
  std::lock_guard lock(mutex_);
  require_alive(Stage::Launch);
  const std::uint64_t serial = last_serial_.load(std::memory_order_relaxed) + 1;
  if (count_ == 0 && !driven_) {
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
  const std::uint64_t serial = last_serial_.load(std::memory_order_relaxed) + 1;
  Entry entry{.serial = serial};
  entry.write.destination = destination;
  entry.write.size = static_cast<std::uint32_t>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), entry.write.bytes.begin());
  push(std::move(entry));
  last_serial_.store(serial, std::memory_order_release);
  if (!driven_) call_worker(Priority::Launch);
  return serial;
}

void HostWorkQueue::submit_wait(const std::shared_ptr<HostWorkQueue>& other, std::uint64_t serial) {
  if (other.get() == this || other->reached(serial)) return;
  std::lock_guard lock(mutex_);
  require_alive(Stage::Launch);
  push({.other = other, .other_serial = serial});
}

bool HostWorkQueue::done(std::uint64_t serial) {
  if (reached(serial)) return true;
  std::lock_guard lock(mutex_);
  if (reached(serial)) return true;
  require_alive(Stage::Wait);
  if (!driven_) call_worker(Priority::Wait);
  return false;
}

bool HostWorkQueue::wait(std::uint64_t serial, Timeout timeout, Runner runner) {
  if (reached(serial)) return true;
  constexpr auto kForEver = std::chrono::steady_clock::time_point::max();
  auto deadline = kForEver;
  if (timeout) {
    const auto now = std::chrono::steady_clock::now();
    if (*timeout < kForEver - now) deadline = now + *timeout;
  }
  Lock lock(mutex_);
  for (;;) {
    if (reached(serial)) return true;
    require_alive(Stage::Wait);
    if (!timeout && may_run_next(runner)) {
      drive(lock, serial, runner);
      continue;
    }
    if (!driven_) call_worker(Priority::Wait);
    if (timeout && std::chrono::steady_clock::now() >= deadline) return false;
    ++waiting_;
    if (deadline == kForEver) {
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
  if (driven_ || count_ == 0) return false;
  const HostExec* exec = ring_[head_].exec;
  return runner == Runner::DeviceThread || exec == nullptr || !exec->has_callbacks();
}

void HostWorkQueue::drive(Lock& lock, std::uint64_t serial, Runner runner) {
  while (may_run_next(runner) && !reached(serial)) {
    Entry entry = pop();
    driven_ = true;
    running_ = entry.exec;
    lock.unlock();
    run(entry, runner);
    entry.other.reset();  // may be the last reference to that queue
    lock.lock();
    running_ = nullptr;
    driven_ = false;
    if (entry.serial != 0 && !generation_.is_lost())
      completed_.store(entry.serial, std::memory_order_release);
    if (waiting_ != 0) changed_.notify_all();
  }
  if (count_ != 0) call_worker(Priority::Wait);
}

void HostWorkQueue::run(const Entry& entry, Runner runner) noexcept {
  if (entry.exec != nullptr) {
    entry.exec->run(workers_, entry.replay);
  } else if (entry.write.size != 0) {
    std::copy_n(entry.write.bytes.begin(), entry.write.size, entry.write.destination);
  } else if (entry.other) {
    try {
      static_cast<void>(entry.other->wait(entry.other_serial, std::nullopt, runner));
    } catch (const Error&) {
      // The device is lost, and this queue with it. Its own waiters receive the error.
    }
  }
}

void HostWorkQueue::call_worker(Priority priority) {
  switch (worker_state_) {
    case Worker::NotStarted:
      worker_ = std::thread([this] { worker_main(); });
      worker_state_ = Worker::Awake;
      return;
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
  std::uint64_t seen = 0;
  while (!closed_) {
    if (may_run_next(Runner::DeviceThread)) {
      drive(lock, kEverything, Runner::DeviceThread);
      naps = 0;
      continue;
    }
    if (const std::uint64_t last = last_serial(); last != seen) {
      seen = last;
      naps = 0;
    }
    if (naps < kNaps) {
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
  std::vector<Entry> dropped(kUsualDepth);  // freed without the lock
  std::lock_guard lock(mutex_);
  ring_.swap(dropped);
  head_ = count_ = 0;
  changed_.notify_all();
}

void HostWorkQueue::wait_until_quiet() {
  Lock lock(mutex_);
  ++waiting_;
  changed_.wait(lock, [this] { return !driven_; });
  --waiting_;
}

void HostWorkQueue::wait_until_not_running(const HostExec& exec) {
  Lock lock(mutex_);
  ++waiting_;
  changed_.wait(lock, [&] { return running_ != &exec; });
  --waiting_;
}

void HostWorkQueue::close() {
  {
    Lock lock(mutex_);
    closed_ = true;
    work_.notify_one();
    ++waiting_;
    changed_.wait(lock, [this] { return !driven_; });
    --waiting_;
  }
  if (worker_.joinable()) worker_.join();
}

}  // namespace reprise::detail

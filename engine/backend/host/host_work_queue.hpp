// HostWorkQueue: the work of one host queue. It runs on the queue's own thread, or on a thread that
// waits for it, which saves a wake-up. Outlives its HostQueue while another queue waits for it.
// Threads: any thread. mutex_ guards the members below it; no application code runs under it.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "backend/backend.hpp"
#include "backend/host/device_generation.hpp"
#include "backend/host/worker_arena.hpp"

namespace reprise::detail {

class HostExec;

class HostWorkQueue {
 public:
  // A device thread may run callbacks of the application; a waiting thread that helps may not.
  enum class Runner : std::uint8_t { DeviceThread, HelpingWaiter };
  using Timeout = std::optional<std::chrono::nanoseconds>;

  HostWorkQueue(std::string_view label, const DeviceGeneration& generation, std::uint32_t threads);
  ~HostWorkQueue();

  // Each throws DeviceLost.
  [[nodiscard]] std::uint64_t submit(HostExec& exec, std::uint64_t replay);
  [[nodiscard]] std::uint64_t mark();
  [[nodiscard]] std::uint64_t submit_write(std::byte* destination,
                                           std::span<const std::byte> bytes);
  void submit_wait(const std::shared_ptr<HostWorkQueue>& other, std::uint64_t serial);
  [[nodiscard]] bool done(std::uint64_t serial);
  [[nodiscard]] bool wait(std::uint64_t serial, Timeout timeout, Runner runner);
  void require_alive(Stage stage) const { generation_.require(stage, "queue", label_); }

  [[nodiscard]] std::uint64_t last_serial() const noexcept {
    return last_serial_.load(std::memory_order_acquire);
  }

  // See QueueRegistry.
  void abandon();
  void wait_until_idle();
  void wait_until_not_running(const HostExec& exec);
  // Starts no other work, for the end of the process. Returns whether work is running.
  [[nodiscard]] bool stop();
  // Joins the queue's thread. Requires an empty queue or a lost device. Not called from that
  // thread.
  void close();

 private:
  struct Write {
    std::byte* destination = nullptr;
    std::uint32_t size = 0;  // 0: none
    std::array<std::byte, BackendQueue::kMaxWriteBytes> bytes;
  };
  struct Entry {
    std::uint64_t serial = 0;  // 0: a wait
    HostExec* exec = nullptr;  // null: a mark, a write or a wait
    std::uint64_t replay = 0;
    std::shared_ptr<HostWorkQueue> other = {};  // for a wait
    std::uint64_t other_serial = 0;
    Write write = {};
  };
  enum class Worker : std::uint8_t { NotStarted, Asleep, Napping, Awake };
  enum class Priority : std::uint8_t { Launch, Wait };
  using Lock = std::unique_lock<std::mutex>;

  [[nodiscard]] bool reached(std::uint64_t serial) const noexcept {
    return completed_.load(std::memory_order_acquire) >= serial;
  }
  void push(Entry entry);
  [[nodiscard]] Entry pop();
  [[nodiscard]] bool may_run_next(Runner runner) const;
  // Runs entries until `serial` is complete or `runner` must not run the next entry.
  void run_entries(Lock& lock, std::uint64_t serial, Runner runner);
  void run(const Entry& entry, Runner runner) noexcept;
  // Called before the first entry. Throws OutOfMemory if no thread can start; the queue is
  // unchanged.
  void start_worker();
  void wake_worker(Priority priority);
  void worker_main();

  const std::string label_;
  const DeviceGeneration generation_;
  WorkerArena workers_;  // used by the running thread
  std::atomic<std::uint64_t> completed_{0}, last_serial_{0};

  std::mutex mutex_;
  std::condition_variable work_, changed_;
  std::vector<Entry> ring_;  // size: a power of two
  std::size_t head_ = 0, count_ = 0;
  bool is_running_ = false, is_stopped_ = false;
  const HostExec* running_ = nullptr;
  std::uint32_t waiting_ = 0;  // threads that wait on changed_
  Worker worker_state_ = Worker::NotStarted;
  bool closed_ = false;
  std::thread worker_;
};

}  // namespace reprise::detail

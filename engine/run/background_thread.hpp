// BackgroundThread: does things bit by bit, in turns, for whoever wants them done beside everything else. Starts its thread with the first of
// them. Knows no device.
// Threads: any thread. No lock is held while a thing is done: that may drop the last reference to whoever owns this.
#pragma once

#include <cstdint>
#include <memory>

namespace reprise::detail {

class BackgroundJob {
 public:
  BackgroundJob() = default;
  BackgroundJob(const BackgroundJob&) = delete;
  BackgroundJob& operator=(const BackgroundJob&) = delete;
  virtual ~BackgroundJob() = default;  // on any thread; holds nothing of a device

  enum class Next : std::uint8_t { Again, Over };
  // A bit of it, which waits for nobody else. Again: once more after a while.
  [[nodiscard]] virtual Next step() noexcept = 0;
};

class BackgroundThread {
 public:
  BackgroundThread();
  BackgroundThread(const BackgroundThread&) = delete;
  BackgroundThread& operator=(const BackgroundThread&) = delete;
  // Jobs that are left are dropped. Waits for a step that is under way, unless it is that step that drops this.
  ~BackgroundThread();

  // Throws OutOfMemory where no thread can be started.
  void add(std::unique_ptr<BackgroundJob> job);

 private:
  struct State;
  static void run(const std::shared_ptr<State>& state) noexcept;
  std::shared_ptr<State> state_;  // the thread holds it too
};

}  // namespace reprise::detail

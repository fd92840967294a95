// CudaQueue: a stream with numbered submissions. Each serial has an event from a set that is
// created with the queue, so a launch allocates nothing. An event is reused only when its old
// serial is complete and no thread waits on it. Reuse is last in, first out, because recently used
// memory is warm. Threads: any.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "backend/backend.hpp"
#include "backend/cuda/cuda_context.hpp"

namespace reprise::detail {

class CudaQueue final : public BackendQueue {
 public:
  // Maximum number of pending submissions. A further one waits for the oldest, as it would in the
  // driver at about this depth.
  static constexpr std::uint64_t kRing = 2048;

  // Creates its stream.
  CudaQueue(std::shared_ptr<const CudaContext> context, std::string_view label,
            std::int32_t priority = 0);
  // Adopts `foreign` without owning it.
  CudaQueue(std::shared_ptr<const CudaContext> context, CUstream foreign, std::string_view label);
  CudaQueue(const CudaQueue&) = delete;
  CudaQueue& operator=(const CudaQueue&) = delete;
  ~CudaQueue() override;

  [[nodiscard]] std::uint64_t last_serial() const noexcept override {
    return last_.load(std::memory_order_acquire);
  }
  [[nodiscard]] bool done(std::uint64_t serial) override;
  [[nodiscard]] bool wait(std::uint64_t serial,
                          std::optional<std::chrono::nanoseconds> timeout) override;
  void wait_for(BackendQueue& other, std::uint64_t serial) override;
  std::uint64_t mark() override;
  std::uint64_t write(std::byte* destination, std::span<const std::byte> bytes) override;
  std::optional<std::uint64_t> drop_native() noexcept override;
  [[nodiscard]] std::unique_ptr<QueueStopwatch> make_stopwatch() override;
  // Returns the stream. From now on the queue checks for captures that its new user may begin.
  [[nodiscard]] void* native() const noexcept override;
  [[nodiscard]] void* identity() const noexcept override { return stream_; }

  // Launches and returns the serial. Throws CapturingStream and leaves the capture intact.
  [[nodiscard]] std::uint64_t launch(CUgraphExec exec);
  // The same for a graph with conditional nodes, after the last such launch on any queue.
  [[nodiscard]] std::uint64_t launch_conditional(CUgraphExec exec);
  // Copies ordinary memory to the device before the next launch. `bytes` is read during the call.
  void copy(std::byte* destination, std::span<const std::byte> bytes);
  // Throws StaleHandle after drop_native(), CapturingStream if the stream is being captured. In a
  // scope.
  void require_stream(Stage stage) const;
  // Transfers the ownership of the stream to the caller.
  [[nodiscard]] CUstream release();

 private:
  class Pin;
  struct Slot {
    CUevent event = nullptr;
    // Threads that use the event outside the mutex, or under another queue's mutex.
    std::atomic<std::uint32_t> pins{0};
  };
  void make_events();
  void destroy() noexcept;
  // The event of `serial`, unless it was reused.
  [[nodiscard]] Slot& slot(std::uint64_t serial) noexcept {
    return slots_[slot_of_[serial % kRing].load(std::memory_order_acquire)];
  }
  [[nodiscard]] bool reached(std::uint64_t serial) const noexcept {
    return serial <= completed_.load();
  }
  void advance(std::uint64_t serial) noexcept;  // records that `serial` is complete
  [[nodiscard]] bool query(std::uint64_t serial, Stage stage);
  // The next three functions run under the mutex, in a scope.
  // Reclaims up to `max_count` events of completed serials.
  void reclaim(std::uint64_t max_count) noexcept;
  [[nodiscard]] std::uint16_t next_slot(Stage stage);
  std::uint64_t record(std::uint16_t slot, Stage stage);

  const std::shared_ptr<const CudaContext> context_;
  const std::string label_;
  const std::string name_;  // 'queue "main"', for messages
  CUstream stream_ = nullptr;
  bool owned_ = false;
  mutable std::atomic<bool> shared_{false};  // other code knows the stream
  std::atomic<bool> dropped_{false};         // the stream may not exist any more
  std::mutex mutex_;
  std::atomic<std::uint64_t> last_{0}, completed_{0};
  std::array<Slot, kRing> slots_;
  std::array<std::atomic<std::uint16_t>, kRing> slot_of_{};  // by serial % kRing
  std::array<std::uint16_t, kRing> free_{};  // a stack; under mutex_, as the members below
  std::uint64_t free_count_ = 0;
  // pinned, kMaxWriteBytes per slot, reused when the slot's serial is complete; empty: nothing was
  // written
  std::optional<CudaMemory> staging_;
  // Events of serials up to this one are free or reused.
  std::uint64_t reclaimed_ = 0;
};

}  // namespace reprise::detail

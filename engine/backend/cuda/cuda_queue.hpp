// CudaQueue: a stream whose submissions are numbered. Behind each serial stands an event of a set
// that is made with the queue, so that a launch allocates nothing. An event is used again only when
// its old serial is done and nobody waits on it; the one that came back last is taken first,
// because its memory is still warm. Threads: any.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "backend/backend.hpp"
#include "backend/cuda/cuda_context.hpp"

namespace reprise::detail {

class CudaQueue final : public BackendQueue {
 public:
  // Submissions under way at once; the next one waits for the oldest, about where the driver would.
  static constexpr std::uint64_t kRing = 2048;

  CudaQueue(std::shared_ptr<const CudaContext> context,
            std::string_view label);  // makes its stream
  CudaQueue(std::shared_ptr<const CudaContext> context, CUstream foreign,
            std::string_view label);  // leaves it alive
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
  [[nodiscard]] std::unique_ptr<QueueStopwatch> make_stopwatch() override;
  // The stream. From now on the queue looks out for captures that its new user may begin.
  [[nodiscard]] void* native() const noexcept override;
  [[nodiscard]] void* identity() const noexcept override { return stream_; }

  // Launches and gives the serial. Throws CapturingStream, leaving the capture as it was.
  [[nodiscard]] std::uint64_t launch(CUgraphExec exec);
  void upload(CUgraphExec exec);
  // The stream is the caller's to destroy from now on.
  [[nodiscard]] CUstream release();

 private:
  class Pin;
  struct Slot {
    CUevent event = nullptr;
    std::atomic<std::uint32_t> pins{
        0};  // threads that use the event outside the mutex, or under another queue's
  };
  void make_events();
  void destroy() noexcept;
  // The event that stands, or once stood, for `serial`.
  [[nodiscard]] Slot& slot(std::uint64_t serial) noexcept {
    return slots_[slot_of_[serial % kRing].load(std::memory_order_acquire)];
  }
  [[nodiscard]] bool reached(std::uint64_t serial) const noexcept {
    return serial <= completed_.load();
  }
  void advance(std::uint64_t serial) noexcept;  // `serial` is done
  [[nodiscard]] bool query(std::uint64_t serial, Stage stage);
  void refuse_capture(Stage stage) const;       // these three under the mutex, in a scope
  void take_back(std::uint64_t most) noexcept;  // at most so many events of serials that are done
  [[nodiscard]] std::uint16_t next_slot(Stage stage);
  std::uint64_t record(std::uint16_t slot, Stage stage);

  const std::shared_ptr<const CudaContext> context_;
  const std::string label_;
  const std::string name_;  // 'queue "main"', for messages
  CUstream stream_ = nullptr;
  bool owned_ = false;
  mutable std::atomic<bool> shared_{false};  // somebody else knows the stream
  std::mutex mutex_;
  std::atomic<std::uint64_t> last_{0}, completed_{0};
  std::array<Slot, kRing> slots_;
  std::array<std::atomic<std::uint16_t>, kRing> slot_of_{};  // by serial % kRing
  std::array<std::uint16_t, kRing> free_{};  // a stack; under mutex_, as the two below
  std::uint64_t free_count_ = 0;
  std::byte* staging_ = nullptr;  // pinned: kMaxWriteBytes of each slot, which is not used again
                                  // before its serial is done; null: nothing was written
  std::uint64_t taken_back_ =
      0;  // events of serials up to this one are free, or in use for a later one
};

}  // namespace reprise::detail

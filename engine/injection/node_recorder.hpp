// NodeRecorder: enables and disables CUPTI's activity records of nodes and passes them to an
// ObservedProgram. One per process, because CUPTI's buffer callbacks have no user data. Threads:
// start(), stop() and flush() one at a time; records arrive on any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "injection/observed_program.hpp"
#include "profile/activity/activity_buffers.hpp"
#include "profile/activity/cupti_library.hpp"

namespace reprise::detail {

class NodeRecorder {
 public:
  // `cupti` and `program` must outlive the recorder, which must live until the process ends.
  NodeRecorder(const CuptiLibrary& cupti, ObservedProgram& program);

  // Returns an empty string on success, otherwise the reason.
  [[nodiscard]] std::string start();
  void stop() noexcept;
  enum class Wait : std::uint8_t { ForCompleted, ForAll };
  void flush(Wait wait) noexcept;
  [[nodiscard]] bool is_on() const noexcept { return on_; }
  // Number of records dropped for lack of buffers since the last call.
  [[nodiscard]] std::uint64_t take_dropped() noexcept {
    return dropped_.exchange(0, std::memory_order_relaxed);
  }

 private:
  static void CUPTIAPI on_buffer_requested(std::uint8_t** buffer, std::size_t* size,
                                           std::size_t* records);
  static void CUPTIAPI on_buffer_completed(CUcontext context, std::uint32_t stream,
                                           std::uint8_t* buffer, std::size_t size,
                                           std::size_t valid);
  void take(std::uint8_t* buffer, std::size_t valid) noexcept;

  const CuptiLibrary& cupti_;
  ObservedProgram& program_;
  ActivityBuffers buffers_;
  std::atomic<std::uint64_t> dropped_{0};
  bool on_ = false, registered_ = false;
};

}  // namespace reprise::detail

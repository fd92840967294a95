// WrittenBytes: which bytes of a graph's transients the current replay has written. Only checked
// kernels ask, so a program without them tracks nothing. Threads: those that run nodes, and one
// that makes nodes.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "record/recording.hpp"

namespace reprise::detail {

class WrittenBytes {
 public:
  // A flag for each byte of the buffer, which lives as long as this object; null: not a transient.
  // Other threads access flags at any time, so use set() and is_any_set().
  [[nodiscard]] std::uint8_t* track(const BufferCore& buffer);
  [[nodiscard]] bool is_tracking() const noexcept {
    return is_tracking_.load(std::memory_order_relaxed);
  }

  static void set(std::span<std::uint8_t> flags, std::uint8_t value = 1) noexcept;
  [[nodiscard]] static bool is_any_set(std::span<std::uint8_t> flags) noexcept;

  void begin_replay() noexcept;
  // All that the command declares to write.
  void mark(const Recording& recording, std::uint32_t command) noexcept;

 private:
  std::atomic<bool> is_tracking_{false};
  std::mutex mutex_;  // protects the map
  std::unordered_map<const BufferCore*, std::vector<std::uint8_t>> flags_;
};

}  // namespace reprise::detail

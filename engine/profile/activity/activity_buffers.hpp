// ActivityBuffers: a bounded pool of reusable buffers for CUPTI's activity records. CUPTI counts
// the records that it drops when no buffer is free. Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace reprise::detail {

class ActivityBuffers {
 public:
  static constexpr std::size_t kBytes = std::size_t{1} << 20, kMaxBuffers = 32;

  // A buffer of kBytes; null: all buffers are in use, or memory is exhausted.
  [[nodiscard]] std::uint8_t* take() noexcept;
  void release(std::uint8_t* buffer) noexcept;

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<std::uint8_t[]>> all_;
  std::vector<std::uint8_t*> free_;
};

}  // namespace reprise::detail

// ActivityBuffers: memory that CUPTI writes records into, used again and again. Bounded: what finds
// no room CUPTI counts as dropped. Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace reprise::detail {

class ActivityBuffers {
 public:
  static constexpr std::size_t kBytes = std::size_t{1} << 20, kMost = 32;

  // kBytes; null: all are in use, or there is no memory.
  [[nodiscard]] std::uint8_t* take() noexcept;
  void give_back(std::uint8_t* buffer) noexcept;

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<std::uint8_t[]>> all_;
  std::vector<std::uint8_t*> free_;
};

}  // namespace reprise::detail

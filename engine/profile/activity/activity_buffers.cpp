#include "profile/activity/activity_buffers.hpp"

#include <new>

namespace reprise::detail {

std::uint8_t* ActivityBuffers::take() noexcept {
  const std::lock_guard lock(mutex_);
  if (free_.empty() && all_.size() < kMaxBuffers) {
    try {
      free_.reserve(kMaxBuffers);
      all_.reserve(kMaxBuffers);
      all_.emplace_back(new std::uint8_t[kBytes]);
      free_.push_back(all_.back().get());
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  }
  if (free_.empty()) return nullptr;
  std::uint8_t* const buffer = free_.back();
  free_.pop_back();
  return buffer;
}

void ActivityBuffers::release(std::uint8_t* buffer) noexcept {
  const std::lock_guard lock(mutex_);
  free_.push_back(buffer);  // capacity was reserved by take()
}

}  // namespace reprise::detail

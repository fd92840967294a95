#include "record/held_buffers.hpp"

#include <utility>

namespace reprise::detail {

HeldBuffers::HeldBuffers(const std::vector<std::shared_ptr<BufferCore>>& buffers) : list_(buffers) {
  for (const auto& buffer : list_) buffer->recorded.fetch_add(1, std::memory_order_relaxed);
}

HeldBuffers& HeldBuffers::operator=(HeldBuffers&& other) noexcept {
  if (this != &other) {
    truncate(0);
    list_ = std::exchange(other.list_, {});
  }
  return *this;
}

void HeldBuffers::add(const std::shared_ptr<BufferCore>& buffer) {
  list_.push_back(buffer);
  buffer->recorded.fetch_add(1, std::memory_order_relaxed);
}

void HeldBuffers::truncate(std::size_t count) noexcept {
  while (list_.size() > count) {
    list_.back()->recorded.fetch_sub(1, std::memory_order_release);
    list_.pop_back();
  }
}

}  // namespace reprise::detail

#include "base/arena.hpp"

#include <algorithm>

namespace reprise::detail {

namespace {
constexpr std::size_t kFirstBlock = 16 * 1024;
constexpr std::size_t kMaxAlignment = 64;
}  // namespace

void* Arena::allocate_in_new_block(std::size_t bytes, std::size_t alignment) {
  if (bytes > SIZE_MAX / 2) throw std::bad_alloc();
  const std::size_t grown = blocks_.empty() ? kFirstBlock : blocks_.back().size * 2;
  const std::size_t size = std::max(grown, bytes + kMaxAlignment);
  blocks_.reserve(blocks_.size() + 1);
  std::unique_ptr<std::byte[]> memory(new std::byte[size]);
  next_ = reinterpret_cast<std::uintptr_t>(memory.get());
  end_ = next_ + size;
  blocks_.push_back({std::move(memory), size});
  return allocate(bytes, alignment);
}

void Arena::reset() noexcept {
  if (blocks_.empty()) return;
  const auto largest =
      std::max_element(blocks_.begin(), blocks_.end(),
                       [](const Block& a, const Block& b) { return a.size < b.size; });
  std::swap(blocks_.front(), *largest);
  blocks_.resize(1);
  next_ = reinterpret_cast<std::uintptr_t>(blocks_.front().bytes.get());
  end_ = next_ + blocks_.front().size;
}

}  // namespace reprise::detail

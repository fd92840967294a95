#include "record/memory_places.hpp"

#include <algorithm>

namespace reprise::detail {
namespace {

std::uintptr_t begin_of(const BufferCore& buffer) noexcept {
  return reinterpret_cast<std::uintptr_t>(buffer.address);
}

}  // namespace

bool overlaps(const BufferCore& buffer, const std::byte* address, std::uint64_t bytes) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  return buffer.address != nullptr && begin < begin_of(buffer) + buffer.bytes &&
         begin_of(buffer) < begin + bytes;
}

std::vector<MemoryPlace> find_memory_places(std::span<const std::shared_ptr<BufferCore>> buffers) {
  // Memory that the engine allocates is disjoint.
  if (std::none_of(buffers.begin(), buffers.end(), [](const auto& b) { return b->is_adopted; }))
    return {};
  std::vector<std::uint32_t> order;  // by address
  for (std::uint32_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i]->address != nullptr) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return begin_of(*buffers[a]) < begin_of(*buffers[b]);
  });
  std::vector<MemoryPlace> places(buffers.size());
  for (std::uint32_t i = 0; i < buffers.size(); ++i) places[i] = {i, 0};
  bool are_shared = false;
  std::uint32_t first = 0;
  std::uintptr_t end = 0;  // of the current memory
  for (const std::uint32_t i : order) {
    const std::uintptr_t begin = begin_of(*buffers[i]);
    if (begin < end) {
      places[i] = {first, begin - begin_of(*buffers[first])};
      are_shared = true;
    } else {
      first = i;
    }
    end = std::max(end, begin + buffers[i]->bytes);
  }
  if (!are_shared) places.clear();
  return places;
}

}  // namespace reprise::detail

#include "backend/cuda/native/native_memory.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.hpp"

namespace reprise::detail {
namespace {

// Nothing is allocated below it, and small integers are mostly below it.
constexpr std::uint64_t kFirstPage = 4096;

// The allocation that contains an address; zero bytes if CUDA knows none.
struct Allocation {
  std::uint64_t start = 0, bytes = 0;
  BufferKind kind = BufferKind::Device;
};

Allocation allocation_of(const CudaContext& context, std::uint64_t address) {
  unsigned type = 0, managed = 0;
  CUdeviceptr start = 0;
  std::size_t bytes = 0;
  CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                 CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                 CU_POINTER_ATTRIBUTE_RANGE_SIZE};
  void* answers[] = {&type, &managed, &start, &bytes};
  if (context.driver.cuPointerGetAttributes(std::size(asked), asked, answers, address) !=
      CUDA_SUCCESS)
    return {};
  if (type == 0 && managed == 0) return {};
  const bool is_host = type == CU_MEMORYTYPE_HOST && managed == 0;
  return {start, bytes, is_host ? BufferKind::PinnedHost : BufferKind::Device};
}

}  // namespace

std::optional<NativeMemory::Location> NativeMemory::find_known(std::uint64_t address) const {
  auto at = ranges_.upper_bound(address);
  if (at == ranges_.begin()) return std::nullopt;
  --at;
  const std::uint64_t into = address - at->first;
  if (into >= at->second.bytes) return std::nullopt;
  return Location{at->second.buffer, into, at->second.bytes - into};
}

std::optional<NativeMemory::Location> NativeMemory::find(const void* address) {
  const auto value = reinterpret_cast<std::uint64_t>(address);
  if (value < kFirstPage) return std::nullopt;
  // Engine buffers come first: one allocation may contain several.
  if (const FoundBuffer found = finder_(address); found.buffer) {
    return Location{index_of(found.buffer), found.offset, found.buffer->bytes - found.offset};
  }
  if (const auto known = find_known(value)) return known;
  const Allocation allocation = allocation_of(context_, value);
  if (allocation.bytes == 0 || value < allocation.start ||
      value - allocation.start >= allocation.bytes)
    return std::nullopt;
  const std::uint32_t buffer =
      add_foreign(allocation.kind, allocation.bytes, reinterpret_cast<std::byte*>(allocation.start),
                  concat(allocation.kind == BufferKind::Device ? "device memory " : "host memory ",
                         ++foreign_));
  ranges_.emplace(allocation.start, Range{allocation.bytes, buffer});
  return find_known(value);
}

NativeMemory::Location NativeMemory::find_device(const void* address, std::uint64_t bytes) {
  if (const auto known = find(address)) return *known;
  const auto start = reinterpret_cast<std::uint64_t>(address);
  const std::uint32_t buffer =
      add_foreign(BufferKind::Device, bytes, reinterpret_cast<std::byte*>(start),
                  concat("device memory ", ++foreign_));
  ranges_.emplace(start, Range{bytes, buffer});
  return {buffer, 0, bytes};
}

std::uint32_t NativeMemory::array(CUarray array, std::uint64_t bytes) {
  const auto [at, is_new] = arrays_.try_emplace(array, 0);
  if (is_new)
    at->second =
        add_foreign(BufferKind::Device, bytes, nullptr, concat("CUDA array ", arrays_.size()));
  BufferCore& core = *recording_.buffers[at->second];
  core.bytes = std::max(core.bytes, bytes);
  return at->second;
}

std::uint32_t NativeMemory::index_of(const std::shared_ptr<BufferCore>& buffer) {
  const auto [at, is_new] =
      indices_.try_emplace(buffer.get(), static_cast<std::uint32_t>(recording_.buffers.size()));
  if (is_new) recording_.buffers.push_back(buffer);
  return at->second;
}

std::uint32_t NativeMemory::add_foreign(BufferKind kind, std::uint64_t bytes, std::byte* address,
                                        std::string name) {
  auto core = std::make_shared<BufferCore>();
  core->kind = kind;
  core->bytes = bytes;
  core->name = std::move(name);
  core->device = recording_.device;
  core->generation = recording_.generation;
  core->address = address;
  return index_of(core);
}

}  // namespace reprise::detail

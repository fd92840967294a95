#include "backend/host/fiber_stacks.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace reprise::detail {

namespace {

#if defined(REPRISE_ADDRESS_SANITIZER) || defined(REPRISE_THREAD_SANITIZER)
constexpr std::size_t kStackBytes = 256 * 1024;  // instrumented frames are larger
#else
constexpr std::size_t kStackBytes = 64 * 1024;
#endif
constexpr std::size_t kGuardBytes = 4096;
constexpr std::size_t kStackStride = kStackBytes + kGuardBytes;
constexpr std::size_t kStacksOfSlab = 32;
constexpr std::size_t kSlabBytes = kStackStride * kStacksOfSlab;
constexpr std::size_t kCacheLine = 64, kColours = 61;

}  // namespace

FiberStacks::~FiberStacks() {
  for (std::byte* slab : slabs_) munmap(slab, kSlabBytes);
}

bool FiberStacks::contains(const std::byte* address) const noexcept {
  return std::any_of(slabs_.begin(), slabs_.end(), [address](const std::byte* slab) {
    return address >= slab && address < slab + kSlabBytes;
  });
}

FiberStack FiberStacks::take() {
  if (left_in_slab_ == 0) {
    slabs_.reserve(slabs_.size() + 1);
    void* slab = mmap(nullptr, kSlabBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (slab == MAP_FAILED) throw std::bad_alloc();
    slabs_.push_back(static_cast<std::byte*>(slab));
    left_in_slab_ = kStacksOfSlab;
  }
  std::byte* guard = slabs_.back() + kStackStride * (kStacksOfSlab - left_in_slab_);
  --left_in_slab_;
  // Fails if the process has too many mappings; the stack works without a guard page.
  static_cast<void>(mprotect(guard, kGuardBytes, PROT_NONE));
  return {guard + kGuardBytes, kStackBytes, count_++ % kColours * kCacheLine};
}

}  // namespace reprise::detail

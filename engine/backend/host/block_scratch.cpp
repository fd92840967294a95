#include "backend/host/block_scratch.hpp"

#include <memory>
#include <new>

namespace reprise::detail {

namespace {

constexpr std::align_val_t kAlignment{128};

struct Free {
  void operator()(std::byte* bytes) const noexcept { ::operator delete(bytes, kAlignment); }
};

thread_local std::unique_ptr<std::byte, Free> scratch;
thread_local std::size_t scratch_bytes = 0;

}  // namespace

std::byte* block_scratch(std::size_t bytes) noexcept {
  if (scratch_bytes < bytes) {
    scratch.reset(static_cast<std::byte*>(::operator new(bytes, kAlignment)));
    scratch_bytes = bytes;
  }
  return scratch.get();
}

}  // namespace reprise::detail

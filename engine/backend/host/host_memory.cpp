#include "backend/host/host_memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <new>

#include <reprise/error.hpp>

#include "base/aligned_up.hpp"
#include "base/text.hpp"

namespace reprise::detail {

namespace {

[[noreturn]] void fail_out_of_memory(std::uint64_t bytes, std::uint64_t available) {
  ErrorDetails details;
  details.code = ErrorCode::OutOfMemory;
  details.stage = Stage::Allocate;
  throw Error(std::move(details),
              concat("the host device cannot allocate ", bytes, " bytes; ", available,
                     " bytes of the machine's memory are not allocated"));
}

}  // namespace

std::uint64_t HostMemory::physical_memory() noexcept {
  const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
  return pages > 0 && page_bytes > 0
             ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes)
             : 0;
}

std::byte* HostMemory::allocate(std::uint64_t bytes) {
  std::lock_guard lock(mutex_);
  const std::uint64_t available = limit_ - used_;
  if (bytes > available) fail_out_of_memory(bytes, available);
  const std::uint64_t size = std::max(kAlignment, aligned_up(bytes, kAlignment));
  auto* address =
      static_cast<std::byte*>(::operator new (size, std::align_val_t{kAlignment}, std::nothrow));
  if (address == nullptr) fail_out_of_memory(bytes, available);
  try {
    blocks_.emplace(address, bytes);
  } catch (...) {
    ::operator delete (address, std::align_val_t{kAlignment});
    fail_out_of_memory(bytes, available);
  }
  used_ += bytes;
  return address;
}

void HostMemory::charge(std::uint64_t bytes) {
  std::lock_guard lock(mutex_);
  const std::uint64_t available = limit_ - used_;
  if (bytes > available) fail_out_of_memory(bytes, available);
  used_ += bytes;
}

void HostMemory::discharge(std::uint64_t bytes) noexcept {
  std::lock_guard lock(mutex_);
  used_ -= bytes;
}

void HostMemory::free(std::byte* address) noexcept {
  if (address == nullptr) return;
  {
    std::lock_guard lock(mutex_);
    const auto found = blocks_.find(address);
    if (found == blocks_.end()) return;
    used_ -= found->second;
    blocks_.erase(found);
  }
  ::operator delete (address, std::align_val_t{kAlignment});
}

}  // namespace reprise::detail

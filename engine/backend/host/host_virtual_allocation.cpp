#include "backend/host/host_virtual_allocation.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <reprise/error.hpp>

#include "base/text.hpp"

namespace reprise::detail {
namespace {

void require(int result, const char* call, std::uint64_t bytes) {
  if (result == 0) return;
  ErrorDetails details;
  details.code = errno == ENOMEM ? ErrorCode::OutOfMemory : ErrorCode::NativeFailure;
  details.stage = Stage::Allocate;
  details.native_call = call;
  details.native_code = errno;
  details.native_name = std::strerror(errno);
  throw Error(std::move(details), concat(call, " of ", bytes, " bytes failed"));
}

std::uint64_t page_size() { return static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)); }
std::uint64_t whole_pages(std::uint64_t bytes) {
  return (bytes + page_size() - 1) / page_size() * page_size();
}
bool is_too_large(std::uint64_t bytes) { return bytes > ~std::uint64_t{0} - page_size(); }

void* reserve_addresses(std::uint64_t bytes) {
  return mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

}  // namespace

std::unique_ptr<HostVirtualAllocation> HostVirtualAllocation::make(HostMemory& memory,
                                                                   std::uint64_t bytes) {
  if (bytes < kMinBytes || is_too_large(bytes)) return nullptr;
  const std::uint64_t whole = whole_pages(bytes);
  void* const address = reserve_addresses(whole);
  require(address == MAP_FAILED ? -1 : 0, "mmap", whole);
  auto pages =
      std::make_unique<HostVirtualAllocation>(memory, static_cast<std::byte*>(address), whole);
  pages->resize(whole);
  return pages;
}

std::unique_ptr<HostVirtualAllocation> HostVirtualAllocation::reserve(HostMemory& memory,
                                                                      std::uint64_t bytes) {
  if (bytes == 0 || is_too_large(bytes)) return nullptr;
  const std::uint64_t whole = whole_pages(bytes);
  void* const address = reserve_addresses(whole);
  return address == MAP_FAILED ? nullptr
                               : std::make_unique<HostVirtualAllocation>(
                                     memory, static_cast<std::byte*>(address), whole);
}

HostVirtualAllocation::~HostVirtualAllocation() {
  munmap(address_, reserved_);
  if (is_mapped_) memory_.discharge(bytes_);
}

void HostVirtualAllocation::map_range(std::uint64_t from, std::uint64_t to) {
  memory_.charge(to - from);
  try {
    require(mprotect(address_ + from, to - from, PROT_READ | PROT_WRITE), "mprotect", to - from);
  } catch (...) {
    memory_.discharge(to - from);
    throw;
  }
}

void HostVirtualAllocation::unmap_range(std::uint64_t from, std::uint64_t to) {
  require(mprotect(address_ + from, to - from, PROT_NONE), "mprotect", to - from);
  require(madvise(address_ + from, to - from, MADV_DONTNEED), "madvise", to - from);
  memory_.discharge(to - from);
}

void HostVirtualAllocation::unmap() {
  unmap_range(0, bytes_);
  is_mapped_ = false;
}

void HostVirtualAllocation::map_pages() {
  map_range(0, bytes_);
  is_mapped_ = true;
}

void HostVirtualAllocation::resize(std::uint64_t bytes) {
  const std::uint64_t whole = whole_pages(bytes);
  if (is_mapped_ && whole > bytes_) map_range(bytes_, whole);
  if (is_mapped_ && whole < bytes_) unmap_range(whole, bytes_);
  bytes_ = whole;
}

}  // namespace reprise::detail

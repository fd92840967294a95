#include "backend/host/host_pages.hpp"

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

}  // namespace

std::unique_ptr<HostPages> HostPages::make(HostMemory& memory, std::uint64_t bytes) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  if (bytes < kFewest || bytes > ~std::uint64_t{0} - page) return nullptr;
  const std::uint64_t whole = (bytes + page - 1) / page * page;
  void* const address = mmap(nullptr, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  require(address == MAP_FAILED ? -1 : 0, "mmap", whole);
  auto pages = std::make_unique<HostPages>(memory, static_cast<std::byte*>(address), whole);
  pages->take();
  return pages;
}

HostPages::~HostPages() {
  munmap(address_, bytes_);
  if (counted_) memory_.count_out(bytes_);
}

void HostPages::give_back() {
  require(mprotect(address_, bytes_, PROT_NONE), "mprotect", bytes_);
  require(madvise(address_, bytes_, MADV_DONTNEED), "madvise", bytes_);
  memory_.count_out(bytes_);
  counted_ = false;
}

void HostPages::take() {
  memory_.count_in(bytes_);
  counted_ = true;
  try {
    require(mprotect(address_, bytes_, PROT_READ | PROT_WRITE), "mprotect", bytes_);
  } catch (...) {
    memory_.count_out(bytes_);
    counted_ = false;
    throw;
  }
}

}  // namespace reprise::detail

#ifdef REPRISE_HAS_CUDA

#include "raw_cupti.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>

namespace reprise::bench {

namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                         CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET};

// CUPTI's buffer callbacks have no user pointer.
std::atomic<std::uint64_t> seen{0};
decltype(&::cuptiActivityGetNextRecord) next_record = nullptr;

void CUPTIAPI on_wanted(std::uint8_t** buffer, std::size_t* size, std::size_t* records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *size = *buffer == nullptr ? 0 : kBufferBytes;
  *records = 0;
}

void CUPTIAPI on_full(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                      std::size_t valid) {
  std::uint64_t count = 0;
  for (CUpti_Activity* record = nullptr; next_record(buffer, valid, &record) == CUPTI_SUCCESS;)
    ++count;
  seen.fetch_add(count);
  std::free(buffer);
}

void CUPTIAPI on_callback(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

}  // namespace

RawCupti::RawCupti() {
  void* handle = nullptr;
  for (const std::string& name : detail::CuptiLibrary::default_search().names) {
    if (handle == nullptr) handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  if (handle == nullptr) {
    error_ = "libcupti was not found";
    return;
  }
  cupti_ = detail::CuptiLibrary::resolve(handle, error_);
  if (!cupti_) return;
  next_record = cupti_->next_record;
  bool works = cupti_->subscribe(&subscriber_, &on_callback, nullptr) == CUPTI_SUCCESS;
  works = works && cupti_->register_buffers(&on_wanted, &on_full) == CUPTI_SUCCESS;
  for (const CUpti_ActivityKind kind : kKinds)
    works = works && cupti_->enable(kind) == CUPTI_SUCCESS;
  if (!works) error_ = "CUPTI is unavailable";
}

RawCupti::~RawCupti() {
  if (!cupti_) return;
  static_cast<void>(cudaDeviceSynchronize());
  static_cast<void>(cupti_->flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
  for (const CUpti_ActivityKind kind : kKinds) static_cast<void>(cupti_->disable(kind));
  if (subscriber_ != nullptr) static_cast<void>(cupti_->unsubscribe(subscriber_));
  static_cast<void>(cupti_->finalize());
}

std::uint64_t RawCupti::records() {
  if (cupti_) static_cast<void>(cupti_->flush_all(0));
  return seen.load();
}

}  // namespace reprise::bench

#endif  // REPRISE_HAS_CUDA

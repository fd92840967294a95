#include "backend/cuda/readback.hpp"

#include <algorithm>
#include <cstring>

namespace reprise::detail {

Readback::Readback(std::shared_ptr<const CudaContext> context) : context_(std::move(context)) {
  const SetupScope scope(*context_, Stage::Profile);
  void* memory = nullptr;
  cuda_check(cudaHostAlloc(&memory, kWords * sizeof(std::uint64_t), cudaHostAllocPortable),
             "cudaHostAlloc", context_->at(Stage::Profile, "readback of timestamps"));
  staging_ = static_cast<std::uint64_t*>(memory);
  const CUresult result = context_->driver.cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING);
  if (result != CUDA_SUCCESS) cuda_ignore(cudaFreeHost(staging_));
  cuda_check(result, "cuStreamCreate", context_->at(Stage::Profile, "readback of timestamps"));
}

Readback::~Readback() {
  const SetupScope scope(*context_, std::nothrow);
  if (!scope) return;
  cuda_ignore(context_->driver.cuStreamDestroy(stream_));
  cuda_ignore(cudaFreeHost(staging_));
}

void Readback::read(const std::uint64_t* from, std::span<std::uint64_t> words) {
  const std::lock_guard lock(mutex_);
  const SetupScope scope(*context_, Stage::Profile);
  for (std::size_t done = 0; done < words.size();) {
    const std::size_t count = std::min(kWords, words.size() - done);
    cuda_check(cudaMemcpyAsync(staging_, from + done, count * sizeof(std::uint64_t),
                               cudaMemcpyDeviceToHost, stream_),
               "cudaMemcpyAsync", context_->at(Stage::Profile, "readback of timestamps"));
    wait();
    std::memcpy(words.data() + done, staging_, count * sizeof(std::uint64_t));
    done += count;
  }
}

void Readback::wait() const {
  const SetupScope scope(*context_, Stage::Profile);
  cuda_check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize",
             context_->at(Stage::Profile, "readback of timestamps"));
}

InstrumentationMemory::InstrumentationMemory(std::shared_ptr<const CudaContext> context,
                                             const Readback& readback, std::size_t words)
    : context_(std::move(context)) {
  const SetupScope scope(*context_, Stage::Profile);
  const CallContext call = context_->at(Stage::Profile, "timestamps of replays");
  void* memory = nullptr;
  cuda_check(cudaMalloc(&memory, words * sizeof(std::uint64_t)), "cudaMalloc", call);
  words_ = static_cast<std::uint64_t*>(memory);
  try {
    cuda_check(cudaMemsetAsync(words_, 0, words * sizeof(std::uint64_t), readback.stream()),
               "cudaMemsetAsync", call);
    readback.wait();
  } catch (...) {
    cuda_ignore(cudaFree(words_));
    throw;
  }
}

InstrumentationMemory::~InstrumentationMemory() {
  const SetupScope scope(*context_, std::nothrow);
  if (scope) cuda_ignore(cudaFree(words_));
}

}  // namespace reprise::detail

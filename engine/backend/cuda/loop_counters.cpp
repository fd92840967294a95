#include "backend/cuda/loop_counters.hpp"

#include <loops.shaders.hpp>

namespace reprise::detail {

LoopCounters::LoopCounters(std::shared_ptr<const CudaContext> context, const Load& load,
                           std::uint32_t loops)
    : context_(std::move(context)),
      enter_(load(shaders::reprise_loop_enter)),
      iterate_(load(shaders::reprise_loop_iterate)),
      loops_(loops) {
  const SetupScope scope(*context_, Stage::Instantiate);
  const CallContext call = context_->at(Stage::Instantiate, "loop counters");
  const std::size_t bytes = std::size_t{kWords} * loops_ * sizeof(std::uint64_t);
  cuda_check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
             "cudaStreamCreateWithFlags", call);
  try {
    void* memory = nullptr;
    cuda_check(cudaMalloc(&memory, bytes), "cudaMalloc", call);
    words_ = static_cast<std::uint64_t*>(memory);
    cuda_check(cudaMemsetAsync(words_, 0, bytes, stream_), "cudaMemsetAsync", call);
    cuda_check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize", call);
  } catch (...) {
    if (words_ != nullptr) cuda_ignore(cudaFree(words_));
    cuda_ignore(cudaStreamDestroy(stream_));
    throw;
  }
}

LoopCounters::~LoopCounters() {
  const SetupScope scope(*context_, std::nothrow);
  if (!scope) return;
  cuda_ignore(cudaFree(words_));
  cuda_ignore(cudaStreamDestroy(stream_));
}

std::vector<LoopCount> LoopCounters::read() const {
  const SetupScope scope(*context_, Stage::Wait);
  const CallContext call = context_->at(Stage::Wait, "loop counters");
  std::vector<std::uint64_t> words(std::size_t{kWords} * loops_);
  cuda_check(cudaMemcpyAsync(words.data(), words_, words.size() * sizeof(std::uint64_t),
                             cudaMemcpyDeviceToHost, stream_),
             "cudaMemcpyAsync", call);
  cuda_check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize", call);
  std::vector<LoopCount> counts(loops_);
  for (std::uint32_t i = 0; i < loops_; ++i)
    counts[i] = {words[std::size_t{kWords} * i + 1], words[std::size_t{kWords} * i + 2] != 0};
  return counts;
}

}  // namespace reprise::detail

#include "backend/cuda/graph/loop_counters.hpp"

#include <loops.shaders.hpp>

namespace reprise::detail {

LoopCounters::LoopCounters(std::shared_ptr<const CudaContext> context, const Load& load,
                           std::uint32_t loops, const std::uint32_t* stop)
    : context_(std::move(context)),
      enter_(load(shaders::reprise_loop_enter)),
      iterate_(load(shaders::reprise_loop_iterate)),
      leave_(load(shaders::reprise_loop_leave)),
      loops_(loops),
      stop_(stop),
      memory_(context_, BufferKind::Device, std::uint64_t{kWords} * loops * sizeof(std::uint64_t),
              Stage::Instantiate, "loop counters") {
  const SetupScope scope(*context_, Stage::Instantiate);
  const CallContext call = context_->at(Stage::Instantiate, "loop counters");
  context_->pools->clear(memory_.bytes(), std::uint64_t{kWords} * loops * sizeof(std::uint64_t),
                         call);
  cuda_check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
             "cudaStreamCreateWithFlags", call);
}

LoopCounters::~LoopCounters() {
  const SetupScope scope(*context_, std::nothrow);
  if (scope) cuda_ignore(cudaStreamDestroy(stream_));
}

std::vector<LoopCount> LoopCounters::read() const {
  const SetupScope scope(*context_, Stage::Wait);
  const CallContext call = context_->at(Stage::Wait, "loop counters");
  std::vector<std::uint64_t> words(std::size_t{kWords} * loops_);
  cuda_check(cudaMemcpyAsync(words.data(), memory_.bytes(), words.size() * sizeof(std::uint64_t),
                             cudaMemcpyDeviceToHost, stream_),
             "cudaMemcpyAsync", call);
  cuda_check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize", call);
  std::vector<LoopCount> counts(loops_);
  for (std::uint32_t i = 0; i < loops_; ++i)
    counts[i] = {words[std::size_t{kWords} * i + 1], words[std::size_t{kWords} * i + 2] != 0};
  return counts;
}

}  // namespace reprise::detail

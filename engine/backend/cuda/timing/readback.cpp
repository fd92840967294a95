#include "backend/cuda/timing/readback.hpp"

#include <algorithm>
#include <cstring>

namespace reprise::detail {

Readback::Readback(std::shared_ptr<const CudaContext> context)
    : context_(std::move(context)),
      staging_(context_, BufferKind::PinnedHost, kWords * sizeof(std::uint64_t), Stage::Profile,
               "readback of timestamps") {
  const SetupScope scope(*context_, Stage::Profile);
  cuda_check(context_->driver.cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "cuStreamCreate",
             context_->at(Stage::Profile, "readback of timestamps"));
}

Readback::~Readback() {
  const SetupScope scope(*context_, std::nothrow);
  if (scope) cuda_ignore(context_->driver.cuStreamDestroy(stream_));
}

void Readback::read(const std::uint64_t* from, std::span<std::uint64_t> words) {
  const std::lock_guard lock(mutex_);
  const SetupScope scope(*context_, Stage::Profile);
  for (std::size_t done = 0; done < words.size();) {
    const std::size_t count = std::min(kWords, words.size() - done);
    cuda_check(cudaMemcpyAsync(staging_.words(), from + done, count * sizeof(std::uint64_t),
                               cudaMemcpyDeviceToHost, stream_),
               "cudaMemcpyAsync", context_->at(Stage::Profile, "readback of timestamps"));
    wait();
    std::memcpy(words.data() + done, staging_.words(), count * sizeof(std::uint64_t));
    done += count;
  }
}

void Readback::wait() const {
  const SetupScope scope(*context_, Stage::Profile);
  cuda_check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize",
             context_->at(Stage::Profile, "readback of timestamps"));
}

InstrumentationMemory::InstrumentationMemory(const std::shared_ptr<const CudaContext>& context,
                                             std::size_t words)
    : memory_(context, BufferKind::Device, words * sizeof(std::uint64_t), Stage::Profile,
              "timestamps of replays") {
  const SetupScope scope(*context, Stage::Profile);
  context->pools->clear(memory_.bytes(), words * sizeof(std::uint64_t),
                        context->at(Stage::Profile, "timestamps of replays"));
}

}  // namespace reprise::detail

// Readback: copies bytes from the GPU to the CPU independently of all queues, with its own stream
// and pinned memory. Threads: any; calls are serialised and wait for the copy, never for a queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include "backend/cuda/cuda_context.hpp"

namespace reprise::detail {

class Readback {
 public:
  explicit Readback(std::shared_ptr<const CudaContext> context);
  Readback(const Readback&) = delete;
  Readback& operator=(const Readback&) = delete;
  ~Readback();

  // Copies device memory at `from` to `words`, in its current state.
  void read(const std::uint64_t* from, std::span<std::uint64_t> words);
  // The stream for instrumentation, such as clock kernels.
  [[nodiscard]] CUstream stream() const noexcept { return stream_; }
  // Waits for all work in stream().
  void wait() const;

 private:
  static constexpr std::size_t kWords = std::size_t{1} << 16;
  const std::shared_ptr<const CudaContext> context_;
  std::mutex mutex_;  // guards staging_
  const CudaMemory staging_;
  CUstream stream_ = nullptr;
};

// Zeroed device memory of an instrumentation object.
class InstrumentationMemory {
 public:
  InstrumentationMemory(const std::shared_ptr<const CudaContext>& context, std::size_t words);
  [[nodiscard]] std::uint64_t* words() const noexcept { return memory_.words(); }

 private:
  const CudaMemory memory_;
};

}  // namespace reprise::detail

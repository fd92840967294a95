// Readback: bytes from the GPU to the CPU beside everything that queues do: a stream of its own and
// a piece of pinned memory. Threads: any; calls take turns and wait for the copy, never for a
// queue.
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

  // Copies `words` words at `from`, device memory, as they are now.
  void read(const std::uint64_t* from, std::span<std::uint64_t> words);
  // Work of the engine's instruments: uploads of twins, kernels that answer.
  [[nodiscard]] CUstream stream() const noexcept { return stream_; }
  // Waits for everything in stream().
  void wait() const;

 private:
  static constexpr std::size_t kWords = std::size_t{1} << 16;
  const std::shared_ptr<const CudaContext> context_;
  std::mutex mutex_;  // of staging_
  CUstream stream_ = nullptr;
  std::uint64_t* staging_ = nullptr;
};

// Device memory of an instrument, all zero; freed with it.
class InstrumentationMemory {
 public:
  InstrumentationMemory(std::shared_ptr<const CudaContext> context, const Readback& readback,
                        std::size_t words);
  InstrumentationMemory(const InstrumentationMemory&) = delete;
  InstrumentationMemory& operator=(const InstrumentationMemory&) = delete;
  ~InstrumentationMemory();
  [[nodiscard]] std::uint64_t* words() const noexcept { return words_; }

 private:
  const std::shared_ptr<const CudaContext> context_;
  std::uint64_t* words_ = nullptr;
};

}  // namespace reprise::detail

// CudaStopwatch: two timing events on a stream. Threads: one at a time.
#pragma once

#include <memory>
#include <string>

#include "backend/cuda/cuda_context.hpp"
#include "backend/stopwatch.hpp"

namespace reprise::detail {

class CudaStopwatch final : public QueueStopwatch {
 public:
  // `stream` outlives this object.
  CudaStopwatch(std::shared_ptr<const CudaContext> context, CUstream stream, std::string name);
  CudaStopwatch(const CudaStopwatch&) = delete;
  CudaStopwatch& operator=(const CudaStopwatch&) = delete;
  ~CudaStopwatch() override;

  void start() override { record(begin_); }
  void stop() override { record(end_); }
  [[nodiscard]] double nanoseconds() override;

 private:
  void record(cudaEvent_t event);

  const std::shared_ptr<const CudaContext> context_;
  const CUstream stream_;
  const std::string name_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

}  // namespace reprise::detail

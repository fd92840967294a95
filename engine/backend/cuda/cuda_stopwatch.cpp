#include "backend/cuda/cuda_stopwatch.hpp"

#include <utility>

#include "backend/cuda/cuda_check.hpp"

namespace reprise::detail {

CudaStopwatch::CudaStopwatch(std::shared_ptr<const CudaContext> context, CUstream stream,
                             std::string name)
    : context_(std::move(context)), stream_(stream), name_(std::move(name)) {
  const SetupScope scope(*context_, Stage::Launch);
  cuda_check(cudaEventCreate(&begin_), "cudaEventCreate", context_->at(Stage::Launch, name_));
  const cudaError_t result = cudaEventCreate(&end_);
  if (result != cudaSuccess) cuda_ignore(cudaEventDestroy(begin_));
  cuda_check(result, "cudaEventCreate", context_->at(Stage::Launch, name_));
}

CudaStopwatch::~CudaStopwatch() {
  const SetupScope scope(*context_, std::nothrow);
  if (!scope) return;
  cuda_ignore(cudaEventDestroy(begin_));
  cuda_ignore(cudaEventDestroy(end_));
}

void CudaStopwatch::record(cudaEvent_t event) {
  const DeviceScope scope(*context_, Stage::Launch);
  cuda_check(cudaEventRecord(event, stream_), "cudaEventRecord",
             context_->at(Stage::Launch, name_));
}

double CudaStopwatch::nanoseconds() {
  const SetupScope scope(*context_, Stage::Wait);
  cuda_check(cudaEventSynchronize(end_), "cudaEventSynchronize", context_->at(Stage::Wait, name_));
  float milliseconds = 0;
  cuda_check(cudaEventElapsedTime(&milliseconds, begin_, end_), "cudaEventElapsedTime",
             context_->at(Stage::Wait, name_));
  return 1e6 * static_cast<double>(milliseconds);
}

}  // namespace reprise::detail

#include "ops/copy_cuda.hpp"

#include "ops/cuda_device.hpp"

namespace reprise::ops {

void copy_cuda(GraphRecordCtx& ctx, const void* from, void* to, std::uint64_t bytes) {
  check_cuda("memcpy",
             cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault,
                             static_cast<cudaStream_t>(ctx.native_stream())),
             "cudaMemcpyAsync");
}

}  // namespace reprise::ops

#include "ops/array_cuda.hpp"

#include <algorithm>

#include "ops/cuda_device.hpp"

namespace reprise::ops {
namespace {

void check_cub(int result, const char* call) {
  check_cuda("array", static_cast<cudaError_t>(result), call);
}

std::size_t temporary_bytes(const ArrayWork& work) {
  std::size_t bytes = 0;
  check_cub(run_cub(work, {}, nullptr, bytes, nullptr), "cub (query of temporary storage)");
  return std::max<std::size_t>(bytes, 1);
}

}  // namespace

std::uint64_t array_cuda_workspace(const ArrayWork& work, std::uint32_t ordinal) {
  const CurrentOrdinal current("array", ordinal);
  return temporary_bytes(work);
}

void record_array_cuda(const ArrayWork& work, const ArrayAddresses& at, GraphRecordCtx& ctx) {
  std::size_t bytes = temporary_bytes(work);
  void* const stream = ctx.native_stream();
  ArrayAddresses with_scratch = at;
  if (is_sort(work.verb)) with_scratch.keys = ctx.workspace(1);
  if (has_indices(work.verb)) with_scratch.numbers = static_cast<std::uint32_t*>(ctx.workspace(2));
  check_cub(run_cub(work, with_scratch, ctx.workspace(0), bytes, stream), "cub");
}

}  // namespace reprise::ops

#include "backend/cuda/native/native_kernel.hpp"

#include <algorithm>
#include <cstring>

#include "base/kernel_name.hpp"

namespace reprise::detail {
namespace {

std::uint32_t attribute(const CudaContext& context, CUfunction function,
                        CUfunction_attribute which) {
  int value = 0;
  if (context.driver.cuFuncGetAttribute(&value, which, function) != CUDA_SUCCESS) return 0;
  return static_cast<std::uint32_t>(std::max(value, 0));
}

// Copies the parameter block of a launch without a parameter list.
void copy_extra(void** extra, std::vector<std::byte>& block) {
  const void* bytes = nullptr;
  std::size_t size = 0;
  for (std::size_t i = 0; extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
    if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER) bytes = extra[i + 1];
    if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE)
      size = *static_cast<const std::size_t*>(extra[i + 1]);
  }
  if (bytes != nullptr) std::memcpy(block.data(), bytes, std::min(size, block.size()));
}

}  // namespace

CUfunction native_kernel_function(const CudaContext& context,
                                  const CUDA_KERNEL_NODE_PARAMS& node) noexcept {
  if (node.func != nullptr) return node.func;
  CUfunction function = nullptr;
  if (node.kern == nullptr ||
      context.driver.cuKernelGetFunction(&function, node.kern) != CUDA_SUCCESS)
    return nullptr;
  return function;
}

KernelCore native_kernel(const CudaContext& context, CUfunction function) {
  KernelCore core;
  const char* name = nullptr;
  const bool is_named =
      context.driver.cuFuncGetName(&name, function) == CUDA_SUCCESS && name != nullptr;
  core.name = is_named ? readable_kernel_name(name) : "unnamed kernel";
  for (;;) {
    std::size_t offset = 0, size = 0;
    if (context.driver.cuFuncGetParamInfo(function, core.parameters.size(), &offset, &size) !=
        CUDA_SUCCESS)
      break;
    core.parameters.push_back(
        {static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(size), false});
    core.parameter_bytes =
        std::max(core.parameter_bytes, static_cast<std::uint32_t>(offset + size));
  }
  core.max_block_threads = attribute(context, function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  core.static_shared_bytes = attribute(context, function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  const std::uint32_t limit = context.info.limits.max_shared_bytes;
  core.max_dynamic_shared_bytes = limit - std::min(limit, core.static_shared_bytes);
  return core;
}

std::vector<std::byte> native_parameters(const CUDA_KERNEL_NODE_PARAMS& node,
                                         const KernelCore& kernel) {
  std::vector<std::byte> block(kernel.parameter_bytes);
  if (node.kernelParams != nullptr) {
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
      const KernelParameter& parameter = kernel.parameters[i];
      if (node.kernelParams[i] != nullptr)
        std::memcpy(block.data() + parameter.offset, node.kernelParams[i], parameter.size);
    }
  } else if (node.extra != nullptr) {
    copy_extra(node.extra, block);
  }
  return block;
}

}  // namespace reprise::detail

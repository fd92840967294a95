#include "backend/cuda/native_kernel.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <cxxabi.h>

namespace reprise::detail {
namespace {

// Where the list of parameters at the end of a demangled name begins; its length where there is none.
std::size_t parameters_of(std::string_view name) {
  std::size_t depth = 0;
  const std::size_t last = name.rfind(')');
  if (last == std::string_view::npos) return name.size();
  for (std::size_t i = last + 1; i-- > 0;) {
    if (name[i] == ')') ++depth;
    if (name[i] == '(' && --depth == 0) return i;
  }
  return name.size();
}

// Where the name begins behind the type that it returns: after the last space outside of all brackets.
std::size_t name_of(std::string_view text) {
  std::size_t depth = 0, begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '<' || c == '(') ++depth;
    if ((c == '>' || c == ')') && depth > 0) --depth;
    if (c == ' ' && depth == 0) begin = i + 1;
  }
  return begin;
}

std::uint32_t attribute(const CudaContext& context, CUfunction function, CUfunction_attribute which) {
  int value = 0;
  if (context.driver.cuFuncGetAttribute(&value, which, function) != CUDA_SUCCESS) return 0;
  return static_cast<std::uint32_t>(std::max(value, 0));
}

// The one block that launches without a list of parameters give.
void copy_extra(void** extra, std::vector<std::byte>& block) {
  const void* bytes = nullptr;
  std::size_t size = 0;
  for (std::size_t i = 0; extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
    if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER) bytes = extra[i + 1];
    if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE) size = *static_cast<const std::size_t*>(extra[i + 1]);
  }
  if (bytes != nullptr) std::memcpy(block.data(), bytes, std::min(size, block.size()));
}

}  // namespace

std::string readable_kernel_name(std::string_view name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> words(abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0 || words == nullptr) return std::string(name);
  std::string_view text = words.get();
  text = text.substr(0, parameters_of(text));
  return std::string(text.substr(name_of(text)));
}

CUfunction native_kernel_function(const CudaContext& context, const CUDA_KERNEL_NODE_PARAMS& node) noexcept {
  if (node.func != nullptr) return node.func;
  CUfunction function = nullptr;
  if (node.kern == nullptr || context.driver.cuKernelGetFunction(&function, node.kern) != CUDA_SUCCESS) return nullptr;
  return function;
}

KernelCore native_kernel(const CudaContext& context, CUfunction function) {
  KernelCore core;
  const char* name = nullptr;
  const bool is_named = context.driver.cuFuncGetName(&name, function) == CUDA_SUCCESS && name != nullptr;
  core.name = is_named ? readable_kernel_name(name) : "unnamed kernel";
  for (;;) {
    std::size_t offset = 0, size = 0;
    if (context.driver.cuFuncGetParamInfo(function, core.parameters.size(), &offset, &size) != CUDA_SUCCESS) break;
    core.parameters.push_back({static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(size), false});
    core.parameter_bytes = std::max(core.parameter_bytes, static_cast<std::uint32_t>(offset + size));
  }
  core.max_block_threads = attribute(context, function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  core.static_shared_bytes = attribute(context, function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  const std::uint32_t limit = context.info.limits.max_shared_bytes;
  core.max_dynamic_shared_bytes = limit - std::min(limit, core.static_shared_bytes);
  return core;
}

std::vector<std::byte> native_parameters(const CUDA_KERNEL_NODE_PARAMS& node, const KernelCore& kernel) {
  std::vector<std::byte> block(kernel.parameter_bytes);
  if (node.kernelParams != nullptr) {
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
      const KernelParameter& parameter = kernel.parameters[i];
      if (node.kernelParams[i] != nullptr) std::memcpy(block.data() + parameter.offset, node.kernelParams[i], parameter.size);
    }
  } else if (node.extra != nullptr) {
    copy_extra(node.extra, block);
  }
  return block;
}

}  // namespace reprise::detail

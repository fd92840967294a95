#include "injection/kernel_cache.hpp"

namespace reprise::detail {
namespace {

KernelFacts read(const DriverCalls& driver, CUfunction function) {
  KernelFacts facts;
  const char* name = nullptr;
  const bool is_named = driver.cuFuncGetName(&name, function) == CUDA_SUCCESS && name != nullptr;
  facts.kernel.full_name = is_named ? name : "unnamed kernel";
  int value = 0;
  if (driver.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, function) == CUDA_SUCCESS)
    facts.kernel.registers = static_cast<std::uint32_t>(value);
  if (driver.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function) ==
      CUDA_SUCCESS) {
    facts.kernel.static_shared_bytes = static_cast<std::uint32_t>(value);
  }
  KernelFacts::Parameter parameter;
  while (driver.cuFuncGetParamInfo(function, facts.parameters.size(), &parameter.offset,
                                   &parameter.size) == CUDA_SUCCESS) {
    facts.parameters.push_back(parameter);
    facts.words += parameter.size / sizeof(void*);
  }
  return facts;
}

}  // namespace

std::shared_ptr<const KernelFacts> KernelCache::find(const DriverCalls& driver,
                                                     const CUDA_KERNEL_NODE_PARAMS& p) {
  const void* const handle =
      p.func != nullptr ? static_cast<const void*>(p.func) : static_cast<const void*>(p.kern);
  if (handle == nullptr) return nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = known_.find(handle); found != known_.end()) return found->second;
  }
  const QuietCalls quiet(driver);
  CUfunction function = p.func;
  if (function == nullptr &&
      (driver.cuKernelGetFunction(&function, p.kern) != CUDA_SUCCESS || function == nullptr))
    return nullptr;
  auto facts = std::make_shared<const KernelFacts>(read(driver, function));
  const std::lock_guard lock(mutex_);
  return known_.insert_or_assign(handle, std::move(facts)).first->second;
}

void KernelCache::clear() {
  const std::lock_guard lock(mutex_);
  known_.clear();
}

}  // namespace reprise::detail

#include "backend/cuda/cuda_driver.hpp"

#include <atomic>
#include <string>

#include <reprise/error.hpp>

#include "backend/cuda/cuda_check.hpp"
#include "base/text.hpp"

namespace reprise::detail {
namespace {

std::atomic<const CudaDriver*> loaded_table{nullptr};

void* entry_point(const char* name, unsigned version) {
  void* address = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  const cudaError_t result =
      cudaGetDriverEntryPointByVersion(name, &address, version, cudaEnableDefault, &found);
  if (result == cudaSuccess && found == cudaDriverEntryPointSuccess && address != nullptr)
    return address;
  ErrorDetails details;
  details.code = ErrorCode::DriverTooOld;
  details.stage = Stage::Open;
  details.native_call = "cudaGetDriverEntryPointByVersion";
  details.native_code = result;
  details.native_name = cudaGetErrorName(result);
  cuda_ignore(result);
  throw Error(std::move(details),
              concat("the CUDA driver has no ", name, " of CUDA ", version / 1000, ".",
                     version % 1000 / 10, "; install a newer driver"));
}

CudaDriver load() {
  CudaDriver driver;
#define REPRISE_X(call, version) \
  driver.call = reinterpret_cast<decltype(driver.call)>(entry_point(#call, version));
  REPRISE_GRAPH_CALLS(REPRISE_X)
  REPRISE_CUDA_DRIVER_CALLS(REPRISE_X)
#undef REPRISE_X
  return driver;
}

}  // namespace

const CudaDriver& CudaDriver::get() {
  static const CudaDriver table = load();
  loaded_table.store(&table, std::memory_order_release);
  return table;
}

const CudaDriver* CudaDriver::loaded() noexcept {
  return loaded_table.load(std::memory_order_acquire);
}

}  // namespace reprise::detail

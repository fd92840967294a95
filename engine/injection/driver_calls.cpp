#include "injection/driver_calls.hpp"

#include <dlfcn.h>

#include <memory>

#include "base/text.hpp"

namespace reprise::detail {
namespace {

constexpr char kDriver[] = "libcuda.so.1";
using GetProcAddress = CUresult(CUDAAPI*)(const char*, void**, int, cuuint64_t,
                                          CUdriverProcAddressQueryResult*);

}  // namespace

DriverCalls::Loaded DriverCalls::load() {
  // Never closed: the entry points stay in use.
  void* const driver = ::dlopen(kDriver, RTLD_LAZY | RTLD_NOLOAD);
  if (driver == nullptr) return {nullptr, "the process has not loaded the CUDA driver"};
  const auto get = reinterpret_cast<GetProcAddress>(::dlsym(driver, "cuGetProcAddress_v2"));
  if (get == nullptr) return {nullptr, "the driver is older than CUDA 12"};
  auto calls = std::make_unique<DriverCalls>();
#define REPRISE_X(call, version)                                                             \
  {                                                                                          \
    void* found = nullptr;                                                                   \
    if (get(#call, &found, version, CU_GET_PROC_ADDRESS_DEFAULT, nullptr) != CUDA_SUCCESS || \
        found == nullptr) {                                                                  \
      return {nullptr, "the driver has no " #call};                                          \
    }                                                                                        \
    calls->call = reinterpret_cast<decltype(calls->call)>(found);                            \
  }
  REPRISE_GRAPH_CALLS(REPRISE_X)
  REPRISE_DRIVER_CALLS(REPRISE_X)
#undef REPRISE_X
  return {calls.release(), {}};
}

}  // namespace reprise::detail

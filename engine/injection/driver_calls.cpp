#include "injection/driver_calls.hpp"

#include <dlfcn.h>

#include <memory>

#include "base/text.hpp"

namespace reprise::detail {

DriverSearch driver_search() {
  // Never closed: what is found stays in use.
  void* const driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (driver == nullptr) return {nullptr, "the process has not loaded the CUDA driver"};
  const auto find = reinterpret_cast<GetProcAddress>(::dlsym(driver, "cuGetProcAddress_v2"));
  if (find == nullptr) return {nullptr, "the driver is older than CUDA 12"};
  return {find, {}};
}

DriverCalls::Loaded DriverCalls::load() {
  const DriverSearch search = driver_search();
  if (search.find == nullptr) return {nullptr, search.why_not};
  auto calls = std::make_unique<DriverCalls>();
#define REPRISE_X(call, version)                                                     \
  {                                                                                  \
    void* found = nullptr;                                                           \
    if (search.find(#call, &found, version, CU_GET_PROC_ADDRESS_DEFAULT, nullptr) != \
            CUDA_SUCCESS ||                                                          \
        found == nullptr) {                                                          \
      return {nullptr, "the driver has no " #call};                                  \
    }                                                                                \
    calls->call = reinterpret_cast<decltype(calls->call)>(found);                    \
  }
  REPRISE_GRAPH_CALLS(REPRISE_X)
  REPRISE_DRIVER_CALLS(REPRISE_X)
#undef REPRISE_X
  return {calls.release(), {}};
}

}  // namespace reprise::detail

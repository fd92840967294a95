// The functions that kernels call before each access if they are built with
// REPRISE_CHECKED_KERNELS: those of GCC's -fsanitize=kernel-address. Other code, also with
// AddressSanitizer, calls none of them.
#include <reprise/host_kernel_runtime.hpp>

extern "C" {

#define REPRISE_X(bytes)                                                \
  REPRISE_API void __asan_load##bytes##_noabort(const void* address) {  \
    reprise::host_kernel::check_access(address, bytes, false);          \
  }                                                                     \
  REPRISE_API void __asan_store##bytes##_noabort(const void* address) { \
    reprise::host_kernel::check_access(address, bytes, true);           \
  }
REPRISE_X(1)
REPRISE_X(2)
REPRISE_X(4)
REPRISE_X(8)
REPRISE_X(16)
#undef REPRISE_X
REPRISE_API void __asan_loadN_noabort(const void* address, std::size_t bytes) {
  reprise::host_kernel::check_access(address, bytes, false);
}
REPRISE_API void __asan_storeN_noabort(const void* address, std::size_t bytes) {
  reprise::host_kernel::check_access(address, bytes, true);
}

}  // extern "C"

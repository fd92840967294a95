// The dynamic shared memory of the block that this operating system thread runs. Every
// `extern __shared__` array of a kernel is a name of it (list_kernels.cmake).
#include <reprise/host_kernel_runtime.hpp>

alignas(1024) thread_local constinit unsigned char reprise_dynamic_shared_block
    [reprise::host_kernel::kMaxSharedBytes] = {};

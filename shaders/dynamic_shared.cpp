// The memory of `extern __shared__` arrays on the host device: each is a name of it
// (list_kernels.cmake). A program without such arrays does not link this file, whose thread-local
// memory every thread of a program has from its start.
#include <reprise/host_kernel_runtime.hpp>

using reprise::host_kernel::kMaxSharedBytes, reprise::host_kernel::kSharedAlignment;

alignas(kSharedAlignment) thread_local constinit unsigned char reprise_dynamic_shared_block
    [kMaxSharedBytes] = {};

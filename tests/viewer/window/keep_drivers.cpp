// Keeps graphics drivers loaded until the process ends, so that the leak sanitizer can still reach
// their allocations.
#include <dlfcn.h>

extern "C" int dlclose(void*) noexcept { return 0; }

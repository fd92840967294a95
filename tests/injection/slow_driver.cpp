// A driver whose graph launches take 2 ms, and 3 ms in a program under observation, and whose waits
// take 60 ms; for process_test.py.
#include <cuda.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#undef cuGetProcAddress

extern "C" {

[[gnu::visibility("default")]] CUresult cuGraphLaunch(CUgraphExec, CUstream) {
  ::usleep(std::getenv("CUDA_INJECTION64_PATH") == nullptr ? 2'000 : 3'000);
  return CUDA_SUCCESS;
}

[[gnu::visibility("default")]] CUresult cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream) {
  return cuGraphLaunch(exec, stream);
}

[[gnu::visibility("default")]] CUresult cuCtxSynchronize() {
  ::usleep(60'000);
  return CUDA_SUCCESS;
}

[[gnu::visibility("default")]] CUresult cuGetProcAddress_v2(const char* name, void** found, int,
                                                            cuuint64_t flags,
                                                            CUdriverProcAddressQueryResult*) {
  *found = nullptr;
  if (std::strcmp(name, "cuGetProcAddress") == 0)
    *found = reinterpret_cast<void*>(&cuGetProcAddress_v2);
  if (std::strcmp(name, "cuGraphLaunch") == 0)
    *found = reinterpret_cast<void*>(flags == 0 ? &cuGraphLaunch : &cuGraphLaunch_ptsz);
  return *found == nullptr ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}

}  // extern "C"

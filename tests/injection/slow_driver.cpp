// A driver whose graph launches take 2 ms, and 3 ms in a program under observation, and whose waits
// take 60 ms; it instantiates one executable, and refuses other calls. For process_test.py.
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

[[gnu::visibility("default")]] CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph,
                                                                    unsigned long long) {
  *exec = reinterpret_cast<CUgraphExec>(0xe0e0e0);
  return CUDA_SUCCESS;
}

[[gnu::visibility("default")]] CUresult cuInit(unsigned) { return CUDA_SUCCESS; }

static CUresult refuse() { return CUDA_ERROR_NOT_SUPPORTED; }

[[gnu::visibility("default")]] CUresult cuGetProcAddress_v2(const char* name, void** found, int,
                                                            cuuint64_t flags,
                                                            CUdriverProcAddressQueryResult*) {
  if (std::strncmp(name, "cu", 2) != 0) return *found = nullptr, CUDA_ERROR_NOT_FOUND;
  *found = reinterpret_cast<void*>(&refuse);
  if (std::strcmp(name, "cuGetProcAddress") == 0)
    *found = reinterpret_cast<void*>(&cuGetProcAddress_v2);
  if (std::strcmp(name, "cuGraphLaunch") == 0)
    *found = reinterpret_cast<void*>(flags == 0 ? &cuGraphLaunch : &cuGraphLaunch_ptsz);
  if (std::strcmp(name, "cuInit") == 0) *found = reinterpret_cast<void*>(&cuInit);
  if (std::strcmp(name, "cuGraphInstantiate") == 0)
    *found = reinterpret_cast<void*>(&cuGraphInstantiateWithFlags);
  return CUDA_SUCCESS;
}

}  // extern "C"

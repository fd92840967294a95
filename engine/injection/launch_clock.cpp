// The launch clock of `reprise run --measure-cost`: records when a program launches its graphs,
// without CUPTI, so that runs with and without observation can be compared. It is an auditing
// library of the dynamic linker (LD_AUDIT, see rtld-audit(7)): the program's bindings to
// cuGraphLaunch lead here, which costs a launch one read of the clock. $REPRISE_LAUNCH_CLOCK is a
// folder; each process that launches graphs writes the file named by its process id: the number of
// launches, then the time of each in ns, as 64-bit integers. Threads: any.
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <cuda.h>

namespace {

using GetProcAddress = CUresult (*)(const char*, void**, int, cuuint64_t);
using GetProcAddressV2 = CUresult (*)(const char*, void**, int, cuuint64_t,
                                      CUdriverProcAddressQueryResult*);
using GraphLaunch = CUresult (*)(CUgraphExec, CUstream);

std::atomic<GetProcAddress> get_proc_address{nullptr};
std::atomic<GetProcAddressV2> get_proc_address_v2{nullptr};
std::atomic<GraphLaunch> graph_launch{nullptr}, graph_launch_ptsz{nullptr};

constexpr std::uint64_t kLaunches = 1u << 21;
constexpr std::size_t kBytes = (kLaunches + 1) * sizeof(std::uint64_t);

// The file of this process; null if it cannot be written. A forked child gets its own.
std::uint64_t* open_file() {
  const char* const folder = ::secure_getenv("REPRISE_LAUNCH_CLOCK");
  if (folder == nullptr) return nullptr;
  char path[4096];
  std::snprintf(path, sizeof(path), "%s/%d", folder, static_cast<int>(::getpid()));
  const int file = ::open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return nullptr;
  void* const memory = ::ftruncate(file, static_cast<off_t>(kBytes)) == 0
                           ? ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
                           : MAP_FAILED;
  ::close(file);
  return memory == MAP_FAILED ? nullptr : static_cast<std::uint64_t*>(memory);
}

void record_launch() {
  static std::uint64_t* const words = open_file();
  if (words == nullptr) return;
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const std::uint64_t at = std::atomic_ref(words[0]).fetch_add(1, std::memory_order_relaxed);
  if (at < kLaunches)
    words[1 + at] = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
                    static_cast<std::uint64_t>(now.tv_nsec);
}

CUresult launch(CUgraphExec exec, CUstream stream) {
  record_launch();
  return graph_launch.load(std::memory_order_relaxed)(exec, stream);
}

CUresult launch_ptsz(CUgraphExec exec, CUstream stream) {
  record_launch();
  return graph_launch_ptsz.load(std::memory_order_relaxed)(exec, stream);
}

CUresult find(const char* name, void** found, int version, cuuint64_t flags);
CUresult find_v2(const char* name, void** found, int version, cuuint64_t flags,
                 CUdriverProcAddressQueryResult* status);

// The function to call instead of the driver's `real`.
template <class Function>
void* replaced(std::atomic<Function>& original, void* real, Function by) {
  original.store(reinterpret_cast<Function>(real), std::memory_order_relaxed);
  return reinterpret_cast<void*>(by);
}

void* replacement(const char* name, void* real, bool is_per_thread) {
  if (real == nullptr) return real;
  if (std::strcmp(name, "cuGraphLaunch_ptsz") == 0 ||
      (is_per_thread && std::strcmp(name, "cuGraphLaunch") == 0))
    return replaced(graph_launch_ptsz, real, &launch_ptsz);
  if (std::strcmp(name, "cuGraphLaunch") == 0) return replaced(graph_launch, real, &launch);
  if (std::strcmp(name, "cuGetProcAddress_v2") == 0)
    return replaced(get_proc_address_v2, real, &find_v2);
  if (std::strcmp(name, "cuGetProcAddress") == 0) return replaced(get_proc_address, real, &find);
  return real;
}

// cuGetProcAddress() returns the newest function up to `version` for a name without suffix.
void replace(const char* name, void** found, int version, cuuint64_t flags) {
  if (found == nullptr) return;
  constexpr int kVersionOfV2 = 12000;
  const bool is_v2 = std::strcmp(name, "cuGetProcAddress") == 0 && version >= kVersionOfV2;
  *found = replacement(is_v2 ? "cuGetProcAddress_v2" : name, *found,
                       (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0);
}

CUresult find(const char* name, void** found, int version, cuuint64_t flags) {
  const CUresult result =
      get_proc_address.load(std::memory_order_relaxed)(name, found, version, flags);
  if (result == CUDA_SUCCESS) replace(name, found, version, flags);
  return result;
}

CUresult find_v2(const char* name, void** found, int version, cuuint64_t flags,
                 CUdriverProcAddressQueryResult* status) {
  const CUresult result =
      get_proc_address_v2.load(std::memory_order_relaxed)(name, found, version, flags, status);
  if (result == CUDA_SUCCESS) replace(name, found, version, flags);
  return result;
}

}  // namespace

extern "C" {

[[gnu::visibility("default")]] unsigned la_version(unsigned version) { return version; }

[[gnu::visibility("default")]] unsigned la_objopen(link_map* object, Lmid_t, std::uintptr_t*) {
  const char* const slash = std::strrchr(object->l_name, '/');
  const char* const name = slash == nullptr ? object->l_name : slash + 1;
  return std::strncmp(name, "libcuda.so", 10) == 0 ? LA_FLG_BINDTO : LA_FLG_BINDFROM;
}

[[gnu::visibility("default")]] std::uintptr_t la_symbind64(Elf64_Sym* symbol, unsigned,
                                                           std::uintptr_t*, std::uintptr_t*,
                                                           unsigned*, const char* name) {
  return reinterpret_cast<std::uintptr_t>(
      replacement(name, reinterpret_cast<void*>(symbol->st_value), false));
}

}  // extern "C"

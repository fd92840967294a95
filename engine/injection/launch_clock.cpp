// The launch clock of `reprise run --measure-cost`: records when a program launches its graphs and
// waits for them, without CUPTI, so that runs with and without observation can be compared. It is
// an auditing library of the dynamic linker (LD_AUDIT, see rtld-audit(7)): the program's bindings
// to these calls of the driver lead here, which costs a call one or two reads of the clock.
// $REPRISE_RUN_CLOCK is a folder; each process writes the file named by its process id: the
// number of moments, then the time of each in ns, as 64-bit integers, whose two highest bits are
// its kind: 0 before a launch, 1 before a wait, 2 after it. Threads: any.
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
#include <iterator>

#include <cuda.h>

namespace {

constexpr std::uint64_t kTimes = 1u << 21;
constexpr int kKindBit = 62;
constexpr std::size_t kBytes = (kTimes + 1) * sizeof(std::uint64_t);

// The file of this process; null if it cannot be written. A child that is forked before the first
// launch or wait gets its own; CUDA cannot be used in later ones.
std::uint64_t* open_file() {
  const char* const folder = ::secure_getenv("REPRISE_RUN_CLOCK");
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

enum class Moment : std::uint64_t { BeforeLaunch, BeforeWait, AfterWait };

void record(Moment moment) {
  static std::uint64_t* const words = open_file();
  if (words == nullptr) return;
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const std::uint64_t at = std::atomic_ref(words[0]).fetch_add(1, std::memory_order_relaxed);
  if (at >= kTimes) return;
  words[1 + at] = (static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
                   static_cast<std::uint64_t>(now.tv_nsec)) |
                  static_cast<std::uint64_t>(moment) << kKindBit;
}

// The driver's function of each call that leads here, by the place in kCalls.
std::atomic<void*> originals[16];

template <int place, Moment moment, class... Parameters>
CUresult call(Parameters... parameters) {
  using Function = CUresult (*)(Parameters...);
  const auto original =
      reinterpret_cast<Function>(originals[place].load(std::memory_order_relaxed));
  record(moment);
  const CUresult result = original(parameters...);
  if (moment == Moment::BeforeWait) record(Moment::AfterWait);
  return result;
}

void replace(const char* name, void** found, int version, cuuint64_t flags);

template <int place, class... Status>
CUresult find(const char* name, void** found, int version, cuuint64_t flags, Status... status) {
  using Function = CUresult (*)(const char*, void**, int, cuuint64_t, Status...);
  const auto original =
      reinterpret_cast<Function>(originals[place].load(std::memory_order_relaxed));
  const CUresult result = original(name, found, version, flags, status...);
  if (result == CUDA_SUCCESS) replace(name, found, version, flags);
  return result;
}

struct Call {
  const char* name;
  void* here;
};

template <class Function>
void* address(Function* function) {
  return reinterpret_cast<void*>(function);
}

const Call kCalls[] = {
    {"cuGraphLaunch", address(&call<0, Moment::BeforeLaunch, CUgraphExec, CUstream>)},
    {"cuGraphLaunch_ptsz", address(&call<1, Moment::BeforeLaunch, CUgraphExec, CUstream>)},
    {"cuStreamSynchronize", address(&call<2, Moment::BeforeWait, CUstream>)},
    {"cuStreamSynchronize_ptsz", address(&call<3, Moment::BeforeWait, CUstream>)},
    {"cuEventSynchronize", address(&call<4, Moment::BeforeWait, CUevent>)},
    {"cuCtxSynchronize", address(&call<5, Moment::BeforeWait>)},
    {"cuGetProcAddress", address(&find<6>)},
    {"cuGetProcAddress_v2", address(&find<7, CUdriverProcAddressQueryResult*>)},
};
static_assert(std::size(kCalls) <= std::size(originals));

// The function that the program calls instead of the driver's `original`.
void* replacement(const char* name, void* original) {
  for (std::size_t i = 0; original != nullptr && i < std::size(kCalls); ++i) {
    if (std::strcmp(name, kCalls[i].name) != 0) continue;
    originals[i].store(original, std::memory_order_relaxed);
    return kCalls[i].here;
  }
  return original;
}

// cuGetProcAddress() finds the variant of a function by version and flags, not by its suffix.
void replace(const char* name, void** found, int version, cuuint64_t flags) {
  if (found == nullptr) return;
  constexpr int kVersionOfV2 = 12000;
  char whole[64];
  const char* suffix = "";
  if (std::strcmp(name, "cuGetProcAddress") == 0 && version >= kVersionOfV2) suffix = "_v2";
  if ((std::strcmp(name, "cuGraphLaunch") == 0 || std::strcmp(name, "cuStreamSynchronize") == 0) &&
      (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0)
    suffix = "_ptsz";
  std::snprintf(whole, sizeof(whole), "%s%s", name, suffix);
  *found = replacement(whole, *found);
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
      replacement(name, reinterpret_cast<void*>(symbol->st_value)));
}

}  // extern "C"

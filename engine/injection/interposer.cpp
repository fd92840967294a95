// The interposer: an auditing library of the dynamic linker (LD_AUDIT, see rtld-audit(7)). The
// program's bindings to calls of the driver lead here, without CUPTI. It has two uses:
// - The launch clock of `reprise run --measure-cost` records when a program launches its graphs and
//   waits for them, so that runs with and without observation can be compared; it costs a call one
//   or two reads of the clock. $REPRISE_RUN_CLOCK is a folder; each process writes the file named
//   by its process id: the number of moments, then the time of each in ns, as 64-bit integers,
//   whose two highest bits are its kind: 0 before a launch, 1 before a wait, 2 after it.
// - For GPU core dumps, which the driver writes neither beside CUPTI nor for a program with
//   $CUDA_INJECTION64_PATH, it loads the observing library when the program initialises CUDA, and
//   leads the calls to its hook (interposer.hpp).
// Threads: any.

#include "injection/interposer.hpp"

#include <cudaTypedefs.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>

namespace {

using reprise::detail::CallHook;

// --- The clock ---

constexpr std::uint64_t kTimes = 1u << 21;
constexpr int kKindBit = 62;
constexpr std::size_t kBytes = (kTimes + 1) * sizeof(std::uint64_t);
constexpr char kClock[] = "REPRISE_RUN_CLOCK";

// The file of this process; null if it cannot be written. A child that is forked before the first
// launch or wait gets its own; CUDA cannot be used in later ones.
std::uint64_t* open_file() {
  const char* const folder = ::secure_getenv(kClock);
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

constexpr bool is_launch(CUpti_CallbackId call) {
  return call == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch ||
         call == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz;
}

constexpr bool is_timed_wait(CUpti_CallbackId call) {
  return call == CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize ||
         call == CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize_ptsz ||
#if CUDA_VERSION >= 13000
         call == CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize_v2 ||
#endif
         call == CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize ||
         call == CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize;
}

void tell_clock(void*, CUpti_CallbackId call, const void*, const CUresult* result) {
  if (is_timed_wait(call)) {
    record(result == nullptr ? Moment::BeforeWait : Moment::AfterWait);
  } else if (result == nullptr) {
    record(Moment::BeforeLaunch);
  }
}

// --- The observing library ---

// Set again to the same values in programs whose launches are timed.
std::atomic<CallHook> the_hook{nullptr};
std::atomic<void*> of_hook{nullptr};

void set_call_hook(CallHook hook, void* self) {
  of_hook.store(self, std::memory_order_relaxed);
  the_hook.store(hook, std::memory_order_release);
}

// Reports to `reprise run` why there is no trace.
void report(const char* text) {
  const char* const path = ::secure_getenv("REPRISE_RUN_ERRORS");
  const int pipe = path == nullptr ? -1 : ::open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  if (pipe < 0) return;
  char line[1024];
  const int size =
      std::snprintf(line, sizeof(line), "cannot load the observing library: %s\n", text);
  static_cast<void>(::write(pipe, line, std::min<std::size_t>(size, sizeof(line) - 1)));
  ::close(pipe);
}

// Into the program's namespace; this library has one of its own.
bool load_observer() {
  const char* const path = ::secure_getenv(reprise::detail::kRunLibrary);
  if (path == nullptr) return false;
  void* const library = ::dlmopen(LM_ID_BASE, path, RTLD_NOW | RTLD_LOCAL);
  void* const begin = library == nullptr ? nullptr : ::dlsym(library, "InitializeInjection");
  if (begin == nullptr) return report(::dlerror()), false;
  return reinterpret_cast<int (*)()>(begin)() != 0;
}

// --- The calls ---

struct cuCtxSynchronize_params {};  // CUPTI has none, since the call has no parameters

template <CUpti_CallbackId id, class Parameters, class Function>
struct Call;
template <CUpti_CallbackId id, class Parameters, class... Arguments>
struct Call<id, Parameters, CUresult(Arguments...)> {
  static inline std::atomic<void*> original{nullptr};  // the driver's function

  static CUresult here(Arguments... arguments) {
    const auto next =
        reinterpret_cast<CUresult (*)(Arguments...)>(original.load(std::memory_order_relaxed));
    if constexpr (id == CUPTI_DRIVER_TRACE_CBID_cuInit) {
      const CUresult result = next(arguments...);
      if (result == CUDA_SUCCESS) {
        static const bool is_loaded = load_observer();
        static_cast<void>(is_loaded);
      }
      return result;
    }
    const CallHook hook = the_hook.load(std::memory_order_acquire);
    if (hook == nullptr) return next(arguments...);
    void* const self = of_hook.load(std::memory_order_relaxed);
    const Parameters parameters{arguments...};
    hook(self, id, &parameters, nullptr);
    const CUresult result = next(arguments...);
    hook(self, id, &parameters, &result);
    return result;
  }
};

// X(symbol, the name that cuGetProcAddress() finds it by, since this CUDA version): what the
// callbacks of ProgramCallbacks need, and calls that create and destroy nodes and executables.
// Calls that only CUDA 11 and older versions use are left out.
#define REPRISE_INTERPOSED_CALLS(X)                                           \
  X(cuInit, cuInit, 2000)                                                     \
  X(cuGraphLaunch, cuGraphLaunch, 10000)                                      \
  X(cuStreamSynchronize, cuStreamSynchronize, 2000)                           \
  X(cuEventSynchronize, cuEventSynchronize, 2000)                             \
  X(cuCtxSynchronize, cuCtxSynchronize, 2000)                                 \
  X(cuMemcpyDtoH_v2, cuMemcpyDtoH, 3020)                                      \
  X(cuMemcpyDtoHAsync_v2, cuMemcpyDtoHAsync, 3020)                            \
  X(cuStreamBeginCapture_v2, cuStreamBeginCapture, 10010)                     \
  X(cuStreamBeginCaptureToGraph, cuStreamBeginCaptureToGraph, 12030)          \
  X(cuStreamEndCapture, cuStreamEndCapture, 10000)                            \
  X(cuStreamDestroy_v2, cuStreamDestroy, 4000)                                \
  X(cuLaunchKernel, cuLaunchKernel, 4000)                                     \
  X(cuLaunchKernelEx, cuLaunchKernelEx, 11060)                                \
  X(cuLaunchCooperativeKernel, cuLaunchCooperativeKernel, 9000)               \
  X(cuGraphAddKernelNode, cuGraphAddKernelNode, 10000)                        \
  X(cuGraphAddKernelNode_v2, cuGraphAddKernelNode, 12000)                     \
  X(cuGraphAddNode, cuGraphAddNode, 12020)                                    \
  X(cuGraphAddNode_v2, cuGraphAddNode, 12030)                                 \
  X(cuGraphInstantiateWithFlags, cuGraphInstantiateWithFlags, 11040)          \
  X(cuGraphInstantiateWithParams, cuGraphInstantiateWithParams, 12000)        \
  X(cuGraphUpload, cuGraphUpload, 11010)                                      \
  X(cuGraphExecUpdate, cuGraphExecUpdate, 10020)                              \
  X(cuGraphExecUpdate_v2, cuGraphExecUpdate, 12000)                           \
  X(cuGraphExecKernelNodeSetParams, cuGraphExecKernelNodeSetParams, 10010)    \
  X(cuGraphExecKernelNodeSetParams_v2, cuGraphExecKernelNodeSetParams, 12000) \
  X(cuGraphExecMemcpyNodeSetParams, cuGraphExecMemcpyNodeSetParams, 10020)    \
  X(cuGraphExecMemsetNodeSetParams, cuGraphExecMemsetNodeSetParams, 10020)    \
  X(cuGraphExecNodeSetParams, cuGraphExecNodeSetParams, 12020)                \
  X(cuGraphNodeSetEnabled, cuGraphNodeSetEnabled, 11060)                      \
  X(cuGraphExecDestroy, cuGraphExecDestroy, 10000)                            \
  X(cuGraphDestroy, cuGraphDestroy, 10000)                                    \
  X(cuGraphDestroyNode, cuGraphDestroyNode, 10000)                            \
  X(cuModuleUnload, cuModuleUnload, 2000)                                     \
  X(cuLibraryUnload, cuLibraryUnload, 12000)                                  \
  X(cuCtxDestroy_v2, cuCtxDestroy, 4000)                                      \
  X(cuDevicePrimaryCtxReset_v2, cuDevicePrimaryCtxReset, 11000)               \
  X(cuDevicePrimaryCtxRelease_v2, cuDevicePrimaryCtxRelease, 11000)           \
  X(cuMemAlloc_v2, cuMemAlloc, 3020)                                          \
  X(cuMemAllocPitch_v2, cuMemAllocPitch, 3020)                                \
  X(cuMemAllocManaged, cuMemAllocManaged, 6000)                               \
  X(cuMemFree_v2, cuMemFree, 3020)                                            \
  X(cuMemAllocAsync, cuMemAllocAsync, 11020)                                  \
  X(cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync, 11020)                  \
  X(cuMemFreeAsync, cuMemFreeAsync, 11020)                                    \
  X(cuMemMap, cuMemMap, 10020)                                                \
  X(cuMemUnmap, cuMemUnmap, 10020)                                            \
  X(cuMemHostAlloc, cuMemHostAlloc, 2020)                                     \
  X(cuMemAllocHost_v2, cuMemAllocHost, 3020)                                  \
  X(cuMemFreeHost, cuMemFreeHost, 2000)
// Those with a variant for per-thread streams.
#define REPRISE_PER_THREAD_CALLS(X)                                    \
  X(cuGraphLaunch, cuGraphLaunch, 10000)                               \
  X(cuStreamSynchronize, cuStreamSynchronize, 7000)                    \
  X(cuMemcpyDtoHAsync_v2, cuMemcpyDtoHAsync, 7000)                     \
  X(cuStreamBeginCapture_v2, cuStreamBeginCapture, 10010)              \
  X(cuStreamBeginCaptureToGraph, cuStreamBeginCaptureToGraph, 12030)   \
  X(cuStreamEndCapture, cuStreamEndCapture, 10000)                     \
  X(cuLaunchKernel, cuLaunchKernel, 7000)                              \
  X(cuLaunchKernelEx, cuLaunchKernelEx, 11060)                         \
  X(cuLaunchCooperativeKernel, cuLaunchCooperativeKernel, 9000)        \
  X(cuGraphInstantiateWithParams, cuGraphInstantiateWithParams, 12000) \
  X(cuGraphUpload, cuGraphUpload, 11010)                               \
  X(cuMemAllocAsync, cuMemAllocAsync, 11020)                           \
  X(cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync, 11020)           \
  X(cuMemFreeAsync, cuMemFreeAsync, 11020)

enum class DefaultStream { Legacy, PerThread };

struct InterposedCall {
  const char* symbol;
  const char* name;
  int since;
  DefaultStream stream;
  CUpti_CallbackId id;
  void* here;
  std::atomic<void*>* original;
};

template <class Function>
void* address(Function* function) {
  return reinterpret_cast<void*>(function);
}

template <CUpti_CallbackId id, class Parameters, class Pointer>
InterposedCall entry(const char* symbol, const char* name, int since, DefaultStream stream) {
  using Interposed = Call<id, Parameters, std::remove_pointer_t<Pointer>>;
  return {symbol, name, since, stream, id, address(&Interposed::here), &Interposed::original};
}

#define REPRISE_X(symbol, name, since)                                             \
  entry<CUPTI_DRIVER_TRACE_CBID_##symbol, symbol##_params, PFN_##name##_v##since>( \
      #symbol, #name, since, DefaultStream::Legacy),
#define REPRISE_PER_THREAD_X(symbol, name, since)                      \
  entry<CUPTI_DRIVER_TRACE_CBID_##symbol##_ptsz, symbol##_ptsz_params, \
        PFN_##name##_v##since##_ptsz>(#symbol "_ptsz", #name, since, DefaultStream::PerThread),
const InterposedCall kCalls[] = {
    REPRISE_INTERPOSED_CALLS(REPRISE_X) REPRISE_PER_THREAD_CALLS(REPRISE_PER_THREAD_X)
#if CUDA_VERSION >= 13000
        REPRISE_X(cuCtxSynchronize_v2, cuCtxSynchronize, 13000)
#endif
    // The name since CUDA 12 of a call that keeps its symbol.
    entry<CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags, cuGraphInstantiateWithFlags_params,
          PFN_cuGraphInstantiateWithFlags_v11040>(
        "cuGraphInstantiateWithFlags", "cuGraphInstantiate", 12000, DefaultStream::Legacy)};
#undef REPRISE_PER_THREAD_X
#undef REPRISE_X

// --- Bindings ---

// The function that the program calls instead of the driver's `original`.
void* replacement(const InterposedCall& call, void* original) {
  static const bool is_clock = ::secure_getenv(kClock) != nullptr;
  if (is_clock) {
    if (!is_launch(call.id) && !is_timed_wait(call.id)) return original;
    set_call_hook(&tell_clock, nullptr);
  }
  call.original->store(original, std::memory_order_relaxed);
  return call.here;
}

void* replacement(const char* symbol, void* original);

// The call that cuGetProcAddress() finds: the newest version that is not newer than `version`, and
// its variant for per-thread streams if the flags ask for it. Null: none that is known here.
const InterposedCall* find_call(const char* name, int version, cuuint64_t flags) {
  const InterposedCall* best = nullptr;
  const DefaultStream wanted = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0
                                   ? DefaultStream::PerThread
                                   : DefaultStream::Legacy;
  for (const InterposedCall& call : kCalls) {
    if (std::strcmp(name, call.name) != 0 || version < call.since) continue;
    if (call.stream == DefaultStream::PerThread && wanted == DefaultStream::Legacy) continue;
    const bool is_better = best == nullptr || call.since > best->since ||
                           (call.since == best->since && call.stream == wanted);
    if (is_better) best = &call;
  }
  return best;
}

template <class... Status>
struct Find {
  static inline std::atomic<void*> original{nullptr};

  static CUresult here(const char* name, void** found, int version, cuuint64_t flags,
                       Status... status) {
    using Function = CUresult (*)(const char*, void**, int, cuuint64_t, Status...);
    const auto find = reinterpret_cast<Function>(original.load(std::memory_order_relaxed));
    if (name != nullptr && found != nullptr &&
        std::strcmp(name, reprise::detail::kSetCallHook) == 0) {
      *found = address(&set_call_hook);
      return CUDA_SUCCESS;
    }
    const CUresult result = find(name, found, version, flags, status...);
    if (result != CUDA_SUCCESS || found == nullptr || *found == nullptr) return result;
    if (std::strcmp(name, "cuGetProcAddress") == 0) {
      constexpr int kVersionOfV2 = 12000;
      *found = replacement(version >= kVersionOfV2 ? "cuGetProcAddress_v2" : name, *found);
    } else if (const InterposedCall* const call = find_call(name, version, flags)) {
      // A newer version than the ones known here may have other parameters.
      void* known = nullptr;
      if (find(name, &known, call->since, flags, (static_cast<void>(status), Status{})...) ==
              CUDA_SUCCESS &&
          known == *found)
        *found = replacement(*call, *found);
    }
    return result;
  }
};

void* replacement(const char* symbol, void* original) {
  if (original == nullptr) return original;
  using FindV1 = Find<>;
  using FindV2 = Find<CUdriverProcAddressQueryResult*>;
  if (std::strcmp(symbol, "cuGetProcAddress") == 0) {
    FindV1::original.store(original, std::memory_order_relaxed);
    return address(&FindV1::here);
  }
  if (std::strcmp(symbol, "cuGetProcAddress_v2") == 0) {
    FindV2::original.store(original, std::memory_order_relaxed);
    return address(&FindV2::here);
  }
  for (const InterposedCall& call : kCalls) {
    if (std::strcmp(symbol, call.symbol) == 0) return replacement(call, original);
  }
  return original;
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

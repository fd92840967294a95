#include "collectives/nccl_library.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <mutex>
#include <string_view>

#include "base/failure.hpp"
#include "base/text.hpp"

namespace reprise::detail {
namespace {

constexpr const char* kName = "libnccl.so.2";
constexpr const char* kRegistration = "NCCL_GRAPH_REGISTER";
constexpr int kMinVersion = 21900;
constexpr NcclLibrary::Result kRemoteError = 6;

[[noreturn]] void missing(const std::string& why) {
  fail(ErrorCode::LibraryMissing, Stage::Open, kName,
       concat("collectives between GPUs need NCCL >= 2.19, and ", why,
              "; install it (apt-get install libnccl2, or pip install nvidia-nccl-cu13), with its "
              "folder in LD_LIBRARY_PATH if the dynamic linker does not look there"));
}

template <class Function>
void find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  if (function == nullptr) missing(concat(kName, " has no ", name));
}

}  // namespace

NcclLibrary NcclLibrary::open(const char* name) {
  void* library = dlopen(name, RTLD_NOW | RTLD_NOLOAD);  // the application's, where it has one
  if (library == nullptr) {
    setenv("NCCL_GRAPH_MIXING_SUPPORT", "0", 0);
    setenv(kRegistration, "0", 0);
    library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  if (library == nullptr) {
    const char* const error = dlerror();
    missing(error == nullptr ? std::string("it cannot be opened") : std::string(error));
  }
  NcclLibrary made{};
  NcclLibrary::Result (*get_version)(int*) = nullptr;
  find(library, "ncclGetVersion", get_version);
  static_cast<void>(get_version(&made.version));
  if (made.version < kMinVersion) missing(concat(name, " has version ", made.version));
  Dl_info info = {};
  if (dladdr(reinterpret_cast<const void*>(get_version), &info) != 0) made.path = info.dli_fname;
  find(library, "ncclGetErrorString", made.get_error_string);
  find(library, "ncclGetLastError", made.get_last_error);
  find(library, "ncclGetUniqueId", made.get_unique_id);
  find(library, "ncclCommInitRank", made.comm_init_rank);
  find(library, "ncclCommSplit", made.comm_split);
  find(library, "ncclCommDestroy", made.comm_destroy);
  find(library, "ncclCommAbort", made.comm_abort);
  find(library, "ncclCommGetAsyncError", made.comm_get_async_error);
  find(library, "ncclCommCount", made.comm_count);
  find(library, "ncclCommUserRank", made.comm_user_rank);
  find(library, "ncclCommCuDevice", made.comm_cu_device);
  find(library, "ncclGroupStart", made.group_start);
  find(library, "ncclGroupEnd", made.group_end);
  find(library, "ncclAllReduce", made.all_reduce);
  find(library, "ncclReduce", made.reduce);
  find(library, "ncclBroadcast", made.broadcast);
  find(library, "ncclAllGather", made.all_gather);
  find(library, "ncclReduceScatter", made.reduce_scatter);
  find(library, "ncclSend", made.send);
  find(library, "ncclRecv", made.receive);
  return made;
}

const NcclLibrary& NcclLibrary::get() {
  static const NcclLibrary library = open(kName);
  return library;
}

void NcclLibrary::require_no_registration() {
  const char* const registers = std::getenv(kRegistration);
  if (registers != nullptr && std::string_view(registers) == "0") return;
  fail(ErrorCode::Unsupported, Stage::Open, kRegistration,
       concat(
           "NCCL would register the buffers of graphs, which all ranks have to do together, while "
           "each rank may rebind, profile and trim its graphs alone; set ",
           kRegistration, "=0 when the program starts"));
}

void NcclLibrary::check(Result result, const char* call, ncclComm* communicator,
                        Stage stage) const {
  if (result == 0 || result == kInProgress) return;
  ErrorDetails details;
  details.code = result == kRemoteError ? ErrorCode::RankLost : ErrorCode::NativeFailure;
  details.stage = stage;
  details.native_call = call;
  details.native_code = result;
  details.native_name = get_error_string(result);
  const char* const last = get_last_error(communicator);
  throw Error(std::move(details),
              concat(call, " failed: ", get_error_string(result),
                     last == nullptr || *last == '\0' ? "" : concat(" (", last, ")")));
}

int nccl_type(ElementType type) noexcept {
  switch (type) {
    case ElementType::I8: return 0;
    case ElementType::U8: return 1;
    case ElementType::I32: return 2;
    case ElementType::U32: return 3;
    case ElementType::I64: return 4;
    case ElementType::U64: return 5;
    case ElementType::F16: return 6;
    case ElementType::F32: return 7;
    case ElementType::F64: return 8;
    case ElementType::BF16: return 9;
  }
  return 0;
}

int nccl_operator(ReduceOperator reduce) noexcept {
  switch (reduce) {
    case ReduceOperator::Sum: return 0;
    case ReduceOperator::Product: return 1;
    case ReduceOperator::Max: return 2;
    case ReduceOperator::Min: return 3;
    case ReduceOperator::Average: return 4;
  }
  return 0;
}

}  // namespace reprise::detail

#include "profile/activity/cupti_library.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>

#include "base/text.hpp"

namespace reprise::detail {
namespace {

constexpr std::uint32_t kMinVersion = 26;  // CUDA 12.8; versions from 13.0 on have six digits
constexpr const char* kNames[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
constexpr const char* kFolders[] = {"", "/usr/local/cuda/lib64/",
                                    "/usr/local/cuda/extras/CUPTI/lib64/",
                                    "/usr/local/cuda/targets/x86_64-linux/lib/"};

struct CloseLibrary {
  void operator()(void* handle) const { ::dlclose(handle); }
};

}  // namespace

CuptiLibrary::Search CuptiLibrary::default_search() {
  const char* const wanted = ::secure_getenv("REPRISE_CUPTI");
  if (wanted != nullptr && *wanted != '\0') {
    if (std::string_view(wanted) == "off") return {};
    return {{wanted}};
  }
  Search search;
  for (const char* folder : kFolders) {
    for (const char* name : kNames) search.names.push_back(concat(folder, name));
  }
  return search;
}

CuptiLibrary::Loaded CuptiLibrary::load(const Search& search) {
  if (search.names.empty()) return {nullptr, "REPRISE_CUPTI is off"};
  std::unique_ptr<void, CloseLibrary> handle;
  for (const std::string& name : search.names) {
    handle.reset(::dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD));
    if (!handle) continue;
    if (search.present == Search::Present::Shared) break;
    return {nullptr,
            concat("the process has loaded ", name,
                   " already: another profiler or library uses CUPTI, which supports one client")};
  }
  std::string why;
  for (const std::string& name : search.names) {
    if (handle) break;
    handle.reset(::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL));
    if (!handle && why.empty()) why = ::dlerror();
  }
  if (!handle)
    return {nullptr, concat("libcupti, a part of the CUDA toolkit, was not found (", why,
                            "); set REPRISE_CUPTI to its path")};
  std::string refused;
  const std::optional<CuptiLibrary> library = resolve(handle.get(), refused);
  if (!library) return {nullptr, std::move(refused)};
  auto kept = std::make_unique<const CuptiLibrary>(*library);
  static_cast<void>(handle.release());
  return {kept.release(), {}};
}

std::optional<CuptiLibrary> CuptiLibrary::resolve(void* handle, std::string& why_not) {
  CuptiLibrary library;
#define REPRISE_X(call, symbol)                                                      \
  library.call = reinterpret_cast<decltype(library.call)>(::dlsym(handle, #symbol)); \
  if (library.call == nullptr) {                                                     \
    why_not = "libcupti has no " #symbol;                                            \
    return std::nullopt;                                                             \
  }
  REPRISE_CUPTI_CALLS(REPRISE_X)
#undef REPRISE_X
  std::uint32_t version = 0;
  if (library.get_version(&version) != CUPTI_SUCCESS || version < kMinVersion) {
    why_not = concat("libcupti is too old: API version ", version,
                     "; the minimum is that of CUDA 12.8, ", kMinVersion);
    return std::nullopt;
  }
  return library;
}

std::string CuptiLibrary::describe_error(const char* call, CUptiResult result) const {
  const char* text = nullptr;
  if (result_string(result, &text) != CUPTI_SUCCESS || text == nullptr) text = "unknown result";
  switch (result) {
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
    case CUPTI_ERROR_MAX_LIMIT_REACHED:
      return concat("another profiler already uses CUPTI in this process (", call, ": ", text, ")");
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return concat("this user has no permission to profile GPUs (", call, ": ", text,
                    "); an administrator can grant it");
    default: return concat(call, ": ", text);
  }
}

}  // namespace reprise::detail

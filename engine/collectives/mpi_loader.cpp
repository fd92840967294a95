#include "collectives/mpi_loader.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/failure.hpp"
#include "base/text.hpp"

namespace reprise::detail {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFileName = "libreprise_mpi.so";

// The folder of the library or program that contains this function.
[[nodiscard]] fs::path own_folder() {
  ::Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&own_folder), &info) == 0) return {};
  std::error_code failed;
  // A program that was found in PATH has no folder in its name.
  const std::string_view name = info.dli_fname;
  const bool has_folder = name.find('/') != std::string_view::npos;
  return fs::canonical(has_folder ? fs::path(name) : fs::path("/proc/self/exe"), failed)
      .parent_path();
}

[[nodiscard]] std::vector<fs::path> candidates() {
  std::vector<fs::path> files;
#ifdef REPRISE_MODULE_DIR
  files.push_back(fs::path(REPRISE_MODULE_DIR) / kFileName);
#endif
  if (const fs::path folder = own_folder(); !folder.empty()) {
    for (const char* below : {"", "reprise", "../lib/reprise"})
      files.push_back(folder / below / kFileName);
  }
  return files;
}

[[noreturn]] void fail_missing(const std::string& why) {
  fail(ErrorCode::LibraryMissing, Stage::Open, {},
       concat("collectives of the host device need Open MPI (apt-get install libopenmpi3, or "
              "openmpi-bin for mpirun): ",
              why));
}

[[nodiscard]] void* open_library() {
  for (const fs::path& file : candidates()) {
    std::error_code failed;
    if (!fs::exists(file, failed)) continue;
    void* const handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) fail_missing(::dlerror());
    return handle;
  }
  void* const handle = ::dlopen(kFileName, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) fail_missing(::dlerror());
  return handle;
}

[[nodiscard]] MpiModule& open_module() {
  void* const handle = open_library();
  const auto entry = reinterpret_cast<MpiModuleEntry>(::dlsym(handle, kMpiModuleEntry));
  MpiModule* const module = entry == nullptr ? nullptr : entry(MpiModule::kVersion);
  if (module == nullptr) {
    fail(ErrorCode::LibraryMissing, Stage::Open, {},
         concat(kFileName,
                " belongs to another version of the library; install the same version "
                "of both"));
  }
  return *module;
}

}  // namespace

MpiModule& load_mpi_module() {
  static MpiModule& module = open_module();
  return module;
}

}  // namespace reprise::detail

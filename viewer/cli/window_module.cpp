#include "cli/window_module.hpp"

#include <dlfcn.h>

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "model/program_files.hpp"

namespace reprise::cli {

namespace {

namespace fs = std::filesystem;

constexpr char kName[] = "libreprise_window.so";

// Packages of the libraries that the module needs.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kPackages = {
    {{"libglfw", "libglfw3"},
     {"libEGL", "libegl1"},
     {"libOpenGL", "libopengl0"},
     {"libGL", "libgl1"},
     {"libpng", "libpng16-16"},
     {"libstb", "libstb0"},
     {"libzstd", "libzstd1"},
     {"libstdc++", "libstdc++6"}}};

std::string with_package_hint(const std::string& reason) {
  for (const auto& [library, package] : kPackages) {
    if (reason.starts_with(library)) return reason + "; apt-get install " + std::string(package);
  }
  return reason;
}

}  // namespace

WindowModule::WindowModule() : program_(model::this_program()) {
  for (const fs::path& path : model::library_candidates(program_, kName)) {
    std::error_code ignored;
    if (!fs::exists(path, ignored)) continue;
    void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
      throw std::runtime_error("cannot load the viewer window: " + with_package_hint(::dlerror()));
    function_ = reinterpret_cast<RepriseViewFunction>(::dlsym(library, kRepriseViewFunctionName));
    if (!function_)
      throw std::runtime_error(path.string() +
                               " does not match this version of reprise; reinstall both");
    return;
  }
  throw std::runtime_error(
      std::string(kName) + " is not in " +
      model::library_candidates(program_, kName).front().parent_path().string() +
      ": build the target reprise_window, or install the complete component \"reprise\"");
}

void WindowModule::view(RepriseViewRequest request) const {
  char reason[2048] = {};
  request.version = kRepriseViewVersion;
  request.program = program_.c_str();
  if (function_(&request, reason, sizeof reason) != 0) throw std::runtime_error(reason);
}

}  // namespace reprise::cli

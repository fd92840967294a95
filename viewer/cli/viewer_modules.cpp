#include "cli/viewer_modules.hpp"

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

// Packages of the libraries that the modules need.
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

// The function of the library of a build target.
void* load(const fs::path& program, const std::string& target, const char* what,
           const char* function) {
  const std::string name = "lib" + target + ".so";
  for (const fs::path& path : model::library_candidates(program, name)) {
    std::error_code ignored;
    if (!fs::exists(path, ignored)) continue;
    void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
      throw std::runtime_error(std::string("cannot load the viewer ") + what + ": " +
                               with_package_hint(::dlerror()));
    if (void* found = ::dlsym(library, function)) return found;
    throw std::runtime_error(path.string() +
                             " does not match this version of reprise; reinstall both");
  }
  throw std::runtime_error(name + " is not in " +
                           model::library_candidates(program, name).front().parent_path().string() +
                           ": build the target " + target +
                           ", or install the complete component \"reprise\"");
}

}  // namespace

WindowModule::WindowModule()
    : program_(model::this_program()),
      function_(reinterpret_cast<RepriseViewFunction>(
          load(program_, "reprise_window", "window", kRepriseViewFunctionName))) {}

ServeModule::ServeModule()
    : program_(model::this_program()),
      function_(reinterpret_cast<RepriseServeFunction>(
          load(program_, "reprise_serve", "server", kRepriseServeFunctionName))) {}

void WindowModule::view(RepriseViewRequest request) const {
  char reason[2048] = {};
  request.version = kRepriseViewVersion;
  request.program = program_.c_str();
  if (function_(&request, reason, sizeof reason) != 0) throw std::runtime_error(reason);
}

void ServeModule::serve(RepriseServeRequest request) const {
  char reason[2048] = {};
  request.version = kRepriseServeVersion;
  request.program = program_.c_str();
  if (function_(&request, reason, sizeof reason) != 0) throw std::runtime_error(reason);
}

}  // namespace reprise::cli

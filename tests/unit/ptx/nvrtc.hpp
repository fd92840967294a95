// Nvrtc: the run-time compiler of the CUDA toolkit, where there is one. Threads: one at a time.
#pragma once

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "support/skip.hpp"

namespace reprise::test {

class Nvrtc {
 public:
  // Searches $LD_LIBRARY_PATH, $CUDA_HOME and /usr/local/cuda. The library stays loaded.
  Nvrtc() {
    const char* const home = std::getenv("CUDA_HOME");
    const std::string toolkit = std::string(home == nullptr ? "/usr/local/cuda" : home) + "/lib64/";
    for (const char* const name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"})
      for (const std::string& folder : {std::string(), toolkit})
        if (library_ == nullptr) library_ = ::dlopen((folder + name).c_str(), RTLD_NOW);
    find(create_, "nvrtcCreateProgram");
    find(compile_, "nvrtcCompileProgram");
    find(destroy_, "nvrtcDestroyProgram");
    find(log_.bytes, "nvrtcGetProgramLogSize");
    find(log_.get, "nvrtcGetProgramLog");
    find(ptx_.bytes, "nvrtcGetPTXSize");
    find(ptx_.get, "nvrtcGetPTX");
    find(cubin_.bytes, "nvrtcGetCUBINSize");
    find(cubin_.get, "nvrtcGetCUBIN");
  }

  // Whether it was found. If not, skips the running test case, or fails it if $REPRISE_REQUIRE_GPU
  // is 1; the test case returns.
  [[nodiscard]] bool exists() const {
    if (library_ != nullptr) return true;
    const char* const required = std::getenv("REPRISE_REQUIRE_GPU");
    const bool is_required = required != nullptr && std::string_view(required) == "1";
    CHECK_MESSAGE(!is_required, "this test needs libnvrtc.so: set CUDA_HOME");
    if (!is_required) skip_test_case("there is no libnvrtc.so");
    return false;
  }

  // Fails the test case if the compiler refuses the source.
  [[nodiscard]] std::string ptx(const std::string& source,
                                const std::vector<std::string>& options) const {
    return compiled(source, options, ptx_);
  }
  [[nodiscard]] std::string cubin(const std::string& source,
                                  const std::vector<std::string>& options) const {
    return compiled(source, options, cubin_);
  }

 private:
  using Program = void*;
  struct Output {
    int (*bytes)(Program, std::size_t*) = nullptr;
    int (*get)(Program, char*) = nullptr;

    [[nodiscard]] std::string of(Program program) const {
      std::size_t count = 0;
      REQUIRE(bytes(program, &count) == 0);
      std::string text(count, '\0');
      REQUIRE(get(program, text.data()) == 0);
      return text;
    }
  };

  template <class Function>
  void find(Function& function, const char* name) const {
    if (library_ == nullptr) return;
    function = reinterpret_cast<Function>(::dlsym(library_, name));
    const bool is_found = function != nullptr;
    REQUIRE_MESSAGE(is_found, "libnvrtc.so has no ", name);
  }
  [[nodiscard]] std::string compiled(const std::string& source,
                                     const std::vector<std::string>& options,
                                     const Output& output) const {
    Program program = nullptr;
    REQUIRE(create_(&program, source.c_str(), "kernels.cu", 0, nullptr, nullptr) == 0);
    std::vector<const char*> arguments;
    for (const std::string& option : options) arguments.push_back(option.c_str());
    const int result = compile_(program, static_cast<int>(arguments.size()), arguments.data());
    const std::string log = log_.of(program);
    REQUIRE_MESSAGE(result == 0, "NVRTC: result ", result, ": ", log, "\n", source);
    std::string text = output.of(program);
    REQUIRE(destroy_(&program) == 0);
    return text;
  }

  void* library_ = nullptr;
  int (*create_)(Program*, const char*, const char*, int, const char* const*,
                 const char* const*) = nullptr;
  int (*compile_)(Program, int, const char* const*) = nullptr;
  int (*destroy_)(Program*) = nullptr;
  Output log_, ptx_, cubin_;
};

}  // namespace reprise::test

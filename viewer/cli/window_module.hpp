// WindowModule: the library that draws, loaded when it is asked for: the program itself links no
// GL. Found beside the program, in the folders of a build and of an installation alike. Threads:
// the main thread's.
#pragma once

#include <filesystem>

#include "window/entry.hpp"

namespace reprise::cli {

class WindowModule {
 public:
  // Throws std::runtime_error that says what to install.
  WindowModule();
  WindowModule(const WindowModule&) = delete;
  WindowModule& operator=(const WindowModule&) = delete;
  // It stays loaded: graphics drivers leave threads and handlers behind.
  ~WindowModule() = default;

  // Throws std::runtime_error with the module's reason.
  void view(RepriseViewRequest request) const;

 private:
  std::filesystem::path program_;
  RepriseViewFunction function_ = nullptr;
};

}  // namespace reprise::cli

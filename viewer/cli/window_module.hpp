// WindowModule: loads the shared library with the viewer window on demand; the program itself links
// no GL. Finds the library relative to the executable, in build trees and installations. Threads:
// main thread.
#pragma once

#include <filesystem>

#include "window/entry.hpp"

namespace reprise::cli {

class WindowModule {
 public:
  // Throws std::runtime_error that names the missing package.
  WindowModule();
  WindowModule(const WindowModule&) = delete;
  WindowModule& operator=(const WindowModule&) = delete;
  // The library stays loaded, because graphics drivers keep threads and handlers.
  ~WindowModule() = default;

  // Throws std::runtime_error with the module's reason.
  void view(RepriseViewRequest request) const;

 private:
  std::filesystem::path program_;
  RepriseViewFunction function_ = nullptr;
};

}  // namespace reprise::cli

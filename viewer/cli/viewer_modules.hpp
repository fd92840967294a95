// WindowModule and ServeModule: load the shared libraries with the viewer's window and its server
// on demand; the program itself links neither GL nor Dear ImGui. Finds them relative to the
// executable, in build trees and installations. Threads: main thread.
#pragma once

#include <filesystem>
#include <string>

#include "serve/entry.hpp"
#include "window/entry.hpp"

namespace reprise::cli {

// A text of a request: null if it is empty.
inline const char* or_null(const std::string& text) {
  return text.empty() ? nullptr : text.c_str();
}

// The libraries stay loaded, because graphics drivers keep threads and handlers.
class WindowModule {
 public:
  // Throws std::runtime_error that names the missing package.
  WindowModule();
  // Throws std::runtime_error with the module's reason.
  void view(RepriseViewRequest request) const;

 private:
  std::filesystem::path program_;
  RepriseViewFunction function_ = nullptr;
};

class ServeModule {
 public:
  // As WindowModule.
  ServeModule();
  void serve(RepriseServeRequest request) const;

 private:
  std::filesystem::path program_;
  RepriseServeFunction function_ = nullptr;
};

}  // namespace reprise::cli

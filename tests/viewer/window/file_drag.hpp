// FileDrag: another program from which files are dragged onto a window, as XDND (version 5) has it.
// Advances as the window answers. Threads: one at a time.
#pragma once

#include <string>
#include <vector>

#include "viewer/window/x_user.hpp"

namespace reprise::test {

class FileDrag {
 public:
  // The pointer has come over the window with these files.
  FileDrag(const std::string& display, XWindow target, const std::vector<std::string>& paths);
  FileDrag(const FileDrag&) = delete;
  FileDrag& operator=(const FileDrag&) = delete;
  ~FileDrag();

  // Answers what has come from the window; lets go of the files once it wants them. Never waits.
  void advance();
  // The window has said that it is done with them.
  [[nodiscard]] bool is_finished() const noexcept { return finished_; }

 private:
  void send(const char* type, long a, long b, long c, long d);

  void* display_;
  XWindow target_, source_ = 0;
  std::string list_;  // text/uri-list
  bool finished_ = false;
};

}  // namespace reprise::test

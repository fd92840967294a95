// FileDrag: a second X client that drags files onto a window with XDND (version 5). Advances as the
// window responds. Threads: one at a time.
#pragma once

#include <string>
#include <vector>

#include "viewer/window/x_user.hpp"

namespace reprise::test {

class FileDrag {
 public:
  // The pointer enters the window with these files.
  FileDrag(const std::string& display, XWindow target, const std::vector<std::string>& paths);
  FileDrag(const FileDrag&) = delete;
  FileDrag& operator=(const FileDrag&) = delete;
  ~FileDrag();

  // Answers messages from the window; drops the files once the window accepts them. Never blocks.
  void advance();
  // The window has reported that the drop is finished.
  [[nodiscard]] bool is_finished() const noexcept { return finished_; }

 private:
  void send(const char* type, long a, long b, long c, long d);

  void* display_;
  XWindow target_, source_ = 0;
  std::string list_;  // text/uri-list
  bool finished_ = false;
};

}  // namespace reprise::test

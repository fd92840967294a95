// ReplaysDrag: the left button over the strip of replays: a drag chooses a range of places, a drag
// of an end of it moves that end. Threads: the drawing thread's.
#pragma once

#include <cstddef>

#include "panels/shared/view_state.hpp"
#include "panels/widgets/canvas.hpp"

namespace reprise::viewer {

class ReplaysDrag {
 public:
  // Changes the range of `view`, a list of `size` replays. Call between the canvas's begin() and
  // end().
  void update(const Canvas& canvas, std::size_t size, ViewState& view);
  [[nodiscard]] bool is_active() const noexcept { return active_ && moved_; }

 private:
  bool active_ = false, moved_ = false;
  double anchor_ = 0;  // place: the end that stays
};

}  // namespace reprise::viewer

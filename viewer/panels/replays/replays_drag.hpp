// ReplaysDrag: range selection in the replay strip. A left drag selects a range; a drag of a range
// handle moves that end. Threads: drawing thread only.
#pragma once

#include <cstddef>

#include "panels/shared/view_state.hpp"
#include "panels/widgets/canvas.hpp"

namespace reprise::viewer {

class ReplaysDrag {
 public:
  // Updates view.range, a range of a list of `size` replays. Call between Canvas::begin() and
  // Canvas::end().
  void update(const Canvas& canvas, std::size_t size, ViewState& view);
  [[nodiscard]] bool is_active() const noexcept { return active_ && moved_; }

 private:
  bool active_ = false, moved_ = false;
  double anchor_ = 0;  // index of the fixed end
};

}  // namespace reprise::viewer

// ReplaysHistogram: a histogram of replay durations. A drag selects durations; a click toggles one
// bin. Threads: drawing thread only.
#pragma once

#include <optional>
#include <string>

#include "panels/replays/replays_view_model.hpp"
#include "panels/shared/theme.hpp"

namespace reprise::viewer {

class ReplaysHistogram {
 public:
  // `median` selects the colours; 0: unknown. Sets `selected` after a click or a drag.
  void draw(const Theme& theme, const DurationBins& histogram, double median,
            std::optional<model::DurationBounds>& selected, ImVec2 size);
  // The durations of a drag that has not ended; empty: none.
  [[nodiscard]] const std::optional<model::DurationBounds>& dragged() const noexcept {
    return dragged_;
  }

 private:
  std::optional<model::DurationBounds> dragged_;
  bool dragging_ = false;
  std::size_t anchor_ = 0;  // bin
};

}  // namespace reprise::viewer

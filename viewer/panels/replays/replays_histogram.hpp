// ReplaysHistogram: a histogram of replay durations. A drag selects a range of durations; a click
// toggles one bin. Threads: drawing thread only.
#pragma once

#include <optional>
#include <string>

#include "panels/replays/replays_view_model.hpp"
#include "panels/widgets/theme.hpp"

namespace reprise::viewer {

struct DurationRange {
  double min = 0, max = 0;  // ns, inclusive
  friend bool operator==(const DurationRange&, const DurationRange&) = default;
};

class ReplaysHistogram {
 public:
  // `median` selects the colours; 0: unknown. Returns true if the selected durations changed.
  bool draw(const Theme& theme, const DurationBins& histogram, double median, ImVec2 size);
  [[nodiscard]] const std::optional<DurationRange>& selected() const noexcept { return selected_; }
  [[nodiscard]] bool is_dragging() const noexcept { return dragging_; }
  void clear() { selected_.reset(); }

 private:
  std::optional<DurationRange> selected_;
  bool dragging_ = false;
  std::size_t anchor_ = 0;  // bin
};

}  // namespace reprise::viewer

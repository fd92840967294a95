// ReplaysHistogram: how many replays took how long, as bars; a drag over it chooses a range of
// durations, a click lets go of it. Threads: the drawing thread's.
#pragma once

#include <optional>
#include <string>

#include "panels/replays/replays_view_model.hpp"
#include "panels/widgets/theme.hpp"

namespace reprise::viewer {

struct DurationRange {
  double least = 0, greatest = 0;  // ns, both of it
  friend bool operator==(const DurationRange&, const DurationRange&) = default;
};

class ReplaysHistogram {
 public:
  // `median`: greater than 0, or no colours. Returns true if the chosen durations have changed.
  bool draw(const Theme& theme, const DurationBins& histogram, double median, ImVec2 size);
  [[nodiscard]] const std::optional<DurationRange>& chosen() const noexcept { return chosen_; }
  [[nodiscard]] bool is_dragging() const noexcept { return dragging_; }
  void clear() { chosen_.reset(); }

 private:
  std::optional<DurationRange> chosen_;
  bool dragging_ = false;
  std::size_t anchor_ = 0;  // bin
};

}  // namespace reprise::viewer

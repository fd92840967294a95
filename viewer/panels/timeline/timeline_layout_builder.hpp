// TimelineLayoutBuilder: stacks the rows of a timeline. Threads: one at a time.
#pragma once

#include <string>

#include "panels/timeline/timeline_layout.hpp"

namespace reprise::viewer {

// Heights before the scale.
inline constexpr float kTimelineTitle = 18, kTimelineRowGap = 3;
// Screen points per unit of height: fewer where little height is available.
[[nodiscard]] float row_scale(const TimelineLayoutDesc& desc);

class TimelineLayoutBuilder {
 public:
  explicit TimelineLayoutBuilder(const TimelineLayoutDesc& desc);

  void add(TimelineRow row, float height);
  void title(std::string text, std::string detail = {});
  // Adds the title of a section. False if the user closed it.
  bool section(TimelineSection section, std::uint32_t id, std::string text,
               std::string detail = {});
  // Rows grow to fill the height; those of nodes have their height already.
  void fill(float available);

  TimelineLayout layout;

 private:
  [[nodiscard]] float gap_below(const TimelineRow& row) const;
  [[nodiscard]] bool can_grow(const TimelineRow& row) const;

  float scale_, resized_scale_;
  const TimelineOpened& opened_;
};

}  // namespace reprise::viewer

#include "panels/timeline/timeline_layout_builder.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace reprise::viewer {

namespace {

using Kind = TimelineRow::Kind;

constexpr float kMaxGrowth = 2;  // of rows other than those of nodes
// A height below which rows are lower, and by how much.
constexpr float kLow = 260, kLowScale = 0.82f;

}  // namespace

float row_scale(const TimelineLayoutDesc& desc) {
  const float scale = desc.context.theme.scale;
  return desc.available_height < kLow * scale ? kLowScale * scale : scale;
}

TimelineLayoutBuilder::TimelineLayoutBuilder(const TimelineLayoutDesc& desc)
    : scale_(row_scale(desc)), resized_scale_(desc.context.theme.scale), opened_(desc.opened) {}

void TimelineLayoutBuilder::add(TimelineRow row, float height) {
  const auto resized = opened_.heights.find({row.kind, row.graph});
  row.top = layout.height;
  row.height = std::round(resized == opened_.heights.end() ? height * scale_
                                                           : resized->second * resized_scale_);
  layout.height += row.height + gap_below(row);
  layout.rows.push_back(std::move(row));
}

void TimelineLayoutBuilder::title(std::string text, std::string detail) {
  TimelineRow row;
  row.label = std::move(text);
  row.detail = std::move(detail);
  add(std::move(row), kTimelineTitle);
}

bool TimelineLayoutBuilder::section(TimelineSection section, std::uint32_t id, std::string text,
                                    std::string detail) {
  TimelineRow row;
  row.section = section;
  row.id = id;
  row.folds = true;
  row.is_open = opened_.closed_sections.count({section, id}) == 0;
  row.label = std::move(text);
  row.detail = std::move(detail);
  add(row, kTimelineTitle);
  return row.is_open;
}

void TimelineLayoutBuilder::fill(float available) {
  float growing = 0;
  for (const TimelineRow& row : layout.rows) growing += can_grow(row) ? row.height : 0;
  if (growing == 0 || layout.height >= available) return;
  const float factor = std::min(1 + (available - layout.height) / growing, kMaxGrowth);
  layout.height = 0;
  for (TimelineRow& row : layout.rows) {
    row.top = layout.height;
    if (can_grow(row)) row.height = std::floor(row.height * factor);
    layout.height += row.height + gap_below(row);
  }
}

float TimelineLayoutBuilder::gap_below(const TimelineRow& row) const {
  return row.kind == Kind::Title ? 0 : std::round(kTimelineRowGap * scale_);
}

bool TimelineLayoutBuilder::can_grow(const TimelineRow& row) const {
  return row.kind != Kind::Title && row.kind != Kind::Folded && row.kind != Kind::Nodes &&
         row.kind != Kind::Labels && opened_.heights.count({row.kind, row.graph}) == 0;
}

}  // namespace reprise::viewer

// TimelineGapList: a table of the longest gaps in a span of a timeline with their causes: the idle
// time of the devices and the gaps between the nodes of the shown replay. Collected in the
// background. Threads: the drawing thread's.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "panels/shared/async_value.hpp"
#include "panels/timeline/timeline_data.hpp"
#include "panels/timeline/timeline_draw_context.hpp"

namespace reprise::viewer {

// A gap of a device or of a row of nodes.
struct ListedGap {
  trace::Time started = 0, ended = 0;
  std::variant<model::IdleGap, model::Gap> gap;
  std::uint32_t device = 0;  // of an idle gap
};

struct GapTotals {
  trace::Time length = 0;                   // of the span
  std::map<model::IdleCause, double> idle;  // ns in the span, over all devices
  std::size_t count = 0;                    // gaps in the span
  std::vector<ListedGap> longest;           // longest first
};
inline constexpr std::size_t kMaxListedGaps = 400;

// The gaps that overlap [from, to]. `scene` may be null.
[[nodiscard]] GapTotals list_gaps(const model::Activity& activity, const TimelineScene* scene,
                                  trace::Time from, trace::Time to);

class TimelineGapList {
 public:
  explicit TimelineGapList(Background& background) : gaps_(background) {}

  // Draws the table of a span into the remaining area and returns the clicked gap. `dc.hit` is not
  // used.
  [[nodiscard]] std::optional<ListedGap> draw(
      const TimelineDrawContext& dc, const std::shared_ptr<const model::Activity>& activity,
      const TimelineData::Scene& scene, TimelineSpan span);

 private:
  struct Key {
    std::shared_ptr<const model::Activity> activity;
    TimelineData::Scene scene;
    trace::Time from = 0, to = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Listed {
    TimelineData::Scene scene;  // of the gaps between nodes
    GapTotals totals;
  };
  AsyncValue<Key, Listed> gaps_;
};

}  // namespace reprise::viewer

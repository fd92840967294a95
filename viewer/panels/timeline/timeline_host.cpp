#include "panels/timeline/timeline_host.hpp"

namespace reprise::viewer {

HostRows HostRowsBuilder::extend(const model::ListView<trace::HostRange>& ranges) {
  for (; consumed_ < ranges.size(); ++consumed_) {
    const trace::HostRange& range = ranges[consumed_];
    if (range.started == 0 || range.ended < range.started) continue;
    rows_[{range.thread, range.depth}].insert_sorted(
        {range.started, range.ended, static_cast<std::uint32_t>(consumed_)},
        [](const HostSpan& a, const HostSpan& b) { return a.started < b.started; });
  }
  HostRows all;
  all.ranges = ranges;
  for (auto& [key, list] : rows_) {
    HostRows::Row& row = all.rows[key];
    row.spans = list.view();
    for (const HostSpan& span : row.spans) row.busy.add(span.started, span.ended);
  }
  return all;
}

}  // namespace reprise::viewer

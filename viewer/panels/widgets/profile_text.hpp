// How closely a trace looks at replays, and what that costs, in words. Threads: pure functions.
#pragma once

#include <string>

#include "model/document.hpp"
#include "model/trace_feed.hpp"

namespace reprise::viewer {

struct ProfileText {
  std::string mode;       // "sampled"; empty: unknown
  std::string cost_text;  // "+0.6 %"; empty: not measured
  double cost = 0;        // of the time that passed, the larger of host and device
  std::string hint;       // the same at length
};

[[nodiscard]] ProfileText profile_text(const model::Document& document,
                                       const model::FeedStatus& status);
// How the nodes of a replay were timed: "by CUPTI"; empty: they were not, or it is not known.
[[nodiscard]] std::string measured_by(const model::GraphEntry& entry, const trace::Replay& replay);
// How many replays of a graph were sampled, and how: "12 sampled by CUPTI", "12 sampled: 8 by
// CUPTI, 4 by device stamps".
[[nodiscard]] std::string sampled_text(const model::GraphEntry& entry, std::size_t sampled);
[[nodiscard]] const char* profile_name(trace::LiveProfile mode);
[[nodiscard]] std::string profile_hint(trace::LiveProfile mode);

}  // namespace reprise::viewer

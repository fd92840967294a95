// Text for the profiling mode of a trace and its cost. Threads: pure functions.
#pragma once

#include <string>

#include "model/document.hpp"
#include "model/trace_feed.hpp"

namespace reprise::viewer {

struct ProfileText {
  std::string mode;       // "sampled"; empty: unknown
  std::string cost_text;  // "CPU time 0.6 %"; empty: not measured
  double cost = 0;        // CPU time of the profiler's own code, fraction of the elapsed time
  std::string hint;       // tooltip
};

[[nodiscard]] ProfileText profile_text(const model::Document& document,
                                       const model::FeedStatus& status);
// The source of a replay's node times: "by CUPTI"; empty if the replay has none or it is unknown.
[[nodiscard]] std::string measured_by(const model::GraphEntry& entry, const trace::Replay& replay);
// The number of sampled replays per source: "12 sampled by CUPTI", "12 sampled: 8 by CUPTI, 4 by
// device timestamps".
[[nodiscard]] std::string sampled_text(const model::GraphEntry& entry, std::size_t sampled);
[[nodiscard]] const char* profile_name(trace::LiveProfile mode);
[[nodiscard]] std::string profile_hint(trace::LiveProfile mode);
// How to get the node times that a trace lacks: "Set REPRISE_PROFILE to sampled or every."
[[nodiscard]] const char* node_times_hint(const model::Document& document);

}  // namespace reprise::viewer

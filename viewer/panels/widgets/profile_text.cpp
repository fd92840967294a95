#include "panels/widgets/profile_text.hpp"

#include <algorithm>

#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

constexpr std::size_t kCostWindow = 64;  // most recent cost records to average

}  // namespace

std::string measured_by(const model::GraphEntry& entry, const trace::Replay& replay) {
  if (replay.sampled == 0 || !entry.statistics) return {};
  const auto source = entry.statistics->sources.of(replay.replay);
  return source ? std::string("by ") + source_text(*source) : std::string();
}

std::string sampled_text(const model::GraphEntry& entry, std::size_t sampled) {
  std::string text = count_text(sampled) + " sampled", parts;
  if (!entry.statistics) return text;
  std::size_t sources = 0;
  for (const trace::SampleSource source : model::kSampleSources) {
    const std::uint64_t count = entry.statistics->sources.count(source);
    if (count == 0) continue;
    parts += (sources++ == 0 ? "" : ", ") + count_text(count) + " by " + source_text(source);
  }
  if (sources == 0) return text;
  if (sources > 1) return text + ": " + parts;
  return text + parts.substr(parts.find(" by "));
}

const char* profile_name(trace::LiveProfile mode) {
  switch (mode) {
    case trace::LiveProfile::Off: return "off";
    case trace::LiveProfile::Replays: return "replays";
    case trace::LiveProfile::Sampled: return "sampled";
    case trace::LiveProfile::Every: return "every";
  }
  return "?";
}

std::string profile_hint(trace::LiveProfile mode) {
  switch (mode) {
    case trace::LiveProfile::Off: return "Graphs, buffers and messages; no replays";
    case trace::LiveProfile::Replays: return "Launch, start and end of each replay";
    case trace::LiveProfile::Sampled:
      return "Also node times of some replays, at about 1 % overhead";
    case trace::LiveProfile::Every: return "Also node times of every replay";
  }
  return {};
}

const char* node_times_hint(const model::Document& document) {
  return document.is_observed ? "Use reprise run --nodes."
                              : "Set REPRISE_PROFILE to sampled or every.";
}

ProfileText profile_text(const model::Document& document, const model::FeedStatus& status) {
  ProfileText text;
  const auto& costs = document.profiling_overheads;
  if (costs.empty() || costs.back().mode > 3) {
    if (!status.requested_profile) return text;
    text.mode = profile_name(*status.requested_profile);
    text.hint = profile_hint(*status.requested_profile);
    return text;
  }
  const std::uint8_t mode = costs.back().mode;
  text.mode = profile_name(static_cast<trace::LiveProfile>(mode));
  text.hint = profile_hint(static_cast<trace::LiveProfile>(mode)) + ".";
  double elapsed = 0, host = 0;  // ns
  for (std::size_t i = costs.size(), read = 0;
       i-- > 0 && read < kCostWindow && costs[i].mode == mode; ++read) {
    elapsed += static_cast<double>(costs[i].to - costs[i].from);
    host += static_cast<double>(costs[i].host);
  }
  if (elapsed > 0) {
    text.cost = host / elapsed;
    text.cost_text = "CPU time " + percent_text(text.cost);
    text.hint += "\nThe profiler's own code takes " + percent_text(text.cost) +
                 " of a CPU. What CUPTI adds to the program's calls is not part of it.";
  }
  if (!document.observing_cost.empty()) text.hint += "\nMeasured: " + document.observing_cost + ".";
  if (status.requested_profile && static_cast<std::uint8_t>(*status.requested_profile) != mode)
    text.hint += std::string("\nRequested: ") + profile_name(*status.requested_profile) + ".";
  return text;
}

}  // namespace reprise::viewer

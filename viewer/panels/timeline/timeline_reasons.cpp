#include "panels/timeline/timeline_reasons.hpp"

#include "panels/widgets/format.hpp"
#include "panels/widgets/profile_text.hpp"

namespace reprise::viewer {

namespace {

enum class Mode : std::uint8_t { Off, Replays, Sampled, Every };

const char* mode_name(Mode mode) {
  switch (mode) {
    case Mode::Off: return "off";
    case Mode::Replays: return "replays";
    case Mode::Sampled: return "sampled";
    case Mode::Every: return "every";
  }
  return "?";
}

}  // namespace

TimelineReason missing_nodes_reason(const PanelContext& context) {
  const std::string hint =
      context.is_live ? "Request samples in the top bar." : node_times_hint(*context.document);
  if (context.entry == nullptr)
    return {"No graph yet", "Nodes appear when the trace contains a graph.", false};
  if (context.entry->replays.empty())
    return {"No replay of " + context.entry->graph->name() + " yet",
            "Nodes appear after the first launch.", false};
  const bool has_samples = context.entry->statistics && context.entry->statistics->samples != 0;
  if (context.replay == nullptr) {
    if (context.view_model != nullptr && !has_samples && !context.view.replay)
      return {"No node timings", hint, false};
    return {"Loading the samples of the replay", "", true};
  }
  const trace::Replay& replay = context.replay->replay;
  const std::string name = "replay " + count_text(replay.replay);
  if (context.replay->block) return {"Laying out the nodes of " + name, "", true};
  if (replay.sampled != 0) {
    if (context.is_live)
      return {"The samples of " + name + " were dropped",
              "A live view keeps only the newest samples. Select Newest or a recent replay.",
              false};
    return {"The trace contains no samples of " + name,
            "The replay was sampled, but its samples did not reach the file. See Messages.", false};
  }
  if (has_samples)
    return {"No node timings for " + name,
            "Only some replays are sampled. Use <, >, Newest, Median or Slowest to select one.",
            false};
  std::string title = "No node timings";
  if (const auto& costs = context.document->profiling_overheads;
      !costs.empty() && costs.back().mode <= 3) {
    title += ": profile mode " + std::string(mode_name(static_cast<Mode>(costs.back().mode)));
  }
  return {title, hint, false};
}

}  // namespace reprise::viewer

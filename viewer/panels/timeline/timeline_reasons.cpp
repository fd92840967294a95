#include "panels/timeline/timeline_reasons.hpp"

#include "panels/widgets/format.hpp"

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

TimelineReason why_no_nodes(const PanelContext& context) {
  const std::string how =
      context.is_live ? "Ask for samples in the bar above, or start the program with "
                        "REPRISE_PROFILE=sampled or every."
                      : "Record with REPRISE_PROFILE=sampled or every to have times of nodes.";
  if (context.entry == nullptr)
    return {"No graph yet", "The nodes of a replay appear here as soon as the trace has a graph.",
            false};
  if (context.entry->replays.empty())
    return {"No replay of " + context.entry->graph->name() + " yet",
            "Its nodes appear here as soon as it is launched.", false};
  const bool has_samples = context.entry->statistics && context.entry->statistics->samples != 0;
  if (context.replay == nullptr) {
    if (context.view_model != nullptr && !has_samples && !context.view.replay)
      return {"No node was timed", how, false};
    return {"Reading the samples of the replay", "", true};
  }
  const trace::Replay& replay = context.replay->replay;
  const std::string name = "replay " + count_text(replay.replay);
  if (context.replay->block) return {"Placing the nodes of " + name, "", true};
  if (replay.sampled != 0) {
    if (context.is_live)
      return {"The samples of " + name + " are not kept any more",
              "A live view keeps the newest: choose Newest, or a replay near the end.", false};
    return {"The trace has no samples of " + name,
            "It was marked as sampled, but what was measured did not reach the file: see Messages.",
            false};
  }
  if (has_samples)
    return {"The nodes of " + name + " were not timed",
            "Only some replays are sampled: < and > go to those that were, and so do Newest, "
            "Median and Slowest.",
            false};
  std::string what = "No node was timed";
  if (const auto& costs = context.document->profile_costs;
      !costs.empty() && costs.back().mode <= 3) {
    what += ": the session profiles in mode " +
            std::string(mode_name(static_cast<Mode>(costs.back().mode)));
  }
  return {what, how, false};
}

}  // namespace reprise::viewer

// CompareChoice: the two sections of replays to compare, as selected by the user or by default (two
// whole traces). Contains only ids and indices. Threads: values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/graph_comparison.hpp"
#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

enum class CompareTrace : std::uint8_t { Shown, Other };

struct CompareSection {
  CompareTrace trace = CompareTrace::Shown;
  model::GraphKey graph;
  model::ReplayRange range;  // all replays by default
  friend bool operator==(const CompareSection&, const CompareSection&) = default;
};

struct CompareChoice {
  std::optional<CompareSection> a, b;
  friend bool operator==(const CompareChoice&, const CompareChoice&) = default;
};

// The default comparison for the context; sides may be empty.
[[nodiscard]] CompareChoice default_choice(const PanelContext& context);
// The first and second half of the selected replays; empty if there are fewer than two.
[[nodiscard]] std::optional<CompareChoice> halves_of(const PanelContext& context);
// The replays with the selected durations, and the others; empty if no durations are selected.
[[nodiscard]] std::optional<CompareChoice> with_rest_of(const PanelContext& context);
// The previous and the shown version of the graph; empty if there is no previous version.
[[nodiscard]] std::optional<CompareChoice> versions_of(const PanelContext& context);
// The selected replays as one side.
[[nodiscard]] CompareSection selected_section(const PanelContext& context);

[[nodiscard]] const std::shared_ptr<const model::Document>& document_of(const PanelContext& context,
                                                                        CompareTrace trace);
// "photo.reprise: filter v2, replays 1 to 200".
[[nodiscard]] std::string section_text(const PanelContext& context, const CompareSection& section);

}  // namespace reprise::viewer

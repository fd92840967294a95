// CompareChoice: which two stretches are compared, as the user chose them, and as they are where
// nobody chose: two traces whole against each other. Ids and places only. Threads: values and pure
// functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "panels/compare/compare_result.hpp"
#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

enum class CompareTrace : std::uint8_t { Shown, Other };

struct CompareStretch {
  CompareTrace trace = CompareTrace::Shown;
  model::GraphKey graph;
  model::ReplayRange range;  // all by default
  friend bool operator==(const CompareStretch& x, const CompareStretch& y) {
    return x.trace == y.trace && x.graph == y.graph && x.range.first == y.range.first &&
           x.range.count == y.range.count;
  }
};

struct CompareChoice {
  std::optional<CompareStretch> a, b;
  friend bool operator==(const CompareChoice&, const CompareChoice&) = default;
};

// The graph of the other trace that has the name of the shown one, in its newest version that has
// replays, or its newest; none: it has no such graph.
[[nodiscard]] std::optional<model::GraphKey> same_graph(const model::Document& other,
                                                        const model::Graph& shown);
// What the frame offers to compare without being asked.
[[nodiscard]] CompareChoice default_choice(const PanelContext& context);
// The first half of the replays that are shown, against the second; none: fewer than two of them.
[[nodiscard]] std::optional<CompareChoice> halves_of(const PanelContext& context);
// The version before the shown one against it; none: there is no earlier one.
[[nodiscard]] std::optional<CompareChoice> versions_of(const PanelContext& context);
// The replays that are chosen now, as one side.
[[nodiscard]] CompareStretch chosen_now(const PanelContext& context);

[[nodiscard]] const std::shared_ptr<const model::Document>& document_of(const PanelContext& context,
                                                                        CompareTrace trace);
// "photo.reprise: filter v2, replays 1 to 200".
[[nodiscard]] std::string stretch_text(const PanelContext& context, const CompareStretch& stretch);

}  // namespace reprise::viewer

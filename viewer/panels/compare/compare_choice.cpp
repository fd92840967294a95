#include "panels/compare/compare_choice.hpp"

#include <algorithm>

#include "panels/inspector/inspector_versions.hpp"
#include "panels/widgets/format.hpp"

namespace reprise::viewer {

CompareSection selected_section(const PanelContext& context) {
  const std::size_t all = context.entry->replays.size(),
                    first = std::min(context.view.range.first, all);
  // An explicit count keeps the selection fixed while a live trace grows.
  return {CompareTrace::Shown,
          context.graph()->key(),
          {first, std::min(context.view.range.count, all - first), context.view.range.durations}};
}

CompareChoice default_choice(const PanelContext& context) {
  if (!context.other || context.graph() == nullptr) return {};
  CompareChoice choice{CompareSection{CompareTrace::Shown, context.graph()->key(), {}},
                       std::nullopt};
  if (const auto key =
          model::matching_graph(*context.document, context.graph()->key(), *context.other))
    choice.b = CompareSection{CompareTrace::Other, *key, {}};
  return choice;
}

std::optional<CompareChoice> halves_of(const PanelContext& context) {
  CompareSection first = selected_section(context), second = first;
  if (first.range.count < 2) return std::nullopt;
  first.range.count /= 2;
  second.range.first += first.range.count;
  second.range.count -= first.range.count;
  return CompareChoice{first, second};
}

std::optional<CompareChoice> with_rest_of(const PanelContext& context) {
  if (!context.view.range.durations) return std::nullopt;
  CompareSection selected = selected_section(context), rest = selected;
  rest.range.durations->admitted = model::Durations::Outside;
  return CompareChoice{rest, selected};
}

std::optional<CompareChoice> versions_of(const PanelContext& context) {
  const auto before = version_before(*context.document, context.graph()->key());
  if (!before) return std::nullopt;
  return CompareChoice{CompareSection{CompareTrace::Shown, *before, {}},
                       CompareSection{CompareTrace::Shown, context.graph()->key(), {}}};
}

const std::shared_ptr<const model::Document>& document_of(const PanelContext& context,
                                                          CompareTrace trace) {
  return trace == CompareTrace::Other && context.other ? context.other : context.document;
}

namespace {

// The file name, or the full path if both traces have the same file name.
std::string trace_name(const PanelContext& context, CompareTrace trace) {
  const auto file = [](const std::string& path) { return path.substr(path.find_last_of('/') + 1); };
  const std::string& name = trace == CompareTrace::Other ? context.other_name : context.name;
  return file(context.name) == file(context.other_name) ? name : file(name);
}

}  // namespace

std::string section_text(const PanelContext& context, const CompareSection& section) {
  const model::Document& document = *document_of(context, section.trace);
  const model::GraphEntry* entry = document.find(section.graph);
  if (entry == nullptr) return "unknown graph";
  std::string text = context.other ? trace_name(context, section.trace) + ": " : std::string();
  text += entry->graph->name();
  if (document.has_ranks()) text += ", " + document.rank_name(document.session_of(section.graph));
  text += ", version " + count_text(section.graph.version) + ", ";
  const std::size_t all = entry->replays.size(), first = std::min(section.range.first, all),
                    count = std::min(section.range.count, all - first);
  if (count == 0) return text + "no replays";
  if (count == all) {
    text += all == 1 ? "1 replay" : "all " + count_text(all) + " replays";
  } else {
    text += "replays " + count_text(entry->replays[first].replay) + " to " +
            count_text(entry->replays[first + count - 1].replay);
  }
  if (const auto& durations = section.range.durations) {
    text += durations->admitted == model::Durations::Inside ? " of " : " except of ";
    text += duration_text(durations->min) + " to " + duration_text(durations->max);
  }
  return text;
}

}  // namespace reprise::viewer

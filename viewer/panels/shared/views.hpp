// The views of the workspace, in one table: the name for `--view`, the tab and its row. The n-th
// view of the table has the key n, the tenth 0, later ones none. Header only and independent of
// ImGui, so that the command line uses the same table. Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

namespace reprise::viewer {

// Inspector and Strip have no row in the table: they are visible beside every view.
enum class View : std::uint8_t {
  Graph,
  Replays,
  Timeline,
  Sync,
  Nodes,
  Memory,
  Compare,
  Messages,
  Graphs,
  Ranks,
  Inspector,
  Strip,
  Count
};
inline constexpr std::size_t kViewCount = static_cast<std::size_t>(View::Count);

enum class TabRow : std::uint8_t { Upper, Lower };

struct ViewDesc {
  View view;
  const char* name;   // for `--view`
  const char* title;  // of the tab
  const char* hint;   // tooltip of the tab
  TabRow row;
};
inline constexpr ViewDesc kViews[] = {
    {View::Graph, "graph", "Graph", "Nodes and dependencies", TabRow::Upper},
    {View::Replays, "replays", "Replays", "Replays over time and their durations", TabRow::Upper},
    {View::Timeline, "timeline", "Timeline", "Nodes of one replay over time", TabRow::Upper},
    {View::Sync, "sync", "Sync", "Barriers, edges and their cost", TabRow::Upper},
    {View::Nodes, "nodes", "Nodes", "Node statistics", TabRow::Lower},
    {View::Memory, "memory", "Memory", "Slab layout, live bytes and pools", TabRow::Lower},
    {View::Compare, "compare", "Compare", "Two ranges of replays, graphs or traces", TabRow::Lower},
    {View::Messages, "messages", "Messages", "Validation findings, graph updates and losses",
     TabRow::Lower},
    {View::Graphs, "graphs", "Graphs", "All graphs of the process, families and totals",
     TabRow::Lower},
    {View::Ranks, "ranks", "Ranks", "Ranks of a distributed job: waiting and communication",
     TabRow::Upper}};
// The digit that is the key of the view with this index in kViews; empty: it has none.
[[nodiscard]] constexpr std::optional<char> view_digit(std::size_t index) {
  if (index >= 10) return std::nullopt;
  return static_cast<char>('0' + (index + 1) % 10);
}

// The inspector counts as an upper view: narrow windows show it as a tab.
[[nodiscard]] constexpr TabRow row_of(View view) {
  for (const ViewDesc& each : kViews) {
    if (each.view == view) return each.row;
  }
  return TabRow::Upper;
}

[[nodiscard]] constexpr std::optional<View> view_named(std::string_view name) {
  for (const ViewDesc& each : kViews) {
    if (name == each.name) return each.view;
  }
  return std::nullopt;
}

}  // namespace reprise::viewer

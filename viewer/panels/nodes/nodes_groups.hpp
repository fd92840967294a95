// Groups of nodes in the Nodes panel: by kernel, kind, source line or the tree of labels, as a
// table or an icicle chart, for the shown graph, its family or the whole process. Threads: drawing
// thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/node_groups.hpp"
#include "panels/nodes/nodes_order.hpp"
#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

enum class GroupView : std::uint8_t { Kernels, Kinds, Sources, Labels, Icicle };
[[nodiscard]] constexpr bool is_by_label(GroupView view) { return view >= GroupView::Labels; }
enum class GroupScope : std::uint8_t { Graph, Family, Process };

// The measured nodes of a view model.
[[nodiscard]] model::NodeTimes node_times(const model::Graph& graph,
                                          const GraphViewModel& view_model);

// Why a graph has no labels, and how to get them; empty if it has some.
[[nodiscard]] std::string label_hint(const model::Graph& graph);

// A group in the icicle chart. Positions are fractions of the width.
struct IcicleCell {
  std::uint32_t group = 0, level = 0;  // level: row from the top
  double from = 0, to = 1;
};
// The path from the root to `focus` over the whole width, and the groups below it by their shares;
// groups narrower than `min_width` are omitted. `groups`: see model::groups_by_label().
[[nodiscard]] std::vector<IcicleCell> icicle(const std::vector<model::NodeGroup>& groups,
                                             std::uint32_t focus, double min_width);

class NodeGroupsView {
 public:
  explicit NodeGroupsView(Background& background) : groups_(background) {}

  // Fills the remaining area.
  void draw(PanelContext& context, GroupView view, GroupScope scope);

 private:
  struct Key {
    GroupView by = GroupView::Kernels;  // Labels: of the chart too
    GroupScope scope = GroupScope::Graph;
    GraphViewModelKey shown;     // of the graph, or
    std::uint64_t revision = 0;  // of the document
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Groups {
    GroupView by = GroupView::Kernels;
    GroupScope scope = GroupScope::Graph;
    model::GraphKey shown;
    std::vector<model::GraphKey> graphs;
    std::vector<model::NodeGroup> groups;
  };
  struct Order {
    int column = 3;  // total
    bool is_descending = true;
    friend bool operator==(const Order&, const Order&) = default;
  };

  void request(const PanelContext& context, GroupView view, GroupScope scope);
  void draw_table(PanelContext& context, const Groups& groups);
  void draw_icicle(PanelContext& context, const Groups& groups);
  // Of a kind; 0: none.
  static ImU32 swatch_of(const PanelContext& context, const Groups& groups,
                         const model::NodeGroup& group);
  static void select(PanelContext& context, const Groups& groups, const model::NodeGroup& group);

  AsyncValue<Key, Groups> groups_;
  std::optional<Key> requested_;
  double requested_at_ = -1e9;
  Order order_;
  std::vector<std::string> focus_;  // names of the labels from the root to the icicle's focus
};

}  // namespace reprise::viewer

// The inspector page of the shown graph and its session, shown while nothing is selected. Threads:
// drawing thread only.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/node_groups.hpp"
#include "panels/inspector/inspector_versions.hpp"
#include "panels/inspector/source_preview.hpp"
#include "panels/nodes/nodes_order.hpp"
#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

class GraphPage {
 public:
  explicit GraphPage(Background& background)
      : versions_(background), kernels_(background), source_(background) {}
  void draw(PanelContext& context);

 private:
  struct VersionsKey {
    model::GraphKey before, after;
    friend bool operator==(const VersionsKey&, const VersionsKey&) = default;
  };
  struct Kernels {
    model::GraphKey graph;
    std::vector<model::NodeGroup> groups;
  };
  // Found in time linear in nodes and edges, after changes only.
  struct Overview {
    std::vector<std::uint32_t> hottest;     // nodes, by share
    std::array<std::uint64_t, 7> causes{};  // edges by trace::EdgeCause
    std::vector<model::Graph::LaunchLine> launches;
  };
  void update_overview(const PanelContext& context);
  void draw_kernels(PanelContext& context);
  void draw_versions(PanelContext& context);

  AsyncValue<VersionsKey, VersionChanges> versions_;
  AsyncValue<GraphViewModelKey, Kernels> kernels_;
  std::optional<GraphViewModelKey> kernels_key_, overview_key_;
  Overview overview_;
  SourcePreview source_;  // of the call that instantiated the graph
};

}  // namespace reprise::viewer

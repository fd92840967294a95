// The inspector page of a node. Threads: drawing thread only.
#pragma once

#include <cstdint>
#include <memory>

#include "panels/inspector/inspector_trend.hpp"
#include "panels/inspector/inspector_versions.hpp"
#include "panels/inspector/source_preview.hpp"
#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

class NodePage {
 public:
  explicit NodePage(Background& background)
      : trend_(background), versions_(background), source_(background) {}
  // `node` is a node index of the shown graph.
  void draw(PanelContext& context, std::uint32_t node);

 private:
  struct TrendKey {
    model::GraphKey graph;
    std::uint32_t node = 0;
    model::ReplayRange range;
    std::size_t replays = 0;
    friend bool operator==(const TrendKey&, const TrendKey&) = default;
  };
  struct VersionsKey {
    model::GraphKey before, after;
    friend bool operator==(const VersionsKey&, const VersionsKey&) = default;
  };

  void draw_times(PanelContext& context, std::uint32_t node);
  void draw_trend_of(PanelContext& context, std::uint32_t node);
  void draw_versions(PanelContext& context, std::uint32_t node);
  // Null: not ready.
  [[nodiscard]] std::shared_ptr<const NodeTrend> request_trend(const PanelContext& context,
                                                               std::uint32_t node);

  AsyncValue<TrendKey, NodeTrend> trend_;
  TrendKey trend_key_;
  // ImGui time of the last request; limits the rate, as a live trace grows in every frame.
  double trend_requested_ = -1;
  AsyncValue<VersionsKey, VersionChanges> versions_;
  SourcePreview source_;
};

}  // namespace reprise::viewer

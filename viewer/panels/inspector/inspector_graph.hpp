// The inspector page of the shown graph and its session, shown while nothing is selected. Threads:
// drawing thread only.
#pragma once

#include "panels/inspector/inspector_versions.hpp"
#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

class GraphPage {
 public:
  explicit GraphPage(Background& background) : versions_(background) {}
  void draw(PanelContext& context);

 private:
  struct VersionsKey {
    model::GraphKey before, after;
    friend bool operator==(const VersionsKey&, const VersionsKey&) = default;
  };
  void draw_versions(PanelContext& context);

  AsyncValue<VersionsKey, VersionChanges> versions_;
};

}  // namespace reprise::viewer

// The inspector page of a replay. Threads: drawing thread only.
#pragma once

#include <cstdint>

#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

class ReplayPage {
 public:
  explicit ReplayPage(Background& background) : statistics_(background) {}
  // `replay` is a replay number of the shown graph.
  void draw(PanelContext& context, std::uint64_t replay);

 private:
  struct Key {
    model::GraphKey graph;
    std::size_t first = 0, count = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Statistics {
    model::GraphKey graph;
    model::ReplayStatistics device, call, latency;
  };

  void draw_times(const PanelContext& context, const trace::Replay& replay);

  AsyncValue<Key, Statistics> statistics_;
};

}  // namespace reprise::viewer

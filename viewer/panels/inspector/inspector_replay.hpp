// The inspector page of a replay. Threads: drawing thread only.
#pragma once

#include <cstdint>

#include "model/slowdown.hpp"
#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

class ReplayPage {
 public:
  explicit ReplayPage(Background& background) : slowdown_(background) {}
  // `replay` is a replay number of the shown graph.
  void draw(PanelContext& context, std::uint64_t replay);

 private:
  struct SlowdownKey {
    model::GraphKey graph;
    std::uint64_t replay = 0;
    model::ReplayRange range;
    std::uint64_t samples = 0;
    friend bool operator==(const SlowdownKey&, const SlowdownKey&) = default;
  };
  struct SlowdownOf {
    model::GraphKey graph;
    model::Slowdown slowdown;
  };

  void draw_slowdown(PanelContext& context, const trace::Replay& replay);
  void request_slowdown(const PanelContext& context, const trace::Replay& replay);

  AsyncValue<SlowdownKey, SlowdownOf> slowdown_;
};

}  // namespace reprise::viewer

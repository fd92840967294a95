// The inspector page of a buffer. Threads: drawing thread only.
#pragma once

#include <cstdint>
#include <vector>

#include "panels/shared/panel_context.hpp"

namespace reprise::viewer {

class BufferPage {
 public:
  explicit BufferPage(Background& background) : aliases_(background) {}
  // `buffer` is a buffer index of the shown graph.
  void draw(PanelContext& context, std::uint32_t buffer);

 private:
  void draw_aliases(PanelContext& context, std::uint32_t buffer);

  AsyncValue<model::GraphKey, std::vector<std::vector<std::uint32_t>>> aliases_;
};

}  // namespace reprise::viewer

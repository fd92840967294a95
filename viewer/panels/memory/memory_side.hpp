// What stands beside the memory map: the figures of the slab and what they mean, the selected
// buffer, and who is live at the peak or at the moment that was chosen. Threads: the drawing
// thread's.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "panels/memory/memory_colours.hpp"
#include "panels/memory/memory_view_model.hpp"

namespace reprise::viewer {

// The figures and the legend. In the current window, at its cursor.
void draw_memory_figures(const Theme& theme, const MemoryViewModel& view_model,
                         MemoryColour colour);

class MemorySide {
 public:
  struct Content {
    const std::shared_ptr<const MemoryViewModel>& view_model;  // not null
    const std::vector<std::uint8_t>& matches;                  // a buffer each; empty: no filter
    MemoryColour colour = MemoryColour::Label;
    std::optional<trace::Time> moment;  // none: the peak
  };

  // The selected buffer, if it is a transient, and the list. Returns the moment to show next.
  [[nodiscard]] std::optional<trace::Time> draw(PanelContext& context, const Content& content);

 private:
  void draw_buffer(PanelContext& context, const MemoryViewModel& view_model,
                   std::uint32_t buffer) const;
  void draw_list(PanelContext& context, const Content& content);
  void update(const Content& content);

  LiveBuffers live_;  // of what stands below
  std::shared_ptr<const MemoryViewModel> seen_view_model_;
  trace::Time seen_at_ = 0;
};

}  // namespace reprise::viewer

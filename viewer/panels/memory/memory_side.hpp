// The side columns of the memory map: the summary of the slab, the selected buffer, and the buffers
// live at the peak or at the cursor. Threads: the drawing thread's.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "panels/memory/memory_colours.hpp"
#include "panels/memory/memory_view_model.hpp"

namespace reprise::viewer {

// Draws the summary and the legend at ImGui's cursor.
void draw_memory_summary(const Theme& theme, const MemoryViewModel& view_model,
                         MemoryColour colour);

class MemorySide {
 public:
  struct Content {
    const std::shared_ptr<const MemoryViewModel>& view_model;  // never null
    const std::vector<std::uint8_t>& matches;                  // per buffer; empty: no filter
    MemoryColour colour = MemoryColour::Label;
    std::optional<trace::Time> cursor;  // empty: the peak
  };

  // Draws the selected transient and the list of live buffers. Returns the new cursor.
  [[nodiscard]] std::optional<trace::Time> draw(PanelContext& context, const Content& content);

 private:
  void draw_buffer(PanelContext& context, const MemoryViewModel& view_model,
                   std::uint32_t buffer) const;
  void draw_list(PanelContext& context, const Content& content);
  void update(const Content& content);

  LiveBuffers live_;  // for live_view_model_ and live_time_
  std::shared_ptr<const MemoryViewModel> live_view_model_;
  trace::Time live_time_ = 0;
};

}  // namespace reprise::viewer

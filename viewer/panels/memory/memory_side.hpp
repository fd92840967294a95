// The side columns of the memory map: the summary of the slab, the selected buffer, and a list of
// buffers: those live at the peak or at the cursor, or those that form the lower bound. Threads:
// the drawing thread's.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "panels/memory/memory_colours.hpp"
#include "panels/memory/memory_view_model.hpp"
#include "panels/widgets/table_columns.hpp"

namespace reprise::viewer {

// Draws the summary and the legend at ImGui's cursor.
void draw_memory_summary(const Theme& theme, const MemoryViewModel& view_model,
                         MemoryColour colour);

enum class MemoryList : std::uint8_t { Live, Bound };

class MemorySide {
 public:
  struct Content {
    const std::shared_ptr<const MemoryViewModel>& view_model;  // never null
    const std::vector<std::uint8_t>& matches;                  // per buffer; empty: no filter
    MemoryColour colour = MemoryColour::Buffer;
    std::optional<trace::Time> cursor;  // empty: the peak
    const model::LowerBound* bound;     // null: not ready
  };

  // Draws the selected transient and the list. Returns the new cursor.
  [[nodiscard]] std::optional<trace::Time> draw(PanelContext& context, const Content& content);
  [[nodiscard]] MemoryList list() const noexcept { return list_; }

 private:
  void draw_buffer(PanelContext& context, const MemoryViewModel& view_model,
                   std::uint32_t buffer) const;
  [[nodiscard]] std::optional<trace::Time> draw_live_heading(const Theme& theme,
                                                             const Content& content) const;
  static void draw_bound_heading(const Theme& theme, const Content& content);
  void draw_list(PanelContext& context, const Content& content);
  [[nodiscard]] std::uint32_t buffer_of(const Content& content, std::size_t row) const;
  [[nodiscard]] TableCell list_cell(const Theme& theme, const Content& content, std::size_t row,
                                    std::size_t column) const;
  void update(const Content& content);

  MemoryList list_ = MemoryList::Live;
  std::optional<trace::Time> last_cursor_;

  LiveBuffers live_;  // for live_view_model_ and live_time_
  std::shared_ptr<const MemoryViewModel> live_view_model_;
  trace::Time live_time_ = 0;
};

}  // namespace reprise::viewer

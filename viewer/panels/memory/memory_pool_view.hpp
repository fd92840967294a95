// PoolView: the table of pools and device totals, and their history. BufferView: the table of all
// known buffers. Threads: the drawing thread's.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "panels/memory/memory_pools.hpp"
#include "panels/shared/async_value.hpp"
#include "panels/shared/panel_context.hpp"
#include "panels/widgets/canvas.hpp"
#include "panels/widgets/table_columns.hpp"

namespace reprise::viewer {

class PoolView {
 public:
  void draw(PanelContext& context, const PoolViewModel& view_model);

 private:
  void draw_table(PanelContext& context, const PoolViewModel& view_model, float width);
  void draw_history(PanelContext& context, const PoolViewModel& view_model);
  void draw_device_history(const Theme& theme, const PoolViewModel& view_model) const;
  void draw_hovered_time(const PanelContext& context, const PoolViewModel& view_model) const;

  Canvas canvas_{CanvasAxes::Horizontal};
  std::optional<std::uint32_t> pool_;  // id of the highlighted pool
};

class BufferView {
 public:
  explicit BufferView(Background& background) : order_(background) {}
  void draw(PanelContext& context, const std::shared_ptr<const PoolViewModel>& view_model,
            const std::shared_ptr<const std::vector<std::uint8_t>>& matches);

 private:
  struct Key {
    std::shared_ptr<const PoolViewModel> view_model;
    std::shared_ptr<const std::vector<std::uint8_t>> matches;  // may be null
    BufferOrder order;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Rows {
    std::shared_ptr<const PoolViewModel> view_model;  // of the indices
    std::vector<std::uint32_t> indices;
  };

  static void draw_row(PanelContext& context, const PoolViewModel& view_model,
                       const TableContents& contents, std::size_t at, std::uint32_t index);

  AsyncValue<Key, Rows> order_;
  BufferOrder sort_;
  model::Selection last_selection_;
};

}  // namespace reprise::viewer

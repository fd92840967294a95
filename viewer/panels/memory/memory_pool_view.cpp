#include "panels/memory/memory_pool_view.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <string>

#include "panels/widgets/axis.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/item_menu.hpp"
#include "panels/widgets/row_order.hpp"
#include "panels/widgets/table_columns.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

using trace::Time;

namespace {

enum class PoolColumn {
  Label,
  Holders,
  Sharers,
  Mapped,
  PeakMapped,
  Budget,
  Trims,
  Allocated,
  PeakDevice,
  PeakPinned,
  Buffers,
  Freed,
  Device
};

TableCell pool_cell(const Theme& theme, const PoolRow& row, PoolColumn column) {
  const auto graphs = [&](const std::string& current, const std::string& before,
                          const char* placeholder) -> TableCell {
    if (!current.empty()) return {.text = current};
    return {.text = before.empty() ? placeholder : "former: " + before, .colour = theme.ink_soft};
  };
  const auto residency = [&](TableCell cell) { return row.has_residency() ? cell : TableCell{}; };
  switch (column) {
    case PoolColumn::Label: return {.text = row.name, .swatch = category(theme, row.state.pool)};
    case PoolColumn::Holders: return graphs(row.holders, row.former_holders, "none");
    case PoolColumn::Sharers: return graphs(row.sharers, row.former_sharers, "");
    case PoolColumn::Mapped: return residency(bytes_cell(row.state.mapped));
    case PoolColumn::PeakMapped: return residency(bytes_cell(row.state.peak));
    case PoolColumn::Budget:
      return residency(row.state.budget == 0 ? TableCell{.text = "unlimited"}
                                             : bytes_cell(row.state.budget));
    case PoolColumn::Trims: return residency(count_cell(row.state.trims));
    case PoolColumn::Allocated: return bytes_cell(row.state.device_bytes + row.state.host_bytes);
    case PoolColumn::PeakDevice: return bytes_cell(row.peak_device);
    case PoolColumn::PeakPinned: return bytes_cell(row.peak_host);
    case PoolColumn::Buffers: return count_cell(row.peak_buffers);
    case PoolColumn::Freed: return count_cell(row.state.freed);
    case PoolColumn::Device: break;
  }
  return {.text = row.device, .colour = theme.ink_soft};
}

// Device totals have a row below the pools.
TableCell device_cell(const Theme& theme, const DeviceRow& row, PoolColumn column) {
  const ImU32 ink = theme.ink_soft;
  switch (column) {
    case PoolColumn::Label: return {.text = "total", .colour = ink};
    case PoolColumn::Mapped: return bytes_cell(row.totals.mapped, ink);
    case PoolColumn::PeakMapped: return bytes_cell(row.totals.peak, ink);
    case PoolColumn::Budget:
      return row.totals.budget == 0 ? TableCell{.text = "unlimited", .colour = ink}
                                    : bytes_cell(row.totals.budget, ink);
    case PoolColumn::Trims: return count_cell(row.totals.trims, ink);
    case PoolColumn::Allocated: return bytes_cell(row.totals.buffers, ink);
    case PoolColumn::PeakDevice: return bytes_cell(row.peak_buffers, ink);
    case PoolColumn::Device: return {.text = row.name, .colour = ink};
    case PoolColumn::Holders:
    case PoolColumn::Sharers:
    case PoolColumn::PeakPinned:
    case PoolColumn::Buffers:
    case PoolColumn::Freed: break;
  }
  return {};
}

TableCell buffer_cell(const Theme& theme, const PoolViewModel& view_model, const BufferRow& row,
                      std::size_t column) {
  const bool in_graph = view_model.graph && row.buffer != trace::kNone;
  const bool is_transient = row.kind == trace::BufferKind::Transient;
  const ImU32 ink = in_graph ? theme.ink : theme.ink_soft;
  const auto time = [&](Time at) {
    return time_cell(static_cast<double>(at - view_model.first), ink);
  };
  switch (column) {
    case 0: return {.text = row.name, .colour = ink};
    case 1: return {.text = buffer_kind_name(row.kind), .colour = ink};
    case 2: return bytes_cell(row.bytes, ink);
    case 3: {
      if (!is_transient && row.address == 0) return {};
      char address[40];
      std::snprintf(address, sizeof address, is_transient ? "slab + 0x%llx" : "0x%llx",
                    static_cast<unsigned long long>(row.address));
      return {.text = address, .colour = ink, .is_mono = true};
    }
    case 4: return {.text = row.pool, .colour = ink};
    case 5:
      if (is_transient) return {.text = "each replay", .colour = theme.ink_soft};
      return row.allocated == 0 ? TableCell{} : time(row.allocated);
    case 6:
      if (is_transient || (row.freed == 0 && row.allocated == 0)) return {};
      return row.freed != 0 ? time(row.freed)
                            : TableCell{.text = "alive", .colour = theme.ink_soft};
    case 7: return in_graph ? count_cell(row.uses, ink) : TableCell{};
    default: return {.text = row.other_graphs, .colour = theme.ink_soft};
  }
}

}  // namespace

void PoolView::draw(PanelContext& context, const PoolViewModel& view_model) {
  if (view_model.pools.empty()) {
    draw_empty(context.theme, "No pools", "The trace contains no pools.");
    return;
  }
  const float width = ImGui::GetContentRegionAvail().x;
  const bool show_history = width > 760 * context.theme.scale;
  draw_table(context, view_model, show_history ? std::floor(width * 0.6f) : width);
  if (!show_history) return;
  ImGui::SameLine();
  ImGui::BeginGroup();
  draw_history(context, view_model);
  ImGui::EndGroup();
}

void PoolView::draw_table(PanelContext& context, const PoolViewModel& view_model, float width) {
  static constexpr TableColumn kColumns[] = {
      {"pool", "Label of the pool. Click to highlight its history.", 14, ColumnAlign::Left},
      {"holders", "Graphs that retain the memory of the pool. Pale: former holders.", 24,
       ColumnAlign::Left},
      {"shared slab",
       "Graphs whose transients share one slab of the pool; they run one at a time. Pale: former "
       "sharers.",
       18, ColumnAlign::Left},
      {"mapped", "Mapped device memory: buffers and slabs of transients.", 10, ColumnAlign::Right,
       "bytes"},
      {"peak mapped", "Maximum mapped memory.", 10, ColumnAlign::Right, "bytes"},
      {"budget", "Limit of mapped memory.", 10, ColumnAlign::Right, "bytes"},
      {"trims", "Number of trims of idle graphs' slabs.", 7, ColumnAlign::Right},
      {"allocated", "Device and pinned bytes of its buffers, now or at the end of the trace.", 10,
       ColumnAlign::Right, "bytes"},
      {"peak device", "Maximum device memory of its buffers.", 11, ColumnAlign::Right, "bytes"},
      {"peak pinned", "Maximum pinned host memory.", 11, ColumnAlign::Right, "bytes"},
      {"peak buffers", "Maximum number of buffers, including transients.", 8, ColumnAlign::Right},
      {"freed", "Number of buffers that were freed.", 8, ColumnAlign::Right},
      {"device", "Device of the memory.", 14, ColumnAlign::Left},
  };
  const Theme& theme = context.theme;
  if (!begin_table(theme, context.view, {"pools", kColumns, {0, false}, {width, 0}})) return;
  const TableSort sort = sort_of({});
  std::vector<std::uint32_t> rows(view_model.pools.size());
  std::iota(rows.begin(), rows.end(), 0u);
  const auto sort_by = [&](auto value) {
    sort_rows(rows, sort.is_descending, [&](std::uint32_t a, std::uint32_t b) {
      return value(view_model.pools[a]) < value(view_model.pools[b]);
    });
  };
  switch (static_cast<PoolColumn>(sort.column)) {
    case PoolColumn::Label: sort_by([](const PoolRow& r) { return r.name; }); break;
    case PoolColumn::Holders: sort_by([](const PoolRow& r) { return r.holders; }); break;
    case PoolColumn::Sharers: sort_by([](const PoolRow& r) { return r.sharers; }); break;
    case PoolColumn::Mapped: sort_by([](const PoolRow& r) { return r.state.mapped; }); break;
    case PoolColumn::PeakMapped: sort_by([](const PoolRow& r) { return r.state.peak; }); break;
    case PoolColumn::Budget: sort_by([](const PoolRow& r) { return r.state.budget; }); break;
    case PoolColumn::Trims: sort_by([](const PoolRow& r) { return r.state.trims; }); break;
    case PoolColumn::Allocated:
      sort_by([](const PoolRow& r) { return r.state.device_bytes + r.state.host_bytes; });
      break;
    case PoolColumn::PeakDevice: sort_by([](const PoolRow& r) { return r.peak_device; }); break;
    case PoolColumn::PeakPinned: sort_by([](const PoolRow& r) { return r.peak_host; }); break;
    case PoolColumn::Buffers: sort_by([](const PoolRow& r) { return r.peak_buffers; }); break;
    case PoolColumn::Freed: sort_by([](const PoolRow& r) { return r.state.freed; }); break;
    case PoolColumn::Device: sort_by([](const PoolRow& r) { return r.device; }); break;
  }
  const TableContents contents{
      .name = "pools",
      .columns = kColumns,
      .rows = rows.size() + view_model.devices.size(),
      .cell = [&](std::size_t row, std::size_t column) {
        const auto of = static_cast<PoolColumn>(column);
        return row < rows.size() ? pool_cell(theme, view_model.pools[rows[row]], of)
                                 : device_cell(theme, view_model.devices[row - rows.size()], of);
      }};
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(rows.size()), row_height());
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const PoolRow& row = view_model.pools[rows[static_cast<std::size_t>(i)]];
      const bool is_selected = pool_ == row.state.pool;
      if (begin_row(theme, static_cast<int>(row.state.pool), {is_selected, false}).is_clicked) {
        pool_ = is_selected ? std::nullopt : std::optional(row.state.pool);
      }
      draw_cells(theme, contents, static_cast<std::size_t>(i));
    }
  }
  for (std::size_t i = 0; i < view_model.devices.size(); ++i) {
    const int device = static_cast<int>(view_model.devices[i].totals.device);
    static_cast<void>(begin_row(theme, -1 - device, {}));
    draw_cells(theme, contents, rows.size() + i);
  }
  end_table(context.view, contents);
}

void PoolView::draw_history(PanelContext& context, const PoolViewModel& view_model) {
  const Theme& theme = context.theme;
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImFont* font = theme.small ? theme.small : ImGui::GetFont();
  const ImVec2 at = ImGui::GetCursorScreenPos(), available = ImGui::GetContentRegionAvail();
  const float left = 66 * theme.scale, axis = font->FontSize + theme.half_space,
              title = font->FontSize + theme.half_space;
  list->AddText(font, font->FontSize, at, theme.ink_soft,
                "Pool memory over time. Line: device; area: device and pinned; thin line: mapped "
                "including slabs");
  const double length = static_cast<double>(std::max<Time>(view_model.last - view_model.first, 1)),
               top = static_cast<double>(std::max<std::uint64_t>(view_model.peak_bytes, 1)) * 1.08;
  ImGui::SetCursorScreenPos({at.x + left, at.y + title});
  const ImVec2 size{std::max(available.x - left, 20.0f),
                    std::max(available.y - title - axis, 20.0f)};
  canvas_.begin("pool history", {0, -top, length, 0}, theme, size);
  list->AddRectFilled(canvas_.min(), canvas_.max(), theme.background);
  for (const AxisTick& tick :
       byte_ticks(0, top, std::max(1, static_cast<int>(size.y / (font->FontSize * 2))))) {
    const float y = std::floor(canvas_.to_screen(0, -tick.at).y) + 0.5f;
    list->AddLine({canvas_.min().x, y}, {canvas_.max().x, y}, theme.line);
    list->PushClipRect({at.x, at.y}, {at.x + available.x, at.y + available.y}, false);
    const float width = font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, tick.text.c_str()).x;
    list->AddText(font, font->FontSize,
                  {canvas_.min().x - theme.half_space - width, std::floor(y - font->FontSize / 2)},
                  theme.ink_soft, tick.text.c_str());
    list->PopClipRect();
  }
  for (const AxisTick& tick :
       time_ticks(canvas_.visible_area().left, canvas_.visible_area().right,
                  std::max(1, static_cast<int>(size.x / (font->FontSize * 7))))) {
    const float x = std::floor(canvas_.to_screen(tick.at, 0).x) + 0.5f;
    list->AddLine({x, canvas_.min().y}, {x, canvas_.max().y}, theme.line);
    list->PushClipRect({at.x, at.y}, {at.x + available.x, at.y + available.y}, false);
    const float width = font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, tick.text.c_str()).x;
    list->AddText(
        font, font->FontSize,
        {std::floor(std::min(x - width / 2, at.x + available.x - width)), canvas_.max().y + 2},
        theme.ink_soft, tick.text.c_str());
    list->PopClipRect();
  }
  for (const PoolRow& pool : view_model.pools) {
    const bool is_faded = pool_ && *pool_ != pool.state.pool;
    const ImU32 colour = category(theme, pool.state.pool);
    const auto y_of = [&](std::uint64_t bytes) {
      return canvas_.to_screen(0, -static_cast<double>(bytes)).y;
    };
    float last_y = canvas_.max().y, last_mapped = last_y;
    for (std::size_t i = 0; i < pool.history.size();) {
      PoolPoint peak = pool.history[i];
      const auto x_of = [&](Time time) {
        return canvas_.to_screen(static_cast<double>(time - view_model.first), 0).x;
      };
      const float x0 = x_of(peak.at);
      std::size_t next = i + 1;
      // Points within one pixel column are drawn as their maximum.
      for (; next < pool.history.size() && x_of(pool.history[next].at) < x0 + 1; ++next) {
        const PoolPoint& point = pool.history[next];
        peak.mapped = std::max(peak.mapped, point.mapped);
        if (point.device_bytes + point.host_bytes <= peak.device_bytes + peak.host_bytes) continue;
        peak.device_bytes = point.device_bytes;
        peak.host_bytes = point.host_bytes;
      }
      const float x1 =
          next < pool.history.size() ? x_of(pool.history[next].at) : x_of(view_model.last);
      if (x1 >= canvas_.min().x && x0 <= canvas_.max().x) {
        const float y = y_of(peak.device_bytes);
        list->AddRectFilled({x0, y_of(peak.device_bytes + peak.host_bytes)}, {x1, canvas_.max().y},
                            with_alpha(colour, is_faded ? 0.05f : 0.2f));
        list->AddLine({x0, last_y}, {x0, y}, with_alpha(colour, is_faded ? 0.3f : 1.0f),
                      1.5f * theme.scale);
        list->AddLine({x0, y}, {x1, y}, with_alpha(colour, is_faded ? 0.3f : 1.0f),
                      1.5f * theme.scale);
        if (pool.has_residency()) {
          const float mapped = y_of(peak.mapped);
          list->AddLine({x0, last_mapped}, {x0, mapped}, with_alpha(colour, is_faded ? 0.2f : 0.7f),
                        0.75f * theme.scale);
          list->AddLine({x0, mapped}, {x1, mapped}, with_alpha(colour, is_faded ? 0.2f : 0.7f),
                        0.75f * theme.scale);
        }
      }
      last_mapped = y_of(pool.history[next - 1].mapped);
      last_y = y_of(pool.history[next - 1].device_bytes);
      i = next;
    }
  }
  draw_device_history(theme, view_model);
  if (canvas_.is_hovered()) draw_hovered_time(context, view_model);
  canvas_.end();
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(available);
}

void PoolView::draw_device_history(const Theme& theme, const PoolViewModel& view_model) const {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImU32 ink = with_alpha(theme.ink_soft, 0.8f);
  for (const DeviceRow& row : view_model.devices) {
    float before = canvas_.max().y;
    for (std::size_t i = 0; i < row.history.size();) {
      const auto x_of = [&](Time time) {
        return canvas_.to_screen(static_cast<double>(time - view_model.first), 0).x;
      };
      const float x0 = x_of(row.history[i].at);
      std::uint64_t peak = row.history[i].mapped;
      std::size_t next = i + 1;
      for (; next < row.history.size() && x_of(row.history[next].at) < x0 + 1; ++next)
        peak = std::max(peak, row.history[next].mapped);
      const float x1 =
          next < row.history.size() ? x_of(row.history[next].at) : x_of(view_model.last);
      const float y = canvas_.to_screen(0, -static_cast<double>(peak)).y;
      list->AddLine({x0, before}, {x0, y}, ink, theme.scale);
      list->AddLine({x0, y}, {x1, y}, ink, theme.scale);
      before = canvas_.to_screen(0, -static_cast<double>(row.history[next - 1].mapped)).y;
      i = next;
    }
  }
}

void PoolView::draw_hovered_time(const PanelContext& context,
                                 const PoolViewModel& view_model) const {
  const Theme& theme = context.theme;
  const float x = ImGui::GetIO().MousePos.x;
  const double at = canvas_.x_of(x);
  ImGui::GetWindowDrawList()->AddLine({x, canvas_.min().y}, {x, canvas_.max().y}, theme.ink_soft);
  ImGui::BeginTooltip();
  ImGui::TextUnformatted((duration_text(at) + " after trace start").c_str());
  for (const PoolRow& pool : view_model.pools) {
    const auto after = std::upper_bound(pool.history.begin(), pool.history.end(), at,
                                        [&](double t, const PoolPoint& p) {
                                          return t < static_cast<double>(p.at - view_model.first);
                                        });
    const PoolPoint values = after == pool.history.begin() ? PoolPoint{} : *std::prev(after);
    const std::string mapped =
        pool.has_residency() ? ", " + bytes_text(values.mapped) + " mapped" : "";
    draw_field(theme, pool.name.c_str(),
               bytes_text(values.device_bytes) + " device, " + bytes_text(values.host_bytes) +
                   " pinned" + mapped,
               ImGui::GetFontSize() * 9);
  }
  for (const DeviceRow& row : view_model.devices) {
    const auto after = std::upper_bound(row.history.begin(), row.history.end(), at,
                                        [&](double t, const PoolPoint& p) {
                                          return t < static_cast<double>(p.at - view_model.first);
                                        });
    const std::uint64_t mapped = after == row.history.begin() ? 0 : std::prev(after)->mapped;
    draw_field(theme, row.name.c_str(), bytes_text(mapped) + " mapped", ImGui::GetFontSize() * 9);
  }
  ImGui::EndTooltip();
}

void BufferView::draw(PanelContext& context, const std::shared_ptr<const PoolViewModel>& view_model,
                      const std::shared_ptr<const std::vector<std::uint8_t>>& matches) {
  static constexpr TableColumn kColumns[] = {
      {"buffer", "Name of the buffer. Click to select it if the shown graph uses it.", 24,
       ColumnAlign::Left},
      {"kind",
       "Device memory, pinned host memory, foreign (adopted) or transient (in the slab, during a "
       "replay).",
       11, ColumnAlign::Left},
      {"size", "Size without alignment padding.", 10, ColumnAlign::Right, "bytes"},
      {"address", "Address on the device; for a transient, the offset in the slab.", 19,
       ColumnAlign::Right},
      {"pool", "Pool of the buffer.", 12, ColumnAlign::Left},
      {"allocated", "Time since trace start.", 11, ColumnAlign::Right, "ns"},
      {"freed", "Time since trace start; alive: not freed in the trace.", 11, ColumnAlign::Right,
       "ns"},
      {"uses", "Number of accesses in the shown graph.", 6, ColumnAlign::Right},
      {"other graphs", "Other graphs that use the buffer.", 18, ColumnAlign::Left},
  };
  const Theme& theme = context.theme;
  const Key key{view_model, matches, sort_};
  order_.ask(key, [key] {
    static const std::vector<std::uint8_t> kAll;
    return Rows{key.view_model,
                ordered_buffers(*key.view_model, key.order, key.matches ? *key.matches : kAll)};
  });
  const auto rows = order_.value();
  if (view_model->buffers.empty())
    return draw_empty(theme, "No buffers", "The trace and the shown graph contain no buffers.");
  if (!rows) return draw_busy(theme, "Sorting buffers");
  if (rows->indices.empty())
    return draw_empty(
        theme, "No matching buffers",
        "A buffer matches by its name or by a matching node that accesses it. Esc clears "
        "the search.");
  const float footer = ImGui::GetTextLineHeight() + theme.half_space;
  if (begin_table(theme, context.view, {"buffers", kColumns, {2, true}, {0, -footer}})) {
    const TableSort sort = sort_of({static_cast<int>(sort_.by), sort_.is_descending});
    if (sort.column <= static_cast<int>(BufferColumn::Uses))
      sort_ = {static_cast<BufferColumn>(sort.column), sort.is_descending};
    if (last_selection_ != context.view.selection || context.view.reveal_selection) {
      last_selection_ = context.view.selection;
      for (std::size_t i = 0; i < rows->indices.size() && rows->view_model->graph; ++i) {
        const std::uint32_t b = rows->view_model->buffers[rows->indices[i]].buffer;
        if (b != trace::kNone && last_selection_ == model::Selection(model::SelectedBuffer{
                                                        rows->view_model->graph->key(), b}))
          reveal_row(i);
      }
    }
    const TableContents contents{.name = "buffers",
                                 .columns = kColumns,
                                 .rows = rows->indices.size(),
                                 .cell = [&](std::size_t row, std::size_t column) {
                                   const PoolViewModel& of = *rows->view_model;
                                   return buffer_cell(theme, of, of.buffers[rows->indices[row]],
                                                      column);
                                 }};
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(rows->indices.size()), row_height());
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
        const auto at = static_cast<std::size_t>(i);
        draw_row(context, *rows->view_model, contents, at, rows->indices[at]);
      }
    }
    end_table(context.view, contents);
  }
  std::uint64_t bytes = 0;
  for (const std::uint32_t index : rows->indices) bytes += rows->view_model->buffers[index].bytes;
  const std::string shown = rows->indices.size() == rows->view_model->buffers.size()
                                ? count_text(rows->indices.size()) + " buffers"
                                : count_text(rows->indices.size()) + " of " +
                                      count_text(rows->view_model->buffers.size()) +
                                      " buffers match (shown graph only)";
  ImGui::PushStyleColor(ImGuiCol_Text, theme.ink_soft);
  ImGui::TextUnformatted((shown + "      " + bytes_text(bytes)).c_str());
  ImGui::PopStyleColor();
}

void BufferView::draw_row(PanelContext& context, const PoolViewModel& view_model,
                          const TableContents& contents, std::size_t at, std::uint32_t index) {
  const Theme& theme = context.theme;
  const BufferRow& row = view_model.buffers[index];
  const bool in_graph = view_model.graph && row.buffer != trace::kNone;
  const model::Selection self =
      in_graph ? model::Selection(model::SelectedBuffer{view_model.graph->key(), row.buffer})
               : model::Selection();
  const bool is_selected = in_graph && context.view.selection == self;
  const bool is_highlighted =
      in_graph && (context.view.hovered == self ||
                   model::selects_buffer(context.view.selection, *view_model.graph, row.buffer));
  const RowInput input = begin_row(theme, static_cast<int>(index), {is_selected, is_highlighted});
  if (input.is_clicked && in_graph) context.view.select(self);
  if (input.is_hovered && in_graph) context.view.hovered = self;
  draw_row_menu(context, self, at);
  draw_cells(theme, contents, at);
}

}  // namespace reprise::viewer

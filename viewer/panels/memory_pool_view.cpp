#include "panels/memory_pool_view.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "panels/format.hpp"
#include "panels/memory_axis.hpp"
#include "panels/row_order.hpp"
#include "panels/table_columns.hpp"
#include "panels/widgets.hpp"

namespace reprise::viewer {

using trace::Time;

namespace {

enum class PoolColumn { Label, Holders, Sharers, Taken, MostTaken, Budget, Trims, InBuffers, MostDevice, MostPinned, Buffers, Device };

}  // namespace

void PoolView::draw(Frame& frame, const PoolFacts& facts) {
  if (facts.pools.empty()) {
    draw_empty(frame.theme, "No pools", "The trace tells of no pool of persistent buffers.");
    return;
  }
  const float width = ImGui::GetContentRegionAvail().x;
  const bool has_room = width > 760 * frame.theme.scale;
  draw_table(frame, facts, has_room ? std::floor(width * 0.6f) : width);
  if (!has_room) return;
  ImGui::SameLine();
  ImGui::BeginGroup();
  draw_history(frame, facts);
  ImGui::EndGroup();
}

void PoolView::draw_table(Frame& frame, const PoolFacts& facts, float width) {
  static constexpr TableColumn kColumns[] = {
      {"pool", "Its label. A click makes it stand out in the picture.", 14, ColumnAlign::Left},
      {"held by", "Graphs that hold it: its memory stays as long as they live. Pale: they did, and do no more.", 24, ColumnAlign::Left},
      {"one slab", "Graphs whose transients share a slab of the pool, which is as large as the largest needs: they take turns. Pale: they did.", 18, ColumnAlign::Left},
      {"taken", "Device memory with pages behind it: buffers, and the slabs that hold the transients of its graphs.", 10, ColumnAlign::Right},
      {"most taken", "The most that was ever taken.", 10, ColumnAlign::Right},
      {"budget", "What it may take at most.", 10, ColumnAlign::Right},
      {"trims", "Slabs of idle graphs that gave their pages back, so far.", 7, ColumnAlign::Right},
      {"in buffers", "Device and pinned bytes of its buffers now; of a trace that has ended, at its end.", 10, ColumnAlign::Right},
      {"most device", "The most device memory that its buffers took at one time.", 11, ColumnAlign::Right},
      {"most pinned", "The most pinned host memory at one time.", 11, ColumnAlign::Right},
      {"buffers", "The most buffers at one time, transients included.", 8, ColumnAlign::Right},
      {"device", "The device that its memory belongs to.", 14, ColumnAlign::Left},
  };
  const Theme& theme = frame.theme;
  if (!begin_table(theme, {"pools", kColumns, {0, false}, {width, 0}})) return;
  const TableSort sort = sort_of({});
  std::vector<std::uint32_t> rows(facts.pools.size());
  std::iota(rows.begin(), rows.end(), 0u);
  const auto sort_by = [&](auto value) {
    sort_rows(rows, sort.is_descending,
              [&](std::uint32_t a, std::uint32_t b) { return value(facts.pools[a]) < value(facts.pools[b]); });
  };
  switch (static_cast<PoolColumn>(sort.column)) {
    case PoolColumn::Label: sort_by([](const PoolRow& r) { return r.state.label; }); break;
    case PoolColumn::Holders: sort_by([](const PoolRow& r) { return r.holders; }); break;
    case PoolColumn::Sharers: sort_by([](const PoolRow& r) { return r.sharers; }); break;
    case PoolColumn::Taken: sort_by([](const PoolRow& r) { return r.state.mapped; }); break;
    case PoolColumn::MostTaken: sort_by([](const PoolRow& r) { return r.state.peak; }); break;
    case PoolColumn::Budget: sort_by([](const PoolRow& r) { return r.state.budget; }); break;
    case PoolColumn::Trims: sort_by([](const PoolRow& r) { return r.state.trims; }); break;
    case PoolColumn::InBuffers: sort_by([](const PoolRow& r) { return r.state.device_bytes + r.state.host_bytes; }); break;
    case PoolColumn::MostDevice: sort_by([](const PoolRow& r) { return r.most_device; }); break;
    case PoolColumn::MostPinned: sort_by([](const PoolRow& r) { return r.most_host; }); break;
    case PoolColumn::Buffers: sort_by([](const PoolRow& r) { return r.most_buffers; }); break;
    case PoolColumn::Device: sort_by([](const PoolRow& r) { return r.device; }); break;
  }
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(rows.size()), row_height());
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const PoolRow& row = facts.pools[rows[static_cast<std::size_t>(i)]];
      const bool is_chosen = pool_ == row.state.pool;
      if (begin_row(theme, static_cast<int>(row.state.pool), {is_chosen, false}).is_clicked) {
        pool_ = is_chosen ? std::nullopt : std::optional(row.state.pool);
      }
      const ImVec2 at = ImGui::GetCursorScreenPos();
      const float line = ImGui::GetTextLineHeight(), swatch = line * 0.62f, top = at.y + (line - swatch) / 2;
      ImGui::GetWindowDrawList()->AddRectFilled({at.x, top}, {at.x + swatch, top + swatch}, category(theme, row.state.pool), 2 * theme.scale);
      ImGui::SetCursorScreenPos({at.x + swatch + theme.half_space * 1.5f, at.y});
      const auto cell = [&](PoolColumn column, const std::string& text, ImU32 ink) { draw_cell(theme, static_cast<int>(column), text, ink); };
      const auto number = [&](PoolColumn column, const std::string& text) { draw_number(theme, static_cast<int>(column), text); };
      cell(PoolColumn::Label, row.state.label.empty() ? "pool " + count_text(row.state.pool) : row.state.label, theme.ink);
      const auto graphs = [&](PoolColumn column, const std::string& now, const std::string& before, const char* nobody) {
        const std::string earlier = before.empty() ? nobody : "earlier: " + before;
        cell(column, now.empty() ? earlier : now, now.empty() ? theme.ink_soft : theme.ink);
      };
      graphs(PoolColumn::Holders, row.holders, row.earlier_holders, "nobody");
      graphs(PoolColumn::Sharers, row.sharers, row.earlier_sharers, "");
      if (row.is_memory_told()) {
        number(PoolColumn::Taken, bytes_text(row.state.mapped));
        number(PoolColumn::MostTaken, bytes_text(row.state.peak));
        number(PoolColumn::Budget, row.state.budget == 0 ? "none" : bytes_text(row.state.budget));
        number(PoolColumn::Trims, count_text(row.state.trims));
      }
      number(PoolColumn::InBuffers, bytes_text(row.state.device_bytes + row.state.host_bytes));
      number(PoolColumn::MostDevice, bytes_text(row.most_device));
      number(PoolColumn::MostPinned, bytes_text(row.most_host));
      number(PoolColumn::Buffers, count_text(row.most_buffers));
      cell(PoolColumn::Device, row.device, theme.ink_soft);
    }
  }
  draw_devices(theme, facts);
  ImGui::EndTable();
}

// Below the pools, whatever these are sorted by.
void PoolView::draw_devices(const Theme& theme, const PoolFacts& facts) {
  for (const DeviceRow& row : facts.devices) {
    static_cast<void>(begin_row(theme, -1 - static_cast<int>(row.totals.device), {}));
    const auto number = [&](PoolColumn column, const std::string& text) { draw_number(theme, static_cast<int>(column), text, theme.ink_soft); };
    draw_cell(theme, static_cast<int>(PoolColumn::Label), "all of it", theme.ink_soft);
    number(PoolColumn::Taken, bytes_text(row.totals.mapped));
    number(PoolColumn::MostTaken, bytes_text(row.totals.peak));
    number(PoolColumn::Budget, row.totals.budget == 0 ? "none" : bytes_text(row.totals.budget));
    number(PoolColumn::Trims, count_text(row.totals.trims));
    number(PoolColumn::InBuffers, bytes_text(row.totals.buffers));
    number(PoolColumn::MostDevice, bytes_text(row.most_buffers));
    draw_cell(theme, static_cast<int>(PoolColumn::Device), row.name, theme.ink_soft);
  }
}

void PoolView::draw_history(Frame& frame, const PoolFacts& facts) {
  const Theme& theme = frame.theme;
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImFont* font = theme.small ? theme.small : ImGui::GetFont();
  const ImVec2 at = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  const float left = 66 * theme.scale, axis = font->FontSize + theme.half_space, title = font->FontSize + theme.half_space;
  list->AddText(font, font->FontSize, at, theme.ink_soft, "Bytes of each pool over the trace: line device, area device and pinned, thin line with slabs");
  const double length = static_cast<double>(std::max<Time>(facts.last - facts.first, 1)),
               top = static_cast<double>(std::max<std::uint64_t>(facts.most_bytes, 1)) * 1.08;
  ImGui::SetCursorScreenPos({at.x + left, at.y + title});
  const ImVec2 size{std::max(room.x - left, 20.0f), std::max(room.y - title - axis, 20.0f)};
  canvas_.begin("pool history", {0, -top, length, 0}, theme, size);
  list->AddRectFilled(canvas_.min(), canvas_.max(), theme.background);
  for (const AxisTick& tick : byte_ticks(0, top, std::max(1, static_cast<int>(size.y / (font->FontSize * 2))))) {
    const float y = std::floor(canvas_.to_screen(0, -tick.at).y) + 0.5f;
    list->AddLine({canvas_.min().x, y}, {canvas_.max().x, y}, theme.line);
    list->PushClipRect({at.x, at.y}, {at.x + room.x, at.y + room.y}, false);
    const float width = font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, tick.text.c_str()).x;
    list->AddText(font, font->FontSize, {canvas_.min().x - theme.half_space - width, std::floor(y - font->FontSize / 2)}, theme.ink_soft,
                  tick.text.c_str());
    list->PopClipRect();
  }
  for (const AxisTick& tick :
       time_ticks(canvas_.in_sight().left, canvas_.in_sight().right, std::max(1, static_cast<int>(size.x / (font->FontSize * 7))))) {
    const float x = std::floor(canvas_.to_screen(tick.at, 0).x) + 0.5f;
    list->AddLine({x, canvas_.min().y}, {x, canvas_.max().y}, theme.line);
    list->PushClipRect({at.x, at.y}, {at.x + room.x, at.y + room.y}, false);
    const float width = font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, tick.text.c_str()).x;
    list->AddText(font, font->FontSize, {std::floor(std::min(x - width / 2, at.x + room.x - width)), canvas_.max().y + 2}, theme.ink_soft,
                  tick.text.c_str());
    list->PopClipRect();
  }
  for (const PoolRow& pool : facts.pools) {
    const bool is_faded = pool_ && *pool_ != pool.state.pool;
    const ImU32 colour = category(theme, pool.state.pool);
    const auto y_of = [&](std::uint64_t bytes) { return canvas_.to_screen(0, -static_cast<double>(bytes)).y; };
    float last_y = canvas_.max().y, last_taken = last_y;
    for (std::size_t i = 0; i < pool.history.size();) {
      PoolPoint most = pool.history[i];
      const auto x_of = [&](Time time) { return canvas_.to_screen(static_cast<double>(time - facts.first), 0).x; };
      const float x0 = x_of(most.at);
      std::size_t next = i + 1;
      // What falls into one column of pixels is drawn as its most.
      for (; next < pool.history.size() && x_of(pool.history[next].at) < x0 + 1; ++next) {
        const PoolPoint& point = pool.history[next];
        most.mapped = std::max(most.mapped, point.mapped);
        if (point.device_bytes + point.host_bytes <= most.device_bytes + most.host_bytes) continue;
        most.device_bytes = point.device_bytes;
        most.host_bytes = point.host_bytes;
      }
      const float x1 = next < pool.history.size() ? x_of(pool.history[next].at) : x_of(facts.last);
      if (x1 >= canvas_.min().x && x0 <= canvas_.max().x) {
        const float y = y_of(most.device_bytes);
        list->AddRectFilled({x0, y_of(most.device_bytes + most.host_bytes)}, {x1, canvas_.max().y}, with_alpha(colour, is_faded ? 0.05f : 0.2f));
        list->AddLine({x0, last_y}, {x0, y}, with_alpha(colour, is_faded ? 0.3f : 1.0f), 1.5f * theme.scale);
        list->AddLine({x0, y}, {x1, y}, with_alpha(colour, is_faded ? 0.3f : 1.0f), 1.5f * theme.scale);
        if (pool.is_memory_told()) {
          const float taken = y_of(most.mapped);
          list->AddLine({x0, last_taken}, {x0, taken}, with_alpha(colour, is_faded ? 0.2f : 0.7f), 0.75f * theme.scale);
          list->AddLine({x0, taken}, {x1, taken}, with_alpha(colour, is_faded ? 0.2f : 0.7f), 0.75f * theme.scale);
        }
      }
      last_taken = y_of(pool.history[next - 1].mapped);
      last_y = y_of(pool.history[next - 1].device_bytes);
      i = next;
    }
  }
  draw_device_history(theme, facts);
  if (canvas_.is_hovered()) draw_hovered_time(frame, facts);
  canvas_.end();
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(room);
}

void PoolView::draw_device_history(const Theme& theme, const PoolFacts& facts) const {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImU32 ink = with_alpha(theme.ink_soft, 0.8f);
  for (const DeviceRow& row : facts.devices) {
    float before = canvas_.max().y;
    for (std::size_t i = 0; i < row.history.size();) {
      const auto x_of = [&](Time time) { return canvas_.to_screen(static_cast<double>(time - facts.first), 0).x; };
      const float x0 = x_of(row.history[i].at);
      std::uint64_t most = row.history[i].mapped;
      std::size_t next = i + 1;
      for (; next < row.history.size() && x_of(row.history[next].at) < x0 + 1; ++next) most = std::max(most, row.history[next].mapped);
      const float x1 = next < row.history.size() ? x_of(row.history[next].at) : x_of(facts.last);
      const float y = canvas_.to_screen(0, -static_cast<double>(most)).y;
      list->AddLine({x0, before}, {x0, y}, ink, theme.scale);
      list->AddLine({x0, y}, {x1, y}, ink, theme.scale);
      before = canvas_.to_screen(0, -static_cast<double>(row.history[next - 1].mapped)).y;
      i = next;
    }
  }
}

void PoolView::draw_hovered_time(const Frame& frame, const PoolFacts& facts) const {
  const Theme& theme = frame.theme;
  const float x = ImGui::GetIO().MousePos.x;
  const double at = canvas_.x_of(x);
  ImGui::GetWindowDrawList()->AddLine({x, canvas_.min().y}, {x, canvas_.max().y}, theme.ink_soft);
  ImGui::BeginTooltip();
  ImGui::TextUnformatted((duration_text(at) + " after the trace began").c_str());
  for (const PoolRow& pool : facts.pools) {
    const auto after = std::upper_bound(pool.history.begin(), pool.history.end(), at,
                                        [&](double t, const PoolPoint& p) { return t < static_cast<double>(p.at - facts.first); });
    const PoolPoint then = after == pool.history.begin() ? PoolPoint{} : *std::prev(after);
    const std::string taken = pool.is_memory_told() ? ", " + bytes_text(then.mapped) + " taken" : "";
    draw_field(theme, pool.state.label.c_str(), bytes_text(then.device_bytes) + " device, " + bytes_text(then.host_bytes) + " pinned" + taken,
               ImGui::GetFontSize() * 9);
  }
  for (const DeviceRow& row : facts.devices) {
    const auto after = std::upper_bound(row.history.begin(), row.history.end(), at,
                                        [&](double t, const PoolPoint& p) { return t < static_cast<double>(p.at - facts.first); });
    const std::uint64_t taken = after == row.history.begin() ? 0 : std::prev(after)->mapped;
    draw_field(theme, row.name.c_str(), bytes_text(taken) + " taken", ImGui::GetFontSize() * 9);
  }
  ImGui::EndTooltip();
}

void BufferView::draw(Frame& frame, const std::shared_ptr<const PoolFacts>& facts, const std::shared_ptr<const std::vector<std::uint8_t>>& matches) {
  static constexpr TableColumn kColumns[] = {
      {"buffer", "Its name. A click selects it, if the shown graph touches it.", 24, ColumnAlign::Left},
      {"kind", "Device memory, pinned host memory, foreign (adopted, not allocated here), or transient (lives inside a replay, in the slab).", 11,
       ColumnAlign::Left},
      {"size", "In bytes, without what alignment adds.", 10, ColumnAlign::Right},
      {"address", "On its device; of a transient, its offset in the slab.", 19, ColumnAlign::Right},
      {"pool", "The pool that it was allocated from.", 12, ColumnAlign::Left},
      {"allocated", "After the trace began.", 11, ColumnAlign::Right},
      {"freed", "After the trace began; alive: not within the trace.", 11, ColumnAlign::Right},
      {"uses", "Nodes of the shown graph that touch it.", 6, ColumnAlign::Right},
      {"other graphs", "Graphs beside the shown one that touch it.", 18, ColumnAlign::Left},
  };
  const Theme& theme = frame.theme;
  const Key key{facts, matches, asked_};
  order_.ask(key, [key] {
    static const std::vector<std::uint8_t> kAll;
    return Rows{key.facts, ordered_buffers(*key.facts, key.order, key.matches ? *key.matches : kAll)};
  });
  const auto rows = order_.value();
  if (facts->buffers.empty()) return draw_empty(theme, "No buffers", "The trace tells of no buffer, and the shown graph touches none.");
  if (!rows) return draw_busy(theme, "Sorting the buffers");
  if (rows->places.empty())
    return draw_empty(theme, "No buffer passes the filter",
                      "A buffer passes by its name, or because a node that passes touches it. Esc clears the search.");
  const float footer = ImGui::GetTextLineHeight() + theme.half_space;
  if (begin_table(theme, {"buffers", kColumns, {2, true}, {0, -footer}})) {
    const TableSort sort = sort_of({static_cast<int>(asked_.by), asked_.is_descending});
    if (sort.column <= static_cast<int>(BufferColumn::Uses)) asked_ = {static_cast<BufferColumn>(sort.column), sort.is_descending};
    if (seen_ != frame.view.selection || frame.view.reveal_selection) {
      seen_ = frame.view.selection;
      for (std::size_t i = 0; i < rows->places.size() && rows->facts->graph; ++i) {
        const std::uint32_t b = rows->facts->buffers[rows->places[i]].buffer;
        if (b != trace::kNone && seen_ == model::Selection(model::SelectedBuffer{rows->facts->graph->key(), b})) reveal_row(i);
      }
    }
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(rows->places.size()), row_height());
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) draw_row(frame, *rows->facts, rows->places[static_cast<std::size_t>(i)]);
    }
    ImGui::EndTable();
  }
  std::uint64_t bytes = 0;
  for (const std::uint32_t place : rows->places) bytes += rows->facts->buffers[place].bytes;
  const std::string shown =
      rows->places.size() == rows->facts->buffers.size()
          ? count_text(rows->places.size()) + " buffers"
          : count_text(rows->places.size()) + " of " + count_text(rows->facts->buffers.size()) + " buffers pass the filter, all of the shown graph";
  ImGui::PushStyleColor(ImGuiCol_Text, theme.ink_soft);
  ImGui::TextUnformatted((shown + "      " + bytes_text(bytes)).c_str());
  ImGui::PopStyleColor();
}

void BufferView::draw_row(Frame& frame, const PoolFacts& facts, std::uint32_t place) const {
  const Theme& theme = frame.theme;
  const BufferRow& row = facts.buffers[place];
  const bool is_of_graph = facts.graph && row.buffer != trace::kNone;
  const model::Selection self = is_of_graph ? model::Selection(model::SelectedBuffer{facts.graph->key(), row.buffer}) : model::Selection();
  const bool is_selected = is_of_graph && frame.view.selection == self;
  const bool is_lit = is_of_graph && (frame.view.hovered == self || model::selects_buffer(frame.view.selection, *facts.graph, row.buffer));
  const RowInput input = begin_row(theme, static_cast<int>(place), {is_selected, is_lit});
  if (input.is_clicked && is_of_graph) frame.view.select(self);
  if (input.is_hovered && is_of_graph) frame.view.hovered = self;
  const ImU32 ink = is_of_graph ? theme.ink : theme.ink_soft;
  draw_cell(theme, 0, row.name, ink);
  draw_cell(theme, 1, buffer_kind_name(row.kind), ink);
  draw_number(theme, 2, bytes_text(row.bytes), ink);
  const bool is_transient = row.kind == trace::BufferKind::Transient;
  char address[40];
  std::snprintf(address, sizeof address, is_transient ? "slab + 0x%llx" : "0x%llx", static_cast<unsigned long long>(row.address));
  if (theme.mono) ImGui::PushFont(theme.mono);
  draw_number(theme, 3, !is_transient && row.address == 0 ? "" : address, ink);
  if (theme.mono) ImGui::PopFont();
  draw_cell(theme, 4, row.pool, ink);
  if (!is_transient) {
    const auto time = [&](Time at) { return duration_text(static_cast<double>(at - facts.first)); };
    draw_number(theme, 5, row.allocated == 0 ? "" : time(row.allocated), ink);
    draw_number(theme, 6, row.freed != 0 ? time(row.freed) : row.allocated != 0 ? "alive" : "", row.freed != 0 ? ink : theme.ink_soft);
  } else {
    draw_number(theme, 5, "each replay", theme.ink_soft);
  }
  draw_number(theme, 7, is_of_graph ? count_text(row.uses) : "", ink);
  draw_cell(theme, 8, row.other_graphs, theme.ink_soft);
}

}  // namespace reprise::viewer

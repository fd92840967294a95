#include "panels/messages/messages_panel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <imgui.h>

#include "panels/messages/message_list.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/table_columns.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

ImU32 colour_of(const Theme& theme, MessageRank rank) {
  switch (rank) {
    case MessageRank::Error: return theme.error;
    case MessageRank::Warning: return theme.warning;
    case MessageRank::Info: return theme.accent;
    case MessageRank::Update: return theme.good;
    case MessageRank::Loss: return theme.warning;
    case MessageRank::Note: return theme.accent;
  }
  return theme.ink;
}

const char* name_of(MessageRank rank) {
  switch (rank) {
    case MessageRank::Error: return "error";
    case MessageRank::Warning: return "warning";
    case MessageRank::Info: return "info";
    case MessageRank::Update: return "update";
    case MessageRank::Loss: return "loss";
    case MessageRank::Note: return "note";
  }
  return "?";
}

const char* plural_of(MessageRank rank) {
  switch (rank) {
    case MessageRank::Error: return "errors";
    case MessageRank::Warning: return "warnings";
    case MessageRank::Info: return "info";
    case MessageRank::Update: return "updates";
    case MessageRank::Loss: return "losses";
    case MessageRank::Note: return "notes";
  }
  return "?";
}

constexpr TableColumn kMessageColumns[] = {{"Time", "", 0, ColumnAlign::Right, "ns"},
                                           {"Kind", ""},
                                           {"Id", ""},
                                           {"Message", ""},
                                           {"Location", ""}};

// The icon of a rank: a shape, so that ranks do not rely on colour alone.
void draw_rank_icon(const Theme& theme, MessageRank rank) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float size = ImGui::GetTextLineHeight(), r = size * 0.36f;
  const ImVec2 c{at.x + r + 1, at.y + size / 2};
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const ImU32 colour = colour_of(theme, rank);
  switch (rank) {
    case MessageRank::Error:
      draw.AddRectFilled({c.x - r, c.y - r}, {c.x + r, c.y + r}, colour, 2);
      break;
    case MessageRank::Warning:
      draw.AddTriangleFilled({c.x - r, c.y + r}, {c.x, c.y - r}, {c.x + r, c.y + r}, colour);
      break;
    case MessageRank::Info: draw.AddCircleFilled(c, r, colour); break;
    case MessageRank::Update: draw.AddCircle(c, r, colour, 0, 2 * theme.scale); break;
    case MessageRank::Loss:
      draw.AddTriangle({c.x - r, c.y - r}, {c.x + r, c.y - r}, {c.x, c.y + r}, colour,
                       1.6f * theme.scale);
      break;
    case MessageRank::Note:
      draw.AddRect({c.x - r, c.y - r}, {c.x + r, c.y + r}, colour, 2, 0, 1.6f * theme.scale);
      break;
  }
  ImGui::Dummy({2 * r + 4 * theme.scale, size});
  ImGui::SameLine(0, theme.half_space);
}

}  // namespace

struct MessagesPanel::State {
  explicit State(Background& background) : list(background) {}

  void draw_ranks(const PanelContext& context, const MessageList& messages);
  void draw_row(PanelContext& context, const MessageLine& line);

  AsyncValue<MessageListKey, MessageList> list;
  std::uint32_t ranks = 0xff;  // bit mask of the visible ranks
  const Notes* notes = nullptr;
};

MessagesPanel::MessagesPanel(Background& background)
    : state_(std::make_unique<State>(background)) {}
MessagesPanel::~MessagesPanel() = default;

void MessagesPanel::State::draw_ranks(const PanelContext& context, const MessageList& messages) {
  const Theme& theme = context.theme;
  bool first = true;
  for (std::size_t i = 0; i < kMessageRanks; ++i) {
    const auto rank = static_cast<MessageRank>(i);
    const std::uint64_t count = messages.counts[i];
    if (count == 0) continue;
    const bool on = (ranks >> i & 1) != 0;
    const std::string text =
        count_text(count) + " " + (count == 1 ? name_of(rank) : plural_of(rank));
    if (!first) ImGui::SameLine();
    first = false;
    ImGui::PushStyleColor(ImGuiCol_Button, on ? theme.accent_soft : theme.raised);
    ImGui::PushStyleColor(ImGuiCol_Text, on ? theme.ink : theme.ink_faint);
    if (ImGui::Button((text + "##" + name_of(rank)).c_str())) ranks ^= 1u << i;
    ImGui::PopStyleColor(2);
    tooltip(on ? "Click to hide" : "Click to show");
  }
  if (!context.view.filter.text.empty()) {
    ImGui::SameLine();
    ImGui::PushStyleColor(ImGuiCol_Text, theme.ink_soft);
    ImGui::Text("matching \"%s\"", context.view.filter.text.c_str());
    ImGui::PopStyleColor();
  }
}

void MessagesPanel::State::draw_row(PanelContext& context, const MessageLine& line) {
  const Theme& theme = context.theme;
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  ImGui::PushID(&line);
  const bool has_target = !std::holds_alternative<std::monostate>(line.target);
  const bool is_selected = has_target && context.view.selection == line.target;
  const float top = ImGui::GetCursorPosY();
  const float height = ImGui::GetTextLineHeight();
  if (ImGui::Selectable("##row", is_selected,
                        ImGuiSelectableFlags_SpanAllColumns | ImGuiSelectableFlags_AllowItemOverlap,
                        {0, height}) &&
      has_target)
    context.view.go_to(line.target);
  if (has_target && ImGui::IsItemHovered()) context.view.hovered = line.target;
  tooltip(has_target ? line.text + "\n\nClick to select " + line.location : line.text);
  ImGui::SetCursorPosY(top);
  ImGui::PushFont(theme.mono);
  text_right(line.at_text, theme.ink_soft);
  ImGui::PopFont();
  ImGui::TableNextColumn();
  draw_rank_icon(theme, line.rank);
  ImGui::TextUnformatted(name_of(line.rank));
  ImGui::TableNextColumn();
  text_ellipsis(line.id, theme.ink_soft);
  ImGui::TableNextColumn();
  text_ellipsis(line.text.substr(0, line.text.find('\n')), theme.ink);
  ImGui::TableNextColumn();
  if (text_ellipsis(line.location, has_target ? theme.accent : theme.ink_soft))
    tooltip(line.location);
  ImGui::PopID();
}

void MessagesPanel::show_notes(const Notes& notes) { state_->notes = &notes; }

void MessagesPanel::draw(PanelContext& context) {
  const model::Document& document = *context.document;
  const MessageListKey key{.messages = document.messages.size(),
                           .updates = document.updates.size(),
                           .losses = document.losses.size(),
                           .graphs = document.graphs.size(),
                           .filter = context.view.filter.text,
                           .ranks = state_->ranks,
                           .notes = state_->notes != nullptr ? state_->notes->revision() : 0,
                           .incomplete = context.incomplete};
  state_->list.ask(
      key, [shared = context.document, filter = context.view.filter.text, ranks = state_->ranks,
            notes = state_->notes != nullptr ? state_->notes->all() : std::vector<Note>(),
            incomplete = context.incomplete] {
        return make_message_list(*shared, filter, ranks, notes, incomplete);
      });
  const auto messages = state_->list.value();
  if (!messages) return draw_busy(context.theme, "Loading messages");
  if (messages->all == 0) {
    return draw_empty(context.theme, "No messages",
                      "This panel lists validation findings, graph updates and lost records.");
  }
  state_->draw_ranks(context, *messages);
  if (messages->lines.empty())
    return draw_empty(context.theme, "All " + count_text(messages->all) + " messages are hidden",
                      "The search and the kinds that are switched off hide all messages.");
  const ImGuiTableFlags flags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg |
                                ImGuiTableFlags_BordersInnerV | ImGuiTableFlags_Resizable |
                                ImGuiTableFlags_PadOuterX;
  if (!ImGui::BeginTable("messages", static_cast<int>(std::size(kMessageColumns)), flags)) return;
  draw_table_menu(context.view);
  const float em = ImGui::GetFontSize();
  ImGui::TableSetupScrollFreeze(0, 1);
  ImGui::TableSetupColumn(kMessageColumns[0].name, ImGuiTableColumnFlags_WidthFixed, 6.5f * em);
  ImGui::TableSetupColumn(kMessageColumns[1].name, ImGuiTableColumnFlags_WidthFixed, 5.5f * em);
  ImGui::TableSetupColumn(kMessageColumns[2].name, ImGuiTableColumnFlags_WidthFixed, 14 * em);
  ImGui::TableSetupColumn(kMessageColumns[3].name, ImGuiTableColumnFlags_WidthStretch, 3);
  ImGui::TableSetupColumn(kMessageColumns[4].name, ImGuiTableColumnFlags_WidthStretch, 1);
  ImGui::TableHeadersRow();
  for (const MessageLine& line : messages->lines) state_->draw_row(context, line);
  if (messages->omitted > 0) {
    ImGui::TableNextRow();
    ImGui::TableSetColumnIndex(3);
    ImGui::TextColored(ImGui::ColorConvertU32ToFloat4(context.theme.ink_soft),
                       "%s older messages omitted", count_text(messages->omitted).c_str());
  }
  end_table(context.view, {.name = "messages",
                           .columns = kMessageColumns,
                           .rows = messages->lines.size(),
                           .cell = [&](std::size_t row, std::size_t column) -> TableCell {
                             const MessageLine& line = messages->lines[row];
                             switch (column) {
                               case 0:
                                 if (line.at <= document.first) return {.text = line.at_text};
                                 return time_cell(static_cast<double>(line.at - document.first));
                               case 1: return {.text = name_of(line.rank)};
                               case 2: return {.text = line.id};
                               case 3: return {.text = line.text};
                               default: return {.text = line.location};
                             }
                           }});
}

}  // namespace reprise::viewer

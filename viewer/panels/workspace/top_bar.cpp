#include "panels/workspace/top_bar.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "panels/messages/note_bar.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/icons.hpp"
#include "panels/widgets/profile_text.hpp"
#include "panels/widgets/search_box.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

// Priorities of the segments; higher ranks stay visible longer.
constexpr int kNoLossRank = 1, kSessionRank = 2, kProfileRank = 3, kRateRank = 4, kP99Rank = 5,
              kMedianRank = 6, kLossRank = 7, kRestartRank = 8, kGraphRank = 100;

float text_width(const std::string& text) { return ImGui::CalcTextSize(text.c_str()).x; }

std::string session_hint(const PanelContext& context) {
  std::string text = context.name;
  for (const trace::Session& session : *context.document->sessions) {
    text += "\n\n" + session.application + ", process " + std::to_string(session.pid) + " on " +
            session.host;
    if (session.rank != trace::kNone) text += ", rank " + std::to_string(session.rank);
    if (!session.command_line.empty()) text += "\n" + shortened(session.command_line, 120);
    if (!session.engine_version.empty()) text += "\nReprise " + session.engine_version;
  }
  if (!context.other_name.empty()) text += "\n\ncompared with " + context.other_name;
  return text;
}

struct StateText {
  std::string text;
  ImU32 colour = 0;
};

// The state of a live session; empty for a file.
StateText session_state(const PanelContext& context, const model::FeedStatus& status) {
  const Theme& theme = context.theme;
  if (!context.is_live) return {};
  switch (status.state) {
    case model::FeedState::Opening:
    case model::FeedState::Loading: return {"connecting", theme.accent};
    case model::FeedState::Ready:
    case model::FeedState::Live:
      return context.view.paused ? StateText{"paused", theme.warning}
                                 : StateText{"live", theme.good};
    case model::FeedState::Ended: return {"exited", theme.ink_faint};
    case model::FeedState::Failed: return {"disconnected", theme.error};
  }
  return {};
}

std::string graph_text(const model::Document& document, const model::Graph& graph) {
  const std::string version =
      graph.record().version > 1 ? " v" + std::to_string(graph.record().version) : "";
  const std::string rank =
      document.has_ranks() ? document.rank_name(document.session_of(graph.key())) : "";
  return shortened(graph.name(), 28) + version + (rank.empty() ? "" : ", " + rank);
}

// Returns true if the row was clicked.
bool draw_graph_row(const PanelContext& context, const model::Graph& graph, std::size_t replays) {
  const Theme& theme = context.theme;
  const std::string amount =
      counted_text(graph.node_count(), "node") + ", " + counted_text(replays, "replay");
  const float left = ImGui::GetCursorPosX(), name = 190 * theme.scale;
  ImGui::PushID(static_cast<int>(graph.key().graph * 65'537 + graph.key().version));
  const bool clicked = ImGui::Selectable(graph_text(*context.document, graph).c_str(),
                                         graph.key() == context.view.graph, 0,
                                         {name + text_width(amount) + theme.space, 0});
  ImGui::SameLine();
  ImGui::SetCursorPosX(left + name);
  ImGui::PushStyleColor(ImGuiCol_Text, theme.ink_soft);
  ImGui::TextUnformatted(amount.c_str());
  ImGui::PopStyleColor();
  ImGui::PopID();
  return clicked;
}

struct LossSummary {
  std::uint64_t count = 0;
  std::string details;
};

LossSummary summarise_losses(const model::Document& document) {
  constexpr std::size_t kMaxLines = 8, kMaxRecords = 4096;
  LossSummary summary;
  std::size_t lines = 0;
  const std::size_t all = document.losses.size(), first = all > kMaxRecords ? all - kMaxRecords : 0;
  for (std::size_t i = first; i < all; ++i) summary.count += document.losses[i].count;
  for (std::size_t i = all; i-- > first && lines < kMaxLines; ++lines) {
    const trace::Loss& loss = document.losses[i];
    summary.details += "\n" + count_text(loss.count) + " " + loss_name(loss.kind) +
                       (loss.reason.empty() ? "" : ": " + loss.reason);
  }
  if (all > kMaxLines) summary.details += "\nmore in the Messages panel";
  if (document.unknown_replays + document.unknown_samples > 0) {
    summary.details += "\n" + count_text(document.unknown_replays + document.unknown_samples) +
                       " records refer to a graph that the trace does not contain";
  }
  return summary;
}

// The formats of `reprise export`, for the whole trace.
void draw_export_menu(ViewState& view) {
  struct Format {
    const char *name, *text;
  };
  constexpr Format kFormats[] = {{"perfetto", "Perfetto, for ui.perfetto.dev..."},
                                 {"csv", "CSV: a row per replay and sample..."},
                                 {"sqlite", "SQLite database..."},
                                 {"dot", "The shown graph, for Graphviz (DOT)..."}};
  ImGui::SetNextWindowPos(ImGui::GetItemRectMax(), ImGuiCond_Always, {1, 0});
  if (!ImGui::BeginPopup("export formats")) return;
  for (const Format& format : kFormats) {
    if (ImGui::MenuItem(format.text)) view.export_trace = format.name;
  }
  ImGui::EndPopup();
}

// Draws a name and a value at the cursor.
void draw_figure(const Theme& theme, const std::string& name, const std::string& value,
                 ImU32 colour) {
  ImGui::AlignTextToFramePadding();
  ImGui::PushStyleColor(ImGuiCol_Text, theme.ink_soft);
  if (!name.empty()) ImGui::TextUnformatted(name.c_str());
  ImGui::PopStyleColor();
  if (!name.empty()) ImGui::SameLine(0, 5 * theme.scale);
  ImGui::PushStyleColor(ImGuiCol_Text, colour);
  ImGui::TextUnformatted(value.c_str());
  ImGui::PopStyleColor();
}

}  // namespace

float TopBar::height(const Theme& theme) { return std::round(40 * theme.scale); }

void TopBar::add_session(const PanelContext& context, const TopBarViewModel& view_model) {
  const bool has_session = context.is_live && !context.document->sessions->empty();
  std::string name = shortened(
      has_session ? context.document->sessions->front().application : file_name(context.name), 26);
  if (!context.other_name.empty()) name += " vs. " + shortened(file_name(context.other_name), 26);
  const Theme& theme = context.theme;
  const auto [state, colour] = session_state(context, view_model.status);
  const std::string attach =
      view_model.restart.empty() ? std::string() : "Attach to " + view_model.restart;
  const float button =
      attach.empty() ? 0 : text_width(attach) + 2 * ImGui::GetStyle().FramePadding.x + theme.space;
  const float width =
      text_width(name) + (state.empty() ? 0 : text_width(state) + 2 * theme.space) + button;
  segments_.push_back(
      {attach.empty() ? kSessionRank : kRestartRank, width, context.is_live ? "session" : "file",
       name, [=, this, state = state, colour = colour, hint = session_hint(context), &theme] {
         ImGui::BeginGroup();
         ImGui::AlignTextToFramePadding();
         ImGui::TextUnformatted(name.c_str());
         if (!state.empty()) {
           ImGui::SameLine(0, theme.space);
           const ImVec2 at = ImGui::GetCursorScreenPos();
           const float badge = text_width(state) + theme.space, line = ImGui::GetTextLineHeight();
           const float top = at.y + ImGui::GetStyle().FramePadding.y;
           ImDrawList& draw = *ImGui::GetWindowDrawList();
           draw.AddRectFilled({at.x, top - 1}, {at.x + badge, top + line + 1}, colour,
                              theme.radius);
           draw.AddText({at.x + theme.half_space, top}, ink_on(colour), state.c_str());
           ImGui::Dummy({badge, line});
         }
         ImGui::EndGroup();
         tooltip(hint);
         if (attach.empty()) return;
         ImGui::SameLine(0, theme.space);
         if (ImGui::Button(attach.c_str())) actions_.attach = true;
         tooltip("The program runs again: shows its new session");
       }});
}

void TopBar::add_graph(const PanelContext& context) {
  if (context.entry == nullptr) return;
  const Theme& theme = context.theme;
  const std::string text = graph_text(*context.document, *context.graph());
  const float width = std::min(std::max(text_width(text), 60 * theme.scale) + 4.5f * theme.space,
                               260 * theme.scale);
  segments_.push_back({kGraphRank, width, "graph", text, [this, &context, &theme, text, width] {
                         if (begin_combo(theme, "##graph", text, width)) {
                           for (const auto& [key, entry] : context.document->graphs) {
                             if (draw_graph_row(context, *entry.graph, entry.replays.size()))
                               actions_.graph = key;
                           }
                           ImGui::EndCombo();
                         }
                         const auto device =
                             context.document->devices->find(context.graph()->record().device);
                         const std::string location = device == context.document->devices->end()
                                                          ? ""
                                                          : " on " + device->second.name;
                         tooltip("Graph " + context.graph()->name() + ", version " +
                                 std::to_string(context.graph()->record().version) + location +
                                 ": " + counted_text(context.graph()->node_count(), "node") + ", " +
                                 counted_text(context.graph()->record().edges.size(), "edge"));
                       }});
}

void TopBar::add_profile(const PanelContext& context, const TopBarViewModel& view_model) {
  const ProfileText profile = profile_text(*context.document, view_model.status);
  if (profile.mode.empty()) return;
  const Theme& theme = context.theme;
  const ImU32 cost_colour = profile.cost > 0.05 ? theme.warning : theme.ink_soft;
  if (!view_model.status.allowed) {
    add_figure(context, kProfileRank, "profile",
               profile.mode + (profile.cost_text.empty() ? "" : ", " + profile.cost_text),
               profile.cost > 0.05 ? theme.warning : theme.ink, profile.hint);
    return;
  }
  const float combo = text_width("sampled") + 4.5f * theme.space;
  const std::string cost = profile.cost_text;
  const float width = combo + (cost.empty() ? 0 : theme.space + text_width(cost));
  const trace::LiveProfile max_mode = *view_model.status.allowed;
  segments_.push_back(
      {kProfileRank, width, "profile", profile.mode + " " + cost, [=, this, &theme] {
         if (begin_combo(theme, "##profile", profile.mode, combo)) {
           for (const trace::LiveProfile mode :
                {trace::LiveProfile::Off, trace::LiveProfile::Replays, trace::LiveProfile::Sampled,
                 trace::LiveProfile::Every}) {
             const bool is_allowed = mode <= max_mode;
             if (ImGui::Selectable(profile_name(mode), profile.mode == profile_name(mode),
                                   is_allowed ? 0 : ImGuiSelectableFlags_Disabled))
               actions_.profile = mode;
             tooltip(is_allowed ? profile_hint(mode)
                                : std::string("The session does not permit this mode"));
           }
           ImGui::EndCombo();
         }
         tooltip(profile.hint);
         if (cost.empty()) return;
         ImGui::SameLine();
         draw_figure(theme, "", cost, cost_colour);
         tooltip(profile.hint);
       }});
}

void TopBar::add_figure(const PanelContext& context, int rank, const std::string& name,
                        const std::string& value, ImU32 colour, const std::string& hint) {
  const float width =
      text_width(value) + (name.empty() ? 0 : text_width(name) + 5 * context.theme.scale);
  segments_.push_back({rank, width, name, value, [=, &theme = context.theme] {
                         ImGui::BeginGroup();
                         draw_figure(theme, name, value, colour);
                         ImGui::EndGroup();
                         tooltip(hint);
                       }});
}

void TopBar::add_figures(const PanelContext& context, const TopBarViewModel& view_model) {
  if (context.entry == nullptr) return;
  const Theme& theme = context.theme;
  const std::string scope = context.view.has_range() ? "the selected range" : "all replays";
  if (view_model.figures != nullptr) {
    const ReplaySummary& figures = *view_model.figures;
    // A program that exited launches nothing any more.
    const bool has_exited =
        context.is_live && (view_model.status.state == model::FeedState::Ended ||
                            view_model.status.state == model::FeedState::Failed);
    if (figures.per_second > 0 && !has_exited) {
      const std::string rate = rate_text(figures.per_second);
      add_figure(
          context, kRateRank, "", rate + " replays/s", theme.ink,
          "Launch rate over " + (figures.rate == RateOver::LastSecond ? "the last second" : scope));
    }
    if (figures.device_time.count > 0) {
      const std::string source = " of the device time of " + count_text(figures.device_time.count) +
                                 " replays (" + scope + ")";
      const std::string of = context.view.has_range() ? "selected " : "";
      add_figure(context, kMedianRank, of + "p50",
                 duration_text(static_cast<double>(figures.device_time.median)), theme.ink,
                 "Median" + source);
      add_figure(context, kP99Rank, of + "p99",
                 duration_text(static_cast<double>(figures.device_time.p99)), theme.ink,
                 "99th percentile" + source);
    }
  }
  if (!context.incomplete.empty())
    add_figure(context, kLossRank, "", "incomplete", context.theme.warning, context.incomplete);
  const LossSummary losses = summarise_losses(*context.document);
  if (losses.count > 0 || !losses.details.empty()) {
    add_figure(context, kLossRank, "lost", count_text(losses.count), theme.warning,
               "Records missing from the trace:" + losses.details);
  } else {
    add_figure(context, kNoLossRank, "lost", "0", theme.ink_soft, "No records were lost");
  }
}

TopBarActions TopBar::draw(PanelContext& context, const TopBarViewModel& view_model) {
  const Theme& theme = context.theme;
  actions_ = {};
  segments_.clear();
  add_session(context, view_model);
  add_graph(context);
  add_profile(context, view_model);
  add_figures(context, view_model);

  const float gap = 2 * theme.space, button = ImGui::GetFrameHeight() + theme.half_space;
  const float buttons = button * ((context.is_live ? 5.0f : 3.0f) +
                                  (view_model.notes != nullptr ? 1.0f : 0.0f)) +
                        theme.half_space,
              back = button;
  const float min_search = 130 * theme.scale, max_search = 440 * theme.scale;
  const float width = ImGui::GetContentRegionAvail().x;
  std::vector<const Segment*> shown, hidden;
  for (const Segment& segment : segments_) shown.push_back(&segment);
  const auto required_width = [&] {
    float sum = back + buttons + min_search + gap + (hidden.empty() ? 0 : button + gap);
    for (const Segment* segment : shown) sum += segment->width + gap;
    return sum;
  };
  while (required_width() > width && shown.size() > 1) {
    const auto lowest =
        std::min_element(shown.begin(), shown.end(),
                         [](const Segment* a, const Segment* b) { return a->rank < b->rank; });
    if ((*lowest)->rank == kGraphRank) break;
    hidden.push_back(*lowest);
    shown.erase(lowest);
  }

  const float y = std::round((height(theme) - ImGui::GetFrameHeight()) / 2),
              left = ImGui::GetCursorPosX(), right = left + width;
  ImGui::SetCursorPos({left, y});
  if (icon_button(theme, "back", Icon::Back, "Back to the start page (Ctrl+W)"))
    actions_.close = true;
  float x = left + back + theme.half_space;
  for (const Segment* segment : shown) {
    ImGui::SetCursorPos({x, y});
    segment->draw();
    x += segment->width;
    if (segment != shown.back() || !hidden.empty()) {
      const ImVec2 at{std::round(ImGui::GetWindowPos().x + x + gap / 2),
                      ImGui::GetWindowPos().y + y + 5 * theme.scale};
      ImGui::GetWindowDrawList()->AddLine(
          at, {at.x, at.y + ImGui::GetFrameHeight() - 10 * theme.scale}, theme.line);
    }
    x += gap;
  }
  if (!hidden.empty()) {
    ImGui::SetCursorPos({x - theme.half_space, y});
    draw_more(theme, hidden);
    x += button;
  }
  const float search = std::clamp(right - buttons - x, 60 * theme.scale, max_search);
  ImGui::SetCursorPos({right - buttons - search, y});
  actions_.find = draw_search_box(context, {view_model.matches, view_model.search_error}, search);
  ImGui::SetCursorPos({right - buttons + theme.half_space, y});
  draw_buttons(context, view_model);
  return actions_;
}

void TopBar::draw_more(const Theme& theme, const std::vector<const Segment*>& hidden) {
  if (icon_button(theme, "more", Icon::More, "More")) ImGui::OpenPopup("more figures");
  if (!ImGui::BeginPopup("more figures")) return;
  for (const Segment* segment : hidden) {
    draw_field(theme, segment->name.empty() ? "rate" : segment->name.c_str(), segment->value,
               90 * theme.scale);
  }
  ImGui::EndPopup();
}

void TopBar::draw_buttons(PanelContext& context, const TopBarViewModel& view_model) {
  const Theme& theme = context.theme;
  if (context.is_live) {
    const std::string& file = view_model.status.recording;
    const std::string& error = view_model.status.record_error;
    const std::string hint = !file.empty()    ? "Recording to " + file
                             : !error.empty() ? "The recording stopped: " + error
                                              : "Record to file (Ctrl+S)";
    if (icon_button(theme, "record", Icon::Record, hint,
                    file.empty() ? IconState::Normal : IconState::Active))
      actions_.record = true;
    ImGui::SameLine(0, theme.half_space);
    if (icon_button(theme, "follow", Icon::Follow, "Follow the newest replays (F)",
                    context.view.follow ? IconState::Active : IconState::Normal)) {
      context.view.follow = !context.view.follow;
    }
    ImGui::SameLine(0, theme.half_space);
    const bool paused = context.view.paused;
    if (icon_button(
            theme, "pause", paused ? Icon::Play : Icon::Pause,
            paused ? "Resume (Space)" : "Pause: freeze the view; the trace keeps recording (Space)",
            paused ? IconState::Active : IconState::Normal)) {
      context.view.paused = !paused;
    }
    ImGui::SameLine(0, theme.half_space);
  }
  if (icon_button(theme, "export", Icon::Export,
                  context.is_live ? "Export what was received" : "Export the trace"))
    ImGui::OpenPopup("export formats");
  draw_export_menu(context.view);
  ImGui::SameLine(0, theme.half_space);
  if (view_model.notes != nullptr) {
    const bool is_clicked = icon_button(theme, "bookmarks", Icon::Bookmark, "Bookmarks (Ctrl+B)");
    if (std::exchange(context.view.open_bookmarks, false) || is_clicked)
      ImGui::OpenPopup("bookmark list");
    ImGui::SetNextWindowPos(ImGui::GetItemRectMax(), ImGuiCond_Always, {1, 0});
    if (ImGui::BeginPopup("bookmark list")) {
      draw_bookmark_items(context, *view_model.notes);
      ImGui::EndPopup();
    }
    ImGui::SameLine(0, theme.half_space);
  }
  if (icon_button(theme, "shade", theme.shade == Shade::Dark ? Icon::Sun : Icon::Moon,
                  theme.shade == Shade::Dark ? "Light theme (L)" : "Dark theme (L)"))
    actions_.shade = true;
  ImGui::SameLine(0, theme.half_space);
  if (icon_button(theme, "help", Icon::Help, "Keyboard and mouse (F1)")) actions_.help = true;
}

}  // namespace reprise::viewer

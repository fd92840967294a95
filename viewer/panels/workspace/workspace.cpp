#include "panels/workspace/workspace.hpp"

#include <imgui.h>
#include <imgui_internal.h>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "panels/graph/graph_choice.hpp"
#include "panels/messages/message_list.hpp"
#include "panels/shared/keys.hpp"
#include "panels/workspace/status_line.hpp"
#include "panels/workspace/workspace_state.hpp"

namespace reprise::viewer {

namespace {

// Maximum number of replays to search for the next sampled replay.
constexpr std::size_t kMaxSearch = 1u << 20;

}  // namespace

Workspace::State::State(std::shared_ptr<model::TraceFeed> main_feed,
                        std::shared_ptr<model::TraceFeed> compared_feed, Background& workers,
                        NotesUse notes_use)
    : feed(std::move(main_feed)),
      other_feed(std::move(compared_feed)),
      background(workers),
      document(feed->document()),
      view_model(workers),
      replays(workers),
      graph(workers),
      timeline(workers),
      sync(workers),
      inspector(workers),
      nodes(workers),
      memory(workers),
      compare(workers),
      messages(workers),
      graphs(workers),
      ranks(workers) {
  name = feed->target();
  if (other_feed) other_name = other_feed->target();
  if (feed->is_live()) return;
  notes.emplace(feed->target(), workers, notes_use);
  messages.show_notes(*notes);
}

void Workspace::State::update_document() {
  const model::FeedStatus status_before = std::exchange(status, feed->status());
  const auto document_before = document;
  if (!view.paused) document = feed->document();
  if (document != document_before || status.state != status_before.state ||
      status.reason != status_before.reason)
    incomplete = incomplete_text(*document, status);
  other = other_feed ? other_feed->document() : nullptr;
  choose_graph();
  validate_view();
  const bool is_growing =
      status.state == model::FeedState::Live || status.state == model::FeedState::Loading;
  view_model.update(document, view,
                    is_growing && !view.paused ? UpdateRate::Throttled : UpdateRate::Immediate,
                    ImGui::GetTime());
}

// Selects the faulting node of a file once, else the graph with the most replays, unless the user
// selected one. A live view that follows switches to the newest version of the shown graph.
void Workspace::State::choose_graph() {
  // The user selected another graph, or a link did before the first frame.
  if (!(view.graph == shown.value_or(model::GraphKey()))) {
    chosen_by_user = true;
    newest_seen = newest_version(*document, view.graph).version;
  }
  const model::GraphEntry* const now = document->find(view.graph);
  if (!feed->is_live() && status.state == model::FeedState::Ready &&
      !std::exchange(has_sought_fault, true) && !chosen_by_user &&
      std::holds_alternative<std::monostate>(view.selection)) {
    if (const auto fault = faulting_node(*document)) {
      change_graph(fault->graph);
      view.select(*fault);
      chosen_by_user = true;  // the window stays there when the selection is cleared
      return;
    }
  }
  const GraphSource of = feed->is_live() ? GraphSource::Session : GraphSource::File;
  if (now == nullptr ||
      (!chosen_by_user && std::holds_alternative<std::monostate>(view.selection))) {
    const auto best = default_graph(*document, of);
    const std::size_t margin = of == GraphSource::File ? 1 : 2;
    const bool is_better = best && (now == nullptr || document->find(*best)->replays.size() >
                                                          margin * now->replays.size());
    if (is_better && !(*best == view.graph && now != nullptr)) change_graph(*best);
  }
  if (!feed->is_live() || !view.follow || document->find(view.graph) == nullptr) return;
  const model::GraphKey newest = newest_version(*document, view.graph);
  if (newest.version > newest_seen) {
    newest_seen = newest.version;
    if (!(newest == view.graph)) change_graph(newest);
  }
}

void Workspace::State::change_graph(model::GraphKey key) {
  const model::Selection kept = map_selection(view.selection, *document, key);
  if (key.graph != view.graph.graph || newest_seen == 0)
    newest_seen = newest_version(*document, key).version;
  view.show_graph(key);
  view.selection = kept;
  shown = key;
}

// Makes the view state consistent with the document: shifts the range when old replays are
// discarded, and clears selections of missing items.
void Workspace::State::validate_view() {
  const model::GraphEntry* const entry = document->find(view.graph);
  const std::uint64_t forgotten = entry != nullptr ? entry->dropped_replays : 0;
  if (shown == view.graph && forgotten > forgotten_before)
    view.range = drop_oldest_replays(view.range, forgotten - forgotten_before);
  forgotten_before = forgotten;
  shown = view.graph;
  if (!selection_exists(view.selection, *document)) view.selection = {};
  if (!selection_exists(view.hovered, *document)) view.hovered = {};
}

void Workspace::State::step_replay(int by) {
  const model::GraphEntry* const entry = document->find(view.graph);
  const ReplayViewModel* const now = view_model.replay();
  if (entry == nullptr || entry->replays.empty() || now == nullptr) return;
  const std::uint64_t from = view.replay.value_or(now->replay.replay);
  const std::size_t size = entry->replays.size();
  const std::size_t start = entry->replays.lower_bound(
      from, [](const trace::Replay& r, std::uint64_t number) { return r.replay < number; });
  const bool has_item = !std::holds_alternative<std::monostate>(view.selection) &&
                        !std::holds_alternative<model::SelectedReplay>(view.selection);
  const auto show = [&](std::size_t at) {
    view.replay = entry->replays[at].replay;
    // A selected node or buffer stays selected, to be seen in each replay.
    if (!has_item) view.select(model::SelectedReplay{view.graph, *view.replay});
  };
  std::size_t at = start;
  for (std::size_t i = 0; i < kMaxSearch; ++i) {
    if (by < 0 ? at == 0 : at + 1 >= size) break;
    at = by < 0 ? at - 1 : at + 1;
    if (entry->replays[at].sampled != 0 && admits(view.range, entry->replays[at])) return show(at);
  }
  const bool has_samples = now->block != nullptr;
  if (!has_samples && start < size && (by < 0 ? start > 0 : start + 1 < size))
    show(by < 0 ? start - 1 : start + 1);
}

void Workspace::State::step_match(int by) {
  const auto& matches = view_model.matches();
  const std::size_t count = matches.size();
  if (count == 0) return;
  const auto* const selected = std::get_if<model::SelectedNode>(&view.selection);
  const bool has_start =
      selected != nullptr && selected->graph == view.graph && selected->node < count;
  std::size_t at = has_start ? selected->node : by > 0 ? count - 1 : 0;
  for (std::size_t i = 0; i < count; ++i) {
    at = by > 0 ? (at + 1) % count : (at + count - 1) % count;
    if (matches[at] != 0)
      return view.select(model::SelectedNode{view.graph, static_cast<std::uint32_t>(at)});
  }
}

void Workspace::State::escape() {
  if (ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup)) {
    ImGui::ClosePopupToLevel(0, false);
  } else if (help.is_open()) {
    help.close();
  } else if (!std::holds_alternative<std::monostate>(view.selection)) {
    view.selection = {};
  } else if (!view.filter.is_empty()) {
    view.filter = {};
  } else if (view.has_range()) {
    view.range = {};
  } else {
    view.replay.reset();
  }
}

Workspace::Workspace(std::shared_ptr<model::TraceFeed> feed,
                     std::shared_ptr<model::TraceFeed> other, Background& background,
                     NotesUse notes)
    : state_(std::make_unique<State>(std::move(feed), std::move(other), background, notes)) {}

Workspace::~Workspace() = default;

void Workspace::handle_keys() {
  State& s = *state_;
  ViewState& view = s.view;
  if (is_pressed(Key::Help)) s.help.toggle();
  if (is_pressed(Key::Escape) && (s.help.is_open() || !ImGui::GetIO().WantTextInput)) s.escape();
  if (s.help.is_open()) return;
  if (is_pressed(Key::Find)) view.focus_search = true;
  if (is_pressed(Key::FindNext)) s.step_match(1);
  if (is_pressed(Key::FindPrevious)) s.step_match(-1);
  if (is_pressed(Key::Home)) view.fit = true;
  if (is_pressed(Key::Bookmarks)) view.open_bookmarks = true;
  if (is_pressed(Key::Critical)) view.critical_path = !view.critical_path;
  if (is_pressed(Key::Left)) s.step_replay(-1);
  if (is_pressed(Key::Right)) s.step_replay(1);
  if (is_pressed(Key::Close)) s.close = true;
  for (std::size_t i = 0; i < std::size(kViews); ++i) {
    if (const auto key = view_key(i); key && is_pressed(*key)) view.show(kViews[i].view);
  }
  if (!s.feed->is_live()) return;
  if (is_pressed(Key::Pause)) view.paused = !view.paused;
  if (is_pressed(Key::Follow)) {
    view.follow = !view.follow;
    if (view.follow) view.replay.reset();
  }
}

void Workspace::show(View view) {
  state_->enlarged = view;
  state_->view.show(view);
}

ViewState& Workspace::view() noexcept { return state_->view; }
const model::TraceFeed& Workspace::feed() const noexcept { return *state_->feed; }

bool Workspace::is_settled() const {
  const model::FeedState now = state_->feed->status().state;
  if (now == model::FeedState::Opening || now == model::FeedState::Loading) return false;
  if (state_->other_feed) {
    const model::FeedState other = state_->other_feed->status().state;
    if (other == model::FeedState::Opening || other == model::FeedState::Loading) return false;
  }
  if (!state_->feed->is_live() && state_->feed->document() != state_->document)
    return false;  // the newest document is not drawn yet
  return state_->view_model.is_settled();
}

bool Workspace::take_close_request() noexcept { return std::exchange(state_->close, false); }
bool Workspace::take_shade_change() noexcept { return std::exchange(state_->shade_change, false); }
bool Workspace::take_record_request() noexcept { return std::exchange(state_->record, false); }
bool Workspace::take_attach_request() noexcept { return std::exchange(state_->attach, false); }
void Workspace::set_program_output(std::vector<std::string> lines, std::string end) {
  state_->program_output = std::move(lines);
  state_->program_end = std::move(end);
}
void Workspace::offer_restart(std::string session) { state_->restart = std::move(session); }

}  // namespace reprise::viewer

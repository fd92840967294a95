#include "application/application.hpp"

#include <algorithm>
#include <ctime>
#include <exception>
#include <stdexcept>
#include <utility>

#include <imgui.h>

#include "base/shown_text.hpp"
#include "merge/merge_traces.hpp"
#include "panels/shared/keys.hpp"
#include "panels/widgets/format.hpp"

namespace reprise::viewer {

namespace {

constexpr double kMessageSeconds = 4;

// The name of a target in a title: a file name without its directory, or a session's name.
std::string short_name(const model::TraceFeed& feed) {
  const std::filesystem::path path = feed.target();
  if (!feed.is_live()) return path.filename().string();
  const auto document = feed.document();
  if (!document->sessions->empty()) return document->sessions->front().application + " (live)";
  return path.filename().string() + " (live)";
}

}  // namespace

Application::Application(ApplicationDesc desc, Settings& settings)
    : desc_(std::move(desc)), settings_(settings) {
  background_.on_finished(desc_.wake);
}

Application::~Application() {
  cancel_merge();
  workspace_.reset();
  background_.wait_until_idle();  // background tasks may use the feeds
}

std::shared_ptr<model::TraceFeed> Application::feed_of(const OpenTarget& target) {
  return desc_.open_feed(model::TraceFeedDesc{.target = target.target,
                                              .token = target.token,
                                              .on_change = desc_.wake,
                                              .may_request_profile = may_change()});
}

void Application::open(const OpenTarget& target) { enter(feed_of(target), nullptr); }

void Application::compare(const OpenTarget& first, const OpenTarget& second) {
  if (!view_) view_ = View::Compare;
  enter(feed_of(first), feed_of(second));
}

void Application::drop(const std::vector<std::string>& paths) {
  if (paths.empty()) return;
  if (paths.size() >= 2) {
    discard_then([this, paths] { merge(paths); });
  } else if (feed_) {
    compare_shown({paths[0], {}});
  } else {
    open({paths[0], {}});
  }
}

void Application::merge(const std::vector<std::string>& paths) {
  cancel_merge();
  merging_ = std::make_shared<Merge>();
  merging_->paths = paths;
  background_.run([merge = merging_] {
    try {
      merge->file.emplace(merge->paths.front());
      static_cast<void>(trace::merge_traces({.inputs = {merge->paths.begin(), merge->paths.end()},
                                             .output = merge->file->path(),
                                             .progress = [&](std::uint64_t, std::uint64_t) {
                                               if (merge->is_cancelled)
                                                 throw std::runtime_error(
                                                     "the merge was cancelled");
                                             }}));
    } catch (const std::exception& error) {
      merge->error = detail::failure_text(error, "merging traces");
    }
    merge->is_finished = true;
  });
}

void Application::cancel_merge() {
  if (merging_) merging_->is_cancelled = true;
  merging_.reset();
}

void Application::watch_merge() {
  if (!merging_) return;
  if (!merging_->is_finished)
    return show_message("Merging " + count_text(merging_->paths.size()) + " traces");
  const std::shared_ptr<Merge> done = std::exchange(merging_, nullptr);
  message_.clear();
  if (done->error.empty()) {
    merged_ = done;
    const std::string path = done->file->path();
    open({path, {}});
    settings_.forget(path);
  } else if (done->paths.size() == 2) {
    compare({done->paths[0], {}}, {done->paths[1], {}});
  } else if (workspace_) {
    show_message(done->error);
  } else {
    error_ = done->error;
  }
}

void Application::compare_shown(const OpenTarget& target) {
  ViewState view = workspace_->view();
  view_ = View::Compare;
  enter(feed_, feed_of(target));
  workspace_->view() = std::move(view);
  workspace_->view().show(View::Compare);
}

void Application::show(View view) {
  view_ = view;
  if (workspace_) workspace_->show(*std::exchange(view_, std::nullopt));
}

void Application::enter(std::shared_ptr<model::TraceFeed> feed,
                        std::shared_ptr<model::TraceFeed> other) {
  error_.clear();
  cancel_merge();
  workspace_.reset();
  feed_ = std::move(feed);
  other_ = std::move(other);
  requested_profile_ = false;
  monitor_.reset();
  if (program_ && feed_->target() != program_->session().string()) program_.reset();
  workspace_ = std::make_unique<Workspace>(feed_, other_, background_,
                                           may_change() ? NotesUse::Edit : NotesUse::Read);
  if (view_) workspace_->show(*std::exchange(view_, std::nullopt));
  for (const auto& each : {other_, feed_}) {
    if (each && !each->is_live()) settings_.note_opened(each->target(), std::time(nullptr));
  }
}

void Application::leave(std::string reason) {
  error_ = std::move(reason);
  workspace_.reset();
  monitor_.reset();
  feed_.reset();
  other_.reset();
  program_.reset();
  program_state_.clear();
  program_output_.clear();
}

void Application::watch_feeds() {
  for (const auto& feed : {feed_, other_}) {
    if (!feed) continue;
    const model::FeedStatus status = feed->status();
    if (status.state == model::FeedState::Failed && feed->document()->graphs.empty()) {
      if (!feed->is_live()) settings_.forget(feed->target());
      return leave(status.reason);
    }
  }
  if (!requested_profile_ && may_change() && feed_->is_live()) {
    const model::FeedStatus status = feed_->status();
    if (status.allowed) {
      requested_profile_ = true;
      if (*status.allowed >= trace::LiveProfile::Sampled)
        feed_->request_profile(trace::LiveProfile::Sampled);
    }
  }
}

void Application::show_message(std::string text) {
  message_ = std::move(text);
  message_end_ = ImGui::GetTime() + kMessageSeconds;
}

// A text above all windows, at the lower edge.
void Application::draw_message(const Theme& theme) const {
  if (message_.empty() || ImGui::GetTime() > message_end_) return;
  const ImGuiViewport& viewport = *ImGui::GetMainViewport();
  ImDrawList& draw = *ImGui::GetForegroundDrawList();
  const float size = theme.text->FontSize;
  const ImVec2 text = theme.text->CalcTextSizeA(size, viewport.Size.x * 0.8f, 0, message_.c_str());
  const ImVec2 min{viewport.Pos.x + (viewport.Size.x - text.x) / 2,
                   viewport.Pos.y + viewport.Size.y - text.y - 6 * theme.space};
  draw.AddRectFilled({min.x - theme.space, min.y - theme.half_space},
                     {min.x + text.x + theme.space, min.y + text.y + theme.half_space},
                     theme.raised, theme.radius);
  draw.AddText(theme.text, size, min, theme.ink, message_.c_str());
}

void Application::draw(const Theme& theme) {
  watch_merge();
  draw_message(theme);
  const bool is_clicked = workspace_ && workspace_->take_shade_change();
  if (is_clicked || is_pressed(Key::Shade))
    settings_.shade = settings_.shade == Shade::Dark ? Shade::Light : Shade::Dark;
  if (workspace_) watch_feeds();
  if (!workspace_) return draw_start(theme);
  workspace_->handle_keys();
  watch_restart();
  show_output();
  workspace_->draw(theme, settings_.layout);
  if (workspace_->take_close_request()) discard_then([this] { leave({}); });
  if (workspace_ && workspace_->take_attach_request())
    discard_then([this] { open({restarted_, {}}); });
  if (!workspace_) return;
  draw_record(theme);
  if (workspace_) draw_save(theme);
  if (workspace_) draw_dialog(theme);
}

void Application::watch_restart() {
  const model::FeedState state = feed_->status().state;
  const auto sessions = feed_->document()->sessions;
  if (!feed_->is_live() || sessions->empty() ||
      (state != model::FeedState::Ended && state != model::FeedState::Failed))
    return;
  if (!monitor_) monitor_.emplace(desc_.wake);
  restarted_.clear();
  std::string offer;
  for (const trace::LiveSession& session : monitor_->found().sessions) {
    if (!session.alive || session.application != sessions->front().application ||
        session.pid == sessions->front().pid)
      continue;
    restarted_ = session.path.string();
    offer = "process " + std::to_string(session.pid);
  }
  workspace_->offer_restart(std::move(offer));
}

bool Application::has_unrecorded_session() const {
  const bool is_of_sample = program_ && is_sample_;
  if (!feed_ || !feed_->is_live() || is_of_sample || !feed_->status().recording.empty())
    return false;
  const auto document = feed_->document();
  return std::any_of(document->graphs.begin(), document->graphs.end(),
                     [](const auto& graph) { return !graph.second.replays.empty(); });
}

bool Application::stops_program() const {
  return program_ && !is_sample_ && program_->is_running();
}

void Application::discard_then(std::function<void()> action) {
  const bool is_unrecorded = has_unrecorded_session(), stops = stops_program();
  if (!is_unrecorded && !stops) return action();
  after_discard_ = std::move(action);
  const std::string stopped = stops ? program_->name() + " is running and will be stopped." : "";
  if (is_unrecorded)
    return open_recorder("The live session " + short_name(*feed_) +
                         " is not recorded. Record it before it is discarded?" +
                         (stops ? "\n" + stopped : ""));
  recorder_.error.clear();
  recorder_.dialog.open({.title = "Stop the program", .discard = "Stop", .discarded = stopped});
}

bool Application::may_close() {
  if (!has_unrecorded_session() && !stops_program()) return true;
  discard_then([this] { closed_ = true; });
  return false;
}

void Application::draw_dialog(const Theme& theme) {
  if (is_pressed(Key::Open)) perform(BrowseFiles{});
  std::vector<std::string> recent;
  for (const RecentEntry& entry : settings_.recent) recent.push_back(entry.path);
  perform(open_dialog_.draw(theme, recent));
}

void Application::draw_start(const Theme& theme) {
  if (!monitor_) {
    monitor_.emplace(desc_.wake);
    monitor_->set_recent(settings_.recent);
  }
  if (program_) watch_program();
  if (workspace_) return;  // the workspace draws its first frame next time
  StartPageContent found = monitor_->found();
  StartViewModel view_model{.sessions = std::move(found.sessions),
                            .recent = std::move(found.recent),
                            .sample = find_sample(desc_.program).string(),
                            .program_state = program_state_,
                            .program_output = program_output_,
                            .is_program_running = program_ != nullptr,
                            .error = error_,
                            .is_read_only = !may_change()};
  perform(start_page_.draw(theme, view_model));
  draw_record(theme);
  if (!workspace_) draw_dialog(theme);
}

void Application::perform(const StartAction& action) {
  if (std::string reason = refusal(action); !reason.empty()) {
    if (workspace_) return show_message(std::move(reason));
    error_ = std::move(reason);
    return;
  }
  if (const auto* target = std::get_if<OpenTarget>(&action)) {
    discard_then([this, target = *target] { open(target); });
  } else if (const auto* both = std::get_if<CompareTarget>(&action)) {
    if (both->first.target.empty()) {
      compare_shown(both->second);
    } else {
      discard_then([this, both = *both] { compare(both.first, both.second); });
    }
  } else if (std::holds_alternative<RunSample>(action)) {
    run_sample();
  } else if (const auto* program = std::get_if<RunProgram>(&action)) {
    run_program(program->command);
  } else if (std::holds_alternative<StopProgram>(action)) {
    program_.reset();
    program_state_.clear();
    program_output_.clear();
  } else if (std::holds_alternative<BrowseFiles>(action)) {
    open_dialog_.open(workspace_ ? OpenedFrom::Trace : OpenedFrom::StartPage);
  } else if (const auto* recent = std::get_if<ForgetRecent>(&action)) {
    settings_.forget(recent->path);
    monitor_->set_recent(settings_.recent);
  }
}

std::string Application::title() const {
  if (!feed_) return "Reprise";
  return short_name(*feed_) + (other_ ? " against " + short_name(*other_) : "") + " - Reprise";
}

bool Application::changes_with_time() const {
  return program_ != nullptr || (feed_ && feed_->status().state == model::FeedState::Live);
}

bool Application::is_busy() const {
  return merging_ || (workspace_ ? !workspace_->is_settled() : program_ != nullptr);
}

}  // namespace reprise::viewer

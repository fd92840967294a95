#include "application/application.hpp"

#include <algorithm>
#include <cctype>
#include <ctime>
#include <exception>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <imgui.h>

#include "base/atomic_file.hpp"
#include "base/shown_text.hpp"
#include "merge/merge_traces.hpp"
#include "panels/shared/keys.hpp"
#include "panels/widgets/format.hpp"
#include "trace/live/session_directory.hpp"
#include "trace/live/tcp_address.hpp"
#include "application/trace_export.hpp"

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

std::string in_current_folder(const std::string& name) {
  std::error_code ignored;
  return (std::filesystem::current_path(ignored) / name).string();
}

// A file name for the recording of a session.
std::string recording_name(const model::Document& document) {
  std::string name = "session";
  if (!document.sessions->empty()) {
    const trace::Session& session = document.sessions->front();
    name = session.application + "-" + std::to_string(session.pid);
  }
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '_' && c != '.') c = '-';
  }
  return name + ".reprise";
}

constexpr char kReadOnly[] = "This viewer is read-only.";

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
  return desc_.open_feed(model::TraceFeedDesc{
      .target = target.target,
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

std::filesystem::path Application::picture_path() const {
  const std::time_t seconds = std::time(nullptr);
  std::tm parts{};
  char text[32] = "";
  if (::localtime_r(&seconds, &parts)) std::strftime(text, sizeof text, "%Y%m%d-%H%M%S", &parts);
  return in_current_folder("reprise-" + std::string(text) + ".png");
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

void Application::open_recorder(std::string discarded) {
  recorder_.error.clear();
  const std::vector<std::filesystem::path> folders = desc_.access.paths.folders();
  const std::string name = recording_name(*feed_->document());
  recorder_.dialog.open({.title = "Record to file",
                         .action = "Record",
                         .explanation = "Writes what was received, and then what arrives.",
                         .path = folders.empty() ? in_current_folder(name)
                                                 : (folders.front() / name).string(),
                         .discarded = std::move(discarded)});
}

void Application::write(FileWriter& writer, std::function<void()> write) {
  if (writer.result) return;
  writer.error.clear();
  writer.result = std::make_shared<WriteResult>();
  background_.run([write = std::move(write), result = writer.result] {
    try {
      write();
    } catch (const std::exception& error) {
      result->error = detail::failure_text(error, "writing a file");
    }
    result->is_finished = true;
  });
}

bool Application::is_written(FileWriter& writer) {
  if (!writer.result || !writer.result->is_finished) return false;
  writer.error = std::exchange(writer.result, nullptr)->error;
  if (writer.error.empty()) writer.dialog.close();
  return writer.error.empty();
}

void Application::draw_record(const Theme& theme) {
  const bool is_requested =
      workspace_ && (workspace_->take_record_request() || is_pressed(Key::Record));
  if (is_requested && feed_->is_live()) {
    if (!may_change()) return show_message(kReadOnly);
    after_discard_ = nullptr;
    open_recorder({});
  }
  if (is_written(recorder_) && feed_) {
    show_message("Recording to " + feed_->status().recording);
    if (after_discard_) return std::exchange(after_discard_, nullptr)();
  }
  switch (recorder_.dialog.draw(theme, recorder_.error)) {
    case FileChoice::None: return;
    case FileChoice::Write:
      if (!desc_.access.paths.contains(recorder_.dialog.path())) {
        recorder_.error = recorder_.dialog.path() + " is not below a folder that is allowed here";
        return;
      }
      return write(recorder_,
                   [feed = feed_, path = recorder_.dialog.path()] { feed->record_to(path); });
    case FileChoice::Discard:
      if (after_discard_) std::exchange(after_discard_, nullptr)();
      return;
    case FileChoice::Cancel: after_discard_ = nullptr; return;
  }
}

void Application::open_saver(const char* title, const std::string& name,
                             std::function<void(const std::string& path)> save) {
  save_ = std::move(save);
  saver_.error.clear();
  if (desc_.deliver) {
    delivered_ = desc_.folder() / name;
    return write(saver_, [path = delivered_.string(), save = save_] { save(path); });
  }
  saver_.dialog.open({.title = title,
                      .action = "Save",
                      .explanation = "An existing file is replaced.",
                      .path = in_current_folder(name)});
}

// Files that a panel offers to save, tables and pictures, and exports of the trace.
void Application::draw_save(const Theme& theme) {
  ViewState& view = workspace_->view();
  if (auto file = std::exchange(view.save, std::nullopt)) {
    open_saver("Save to file", file->name, [text = std::move(file->contents)](const auto& path) {
      detail::write_file_atomically(path, text, {.sources = {detail::kOwnerOnly}});
    });
  }
  if (const auto format = std::exchange(view.export_trace, std::nullopt)) {
    if (auto to_write = export_of(feed_->target(), *format, view.graph.graph))
      open_saver("Export the trace", to_write->name, std::move(to_write->write));
  }
  const std::string written =
      desc_.deliver ? delivered_.filename().string() : saver_.dialog.path();
  if (is_written(saver_)) {
    show_message("Saved " + written);
    if (desc_.deliver) desc_.deliver(delivered_);
  }
  if (saver_.result) show_message("Writing " + written);
  if (desc_.deliver && !saver_.error.empty()) show_message(std::exchange(saver_.error, {}));
  if (saver_.dialog.draw(theme, saver_.error) != FileChoice::Write) return;
  write(saver_, [path = saver_.dialog.path(), save = save_] { save(path); });
}

void Application::draw_dialog(const Theme& theme) {
  if (is_pressed(Key::Open)) {
    if (!may_change()) return show_message(kReadOnly);
    open_dialog_.open(workspace_ ? OpenedFrom::Trace : OpenedFrom::StartPage);
  }
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

std::string Application::refusal(const OpenTarget& target) const {
  if (desc_.access.paths.has_all() || target.target.empty()) return {};
  const std::vector<trace::LiveSession> sessions = trace::list_sessions();
  std::istringstream parts(target.target);
  for (std::string part; std::getline(parts, part, ',');) {
    std::error_code ignored;
    const bool is_session =
        std::any_of(sessions.begin(), sessions.end(),
                    [&](const trace::LiveSession& session) { return session.path == part; });
    const bool is_address =
        trace::parse_tcp_address(part).has_value() && !std::filesystem::exists(part, ignored);
    if (is_session || (is_address && may_change()) || desc_.access.paths.contains(part)) continue;
    return part + " is not below a folder that is allowed here.";
  }
  return {};
}

std::string Application::refusal(const StartAction& action) const {
  if (const auto* target = std::get_if<OpenTarget>(&action)) return refusal(*target);
  if (const auto* both = std::get_if<CompareTarget>(&action)) {
    const std::string first = refusal(both->first);
    return first.empty() ? refusal(both->second) : first;
  }
  const bool changes = std::holds_alternative<RunSample>(action) ||
                       std::holds_alternative<RunProgram>(action) ||
                       std::holds_alternative<BrowseFiles>(action);
  return changes && !may_change() ? kReadOnly : "";
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
    open_dialog_.open(OpenedFrom::StartPage);
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

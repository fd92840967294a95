// Application: what the user may do with the files of this machine, and the files that are written.
#include <algorithm>
#include <cctype>
#include <ctime>
#include <exception>
#include <filesystem>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "application/application.hpp"
#include "application/trace_export.hpp"
#include "base/atomic_file.hpp"
#include "base/shown_text.hpp"
#include "panels/shared/keys.hpp"
#include "trace/live/session_directory.hpp"
#include "trace/live/tcp_address.hpp"

namespace reprise::viewer {

namespace {

constexpr char kReadOnly[] = "This viewer is read-only.";

std::string in_current_folder(const std::string& name) {
  std::error_code ignored;
  return (std::filesystem::current_path(ignored) / name).string();
}

std::string not_allowed(const std::string& path) {
  return path + " is not below a folder that is allowed here";
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

}  // namespace

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
    return not_allowed(part) + ".";
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
        recorder_.error = not_allowed(recorder_.dialog.path());
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
    const std::string name =
        feed_->is_live() ? recording_name(*feed_->document()) : feed_->target();
    if (auto to_write = export_of(feed_, name, *format, view.graph.graph))
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

std::filesystem::path Application::picture_path() const {
  const std::time_t seconds = std::time(nullptr);
  std::tm parts{};
  char text[32] = "";
  if (::localtime_r(&seconds, &parts)) std::strftime(text, sizeof text, "%Y%m%d-%H%M%S", &parts);
  return in_current_folder("reprise-" + std::string(text) + ".png");
}

}  // namespace reprise::viewer

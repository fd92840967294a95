#include "window/application.hpp"

#include <algorithm>
#include <ctime>
#include <exception>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "panels/shared/keys.hpp"

namespace reprise::viewer {

namespace {

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
  workspace_.reset();
  background_.wait_until_idle();  // background tasks may use the feeds
}

std::shared_ptr<model::TraceFeed> Application::feed_of(const OpenTarget& target) {
  return std::make_shared<model::TraceFeed>(model::TraceFeedDesc{
      .target = target.target, .token = target.token, .on_change = desc_.wake});
}

void Application::open(const OpenTarget& target) { enter(feed_of(target), nullptr); }

void Application::compare(const OpenTarget& first, const OpenTarget& second) {
  if (!view_) view_ = View::Compare;
  enter(feed_of(first), feed_of(second));
}

void Application::drop(const std::vector<std::string>& paths) {
  if (paths.empty()) return;
  if (paths.size() >= 2) {
    compare({paths[0], {}}, {paths[1], {}});
  } else if (feed_) {
    ViewState view = workspace_->view();
    view_ = View::Compare;
    enter(feed_, feed_of({paths[0], {}}));
    workspace_->view() = std::move(view);
    workspace_->view().lower = LowerTab::Compare;
  } else {
    open({paths[0], {}});
  }
}

void Application::show(View view) {
  view_ = view;
  if (workspace_) workspace_->show(*std::exchange(view_, std::nullopt));
}

void Application::enter(std::shared_ptr<model::TraceFeed> feed,
                        std::shared_ptr<model::TraceFeed> other) {
  error_.clear();
  workspace_.reset();
  feed_ = std::move(feed);
  other_ = std::move(other);
  requested_profile_ = false;
  monitor_.reset();
  workspace_ = std::make_unique<Workspace>(feed_, other_, background_);
  if (view_) workspace_->show(*std::exchange(view_, std::nullopt));
  for (const auto& each : {other_, feed_}) {
    if (each && !each->is_live()) settings_.note_opened(each->target(), std::time(nullptr));
  }
}

void Application::leave(std::string reason) {
  error_ = std::move(reason);
  workspace_.reset();
  feed_.reset();
  other_.reset();
  sample_.reset();
  sample_state_.clear();
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
  if (!requested_profile_ && feed_->is_live()) {
    const model::FeedStatus status = feed_->status();
    if (status.allowed) {
      requested_profile_ = true;
      if (*status.allowed >= trace::LiveProfile::Sampled)
        feed_->request_profile(trace::LiveProfile::Sampled);
    }
  }
}

void Application::draw(const Theme& theme) {
  const bool is_clicked = workspace_ && workspace_->take_shade_change();
  if (is_clicked || is_pressed(Key::Shade))
    settings_.shade = settings_.shade == Shade::Dark ? Shade::Light : Shade::Dark;
  if (workspace_) watch_feeds();
  if (!workspace_) return draw_start(theme);
  workspace_->handle_keys();
  workspace_->draw(theme, settings_.layout);
  if (workspace_->wants_to_close()) leave({});
}

void Application::draw_start(const Theme& theme) {
  if (!monitor_) {
    monitor_.emplace(desc_.wake);
    monitor_->set_recent(settings_.recent);
  }
  if (sample_) watch_sample();
  if (workspace_) return;  // the workspace draws its first frame next time
  StartPageContent found = monitor_->found();
  StartViewModel view_model{.sessions = std::move(found.sessions),
                            .recent = std::move(found.recent),
                            .sample = find_sample(desc_.program).string(),
                            .sample_state = sample_state_,
                            .error = error_};
  perform(start_page_.draw(theme, view_model));
}

void Application::perform(const StartAction& action) {
  if (const auto* target = std::get_if<OpenTarget>(&action)) {
    open(*target);
  } else if (std::holds_alternative<RunSample>(action)) {
    run_sample();
  } else if (const auto* recent = std::get_if<ForgetRecent>(&action)) {
    settings_.forget(recent->path);
    monitor_->set_recent(settings_.recent);
  }
}

void Application::run_sample() {
  error_.clear();
  try {
    const std::filesystem::path sample = find_sample(desc_.program);
    if (sample.empty())
      throw std::runtime_error("the digits sample is not installed with " + desc_.program.string());
    if (!sample_) sample_ = std::make_unique<SampleRun>(sample);
    sample_state_ = "starting as process " + std::to_string(sample_->pid());
  } catch (const std::exception& error) {
    sample_state_ = error.what();
  }
}

void Application::watch_sample() {
  if (!sample_->is_running()) {
    sample_state_ = sample_->reason();
    sample_.reset();
    return;
  }
  for (const trace::LiveSession& session : monitor_->found().sessions) {
    if (!session.alive || session.pid != static_cast<std::uint32_t>(sample_->pid())) continue;
    sample_->set_session(session.path);
    sample_state_.clear();
    return open({session.path.string(), {}});
  }
}

std::string Application::title() const {
  if (!feed_) return "Reprise";
  return short_name(*feed_) + (other_ ? " against " + short_name(*other_) : "") + " - Reprise";
}

bool Application::is_busy() const {
  return workspace_ ? !workspace_->is_settled() : sample_ != nullptr;
}

}  // namespace reprise::viewer

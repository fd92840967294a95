#include "application/start_page_monitor.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <new>
#include <system_error>
#include <utility>

#include "panels/widgets/format.hpp"

namespace reprise::viewer {

namespace {

constexpr std::chrono::seconds kRescanInterval{1};

std::string time_text(std::int64_t seconds) {
  const std::time_t time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  if (seconds <= 0 || !::localtime_r(&time, &parts)) return {};
  char text[64];
  return {text, std::strftime(text, sizeof text, "%d %b %Y, %H:%M", &parts)};
}

RecentFile inspect(const RecentEntry& entry) {
  RecentFile file{.path = entry.path, .text = {}, .exists = true};
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(entry.path, error);
  file.exists = !error;
  const std::string when = time_text(entry.opened);
  file.text = error ? "not found" : bytes_text(bytes);
  if (!when.empty()) file.text += ", opened " + when;
  return file;
}

bool equal(const StartPageContent& a, const StartPageContent& b) {
  return std::equal(
             a.sessions.begin(), a.sessions.end(), b.sessions.begin(), b.sessions.end(),
             [](const auto& x, const auto& y) { return x.path == y.path && x.alive == y.alive; }) &&
         std::equal(a.recent.begin(), a.recent.end(), b.recent.begin(), b.recent.end(),
                    [](const auto& x, const auto& y) {
                      return x.path == y.path && x.text == y.text && x.exists == y.exists;
                    });
}

}  // namespace

StartPageMonitor::StartPageMonitor(std::function<void()> on_change)
    : on_change_(std::move(on_change)), thread_([this] { run(); }) {}

StartPageMonitor::~StartPageMonitor() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void StartPageMonitor::set_recent(const std::vector<RecentEntry>& recent) {
  {
    const std::lock_guard lock(mutex_);
    recent_ = recent;
    found_.recent.clear();
    for (const RecentEntry& entry : recent)
      found_.recent.push_back({.path = entry.path, .text = {}, .exists = true});
    recent_changed_ = true;
  }
  wake_.notify_all();
}

StartPageContent StartPageMonitor::found() const {
  const std::lock_guard lock(mutex_);
  return found_;
}

void StartPageMonitor::look(std::unique_lock<std::mutex>& lock) {
  const std::vector<RecentEntry> recent = recent_;
  recent_changed_ = false;
  lock.unlock();
  StartPageContent now;
  now.sessions = trace::list_sessions();
  for (const RecentEntry& entry : recent) now.recent.push_back(inspect(entry));
  lock.lock();
  if (recent_changed_ || equal(now, found_)) return;
  found_ = std::move(now);
  lock.unlock();
  on_change_();
  lock.lock();
}

void StartPageMonitor::run() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    try {
      look(lock);
    } catch (const std::bad_alloc&) {
      // The page stays as it is until the next look.
      if (!lock.owns_lock()) lock.lock();
    }
    wake_.wait_for(lock, kRescanInterval, [this] { return stop_ || recent_changed_; });
  }
}

}  // namespace reprise::viewer

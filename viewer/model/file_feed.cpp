#include "model/file_feed.hpp"

#include <sys/stat.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <utility>

#include "base/shown_text.hpp"

namespace reprise::model {

namespace {

constexpr std::chrono::milliseconds kFilePollInterval{100};

}  // namespace

FileFeed::FileFeed(TraceLoaderDesc desc, DocumentPublisher& publisher)
    : desc_(std::move(desc)), publisher_(publisher) {}

std::optional<FileFeed::FileState> FileFeed::file_state() const {
  struct stat s {};
  if (::stat(desc_.path.c_str(), &s) != 0) return std::nullopt;
  return FileState{s.st_dev, s.st_ino, static_cast<std::uint64_t>(s.st_size),
                   s.st_mtim.tv_sec * 1'000'000'000 + s.st_mtim.tv_nsec, S_ISREG(s.st_mode)};
}

void FileFeed::run(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::optional<FileState> last;
  for (bool first = true; !stop.stop_requested(); first = false) {
    const std::optional<FileState> found = file_state();
    if (first || found != last) read(found, stop);
    last = found;
    std::unique_lock lock(mutex);
    stopped.wait_for(lock, stop, kFilePollInterval, [] { return false; });
  }
}

void FileFeed::read(const std::optional<FileState>& found, const std::stop_token& stop) {
  if (!found && loader_) return;  // the file was removed: its document and samples stay available
  try {
    if (found && !found->is_file) return publisher_.fail(desc_.path.string() + ": not a file");
    if (found && try_follow(*found)) return load(LoadMode::Append, stop);
    loader_ = std::make_unique<TraceLoader>(desc_);
    read_ = found.value_or(FileState{});
    load(has_published_ ? LoadMode::Replace : LoadMode::First, stop);
  } catch (const std::exception& error) {
    publisher_.fail(detail::failure_text(error, "reading ", desc_.path.native()));
  }
}

bool FileFeed::try_follow(const FileState& found) {
  return loader_ && found.device == read_.device && found.file == read_.file && loader_->follow();
}

void FileFeed::load(LoadMode mode, const std::stop_token& stop) {
  const auto publish_progress = [&] {
    FeedStatus status{.state = FeedState::Loading, .progress = loader_->progress()};
    if (mode == LoadMode::Append)
      status = {.state = FeedState::Ready, .progress = 1, .reason = loader_->damage()};
    publisher_.post(std::move(status), mode == LoadMode::Replace ? nullptr : loader_->document());
  };
  PublishThrottle throttle;
  do {
    if (throttle.is_due()) throttle.publish(publish_progress);
    if (stop.stop_requested()) return;
  } while (loader_->step());
  publisher_.post({.state = FeedState::Ready, .progress = 1, .reason = loader_->damage()},
                  loader_->document());
  has_published_ = true;
}

}  // namespace reprise::model

#include "model/file_feed.hpp"

#include <sys/stat.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <utility>

namespace reprise::model {

namespace {

constexpr std::chrono::milliseconds kFilePollInterval{100};

}  // namespace

FileFeed::FileFeed(TraceLoaderDesc desc, DocumentPublisher& board)
    : desc_(std::move(desc)), board_(board) {}

std::optional<FileFeed::Mark> FileFeed::look() const {
  struct stat s {};
  if (::stat(desc_.path.c_str(), &s) != 0) return std::nullopt;
  return Mark{s.st_dev, s.st_ino, static_cast<std::uint64_t>(s.st_size),
              s.st_mtim.tv_sec * 1'000'000'000 + s.st_mtim.tv_nsec, S_ISREG(s.st_mode)};
}

void FileFeed::run(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::optional<Mark> last;
  for (bool first = true; !stop.stop_requested(); first = false) {
    const std::optional<Mark> found = look();
    if (first || found != last) read(found, stop);
    last = found;
    std::unique_lock lock(mutex);
    stopped.wait_for(lock, stop, kFilePollInterval, [] { return false; });
  }
}

void FileFeed::read(const std::optional<Mark>& found, const std::stop_token& stop) {
  if (!found && loader_) return;  // removed: what was read is there, and its samples still are
  try {
    if (found && !found->is_file)
      return board_.post(
          {.state = FeedState::Failed, .reason = desc_.path.string() + ": not a file"});
    if (found && goes_on(*found)) return load(Manner::On, stop);
    loader_ = std::make_unique<TraceLoader>(desc_);
    read_ = found.value_or(Mark{});
    load(has_shown_ ? Manner::Behind : Manner::First, stop);
  } catch (const std::exception& error) {
    board_.post({.state = FeedState::Failed, .reason = error.what()});
  }
}

bool FileFeed::goes_on(const Mark& found) {
  return loader_ && found.device == read_.device && found.file == read_.file && loader_->follow();
}

void FileFeed::load(Manner manner, const std::stop_token& stop) {
  const auto so_far = [&] {
    FeedStatus status{.state = FeedState::Loading, .progress = loader_->progress()};
    if (manner == Manner::On)
      status = {.state = FeedState::Ready, .progress = 1, .reason = loader_->damage()};
    board_.post(std::move(status), manner == Manner::Behind ? nullptr : loader_->document());
  };
  Pace pace;
  do {
    if (pace.is_due()) pace.keep(so_far);
    if (stop.stop_requested()) return;
  } while (loader_->step());
  board_.post({.state = FeedState::Ready, .progress = 1, .reason = loader_->damage()},
              loader_->document());
  has_shown_ = true;
}

}  // namespace reprise::model

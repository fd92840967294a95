#include "model/live_feed.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "trace/trace_error.hpp"

namespace reprise::model {

namespace {

constexpr std::uint64_t kMaxKeptBytes = 256u << 20;
constexpr std::chrono::milliseconds kConnectPollInterval{20};  // while the client connects
// about 150 MB each
constexpr DocumentLimits kLimits{.replays = 2'000'000, .host_ranges = 1'000'000};

FeedState state_of(trace::LiveState state) {
  switch (state) {
    case trace::LiveState::Connecting: return FeedState::Opening;
    case trace::LiveState::Live: return FeedState::Live;
    case trace::LiveState::Closed: return FeedState::Ended;
    case trace::LiveState::Unreachable:
    case trace::LiveState::Refused:
    case trace::LiveState::Corrupt: break;
  }
  return FeedState::Failed;
}

}  // namespace

LiveFeed::LiveFeed(LiveFeedDesc desc, DocumentPublisher& publisher)
    : publisher_(publisher),
      builder_(std::make_shared<SampleStore>(SampleStoreDesc{.max_bytes = desc.max_sample_bytes}),
               kLimits),
      client_({.address = std::move(desc.address),
               .token = std::move(desc.token),
               .on_chunk =
                   [this](const std::shared_ptr<const trace::Chunk>& chunk) { add_chunk(chunk); },
               .on_end = [this] { on_end(); }}) {}

void LiveFeed::add_chunk(const std::shared_ptr<const trace::Chunk>& chunk) {
  trace::Records records = trace::read_chunk(chunk->header, chunk->payload);
  keep(chunk);
  {
    const std::lock_guard lock(mutex_);
    builder_.add(std::move(records));
    has_changes_ = true;
  }
  changed_.notify_one();
}

// A file that cannot be written ends the recording, not the session.
void LiveFeed::keep(const std::shared_ptr<const trace::Chunk>& chunk) {
  const std::lock_guard record_lock(record_mutex_);
  kept_.push_back(chunk);
  kept_bytes_ += chunk->size();
  while (kept_bytes_ > kMaxKeptBytes) {
    const auto oldest = std::find_if(kept_.begin(), kept_.end(), [](const auto& each) {
      return each->header.kind != trace::ChunkKind::Topology;
    });
    if (oldest == kept_.end()) break;
    kept_bytes_ -= (*oldest)->size();
    kept_.erase(oldest);
  }
  if (!file_) return;
  try {
    file_->write(chunk);
  } catch (const trace::TraceError& error) {
    file_.reset();
    const std::lock_guard lock(mutex_);
    recording_.clear();
    record_error_ = error.what();
  }
}

void LiveFeed::record_to(const std::filesystem::path& path) {
  const std::lock_guard record_lock(record_mutex_);
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored))
    throw trace::TraceError(trace::TraceErrorCode::Io, path.string() + " exists");
  auto file = std::make_unique<trace::TraceFile>(trace::TraceFileDesc{.path = path});
  for (const auto& chunk : kept_) file->write(chunk);
  file->flush();
  file_ = std::move(file);  // an earlier recording goes on if this one fails
  FeedStatus now;
  {
    const std::lock_guard lock(mutex_);
    recording_ = path.string();
    record_error_.clear();
    has_changes_ = true;
    changed_.notify_one();
    now = status();
  }
  publisher_.post(std::move(now));  // run() does not publish after the end of the session
}

void LiveFeed::on_end() {
  const std::lock_guard lock(mutex_);
  has_changes_ = has_ended_ = true;
  changed_.notify_one();
}

void LiveFeed::request(trace::LiveProfile profile) {
  client_.request({.kind = trace::LiveRequest::Kind::SetProfile, .profile = profile});
  const std::lock_guard lock(mutex_);
  requested_ = profile;
  has_changes_ = true;
  changed_.notify_one();
}

FeedStatus LiveFeed::status() const {
  const trace::LiveStatus live = client_.status();
  return {.state = state_of(live.state),
          .progress = 1,
          .reason = live.reason,
          .allowed = live.allowed,
          .requested_profile = requested_,
          .recording = recording_,
          .record_error = record_error_};
}

void LiveFeed::run(const std::stop_token& stop) {
  client_.start();
  PublishThrottle throttle;
  FeedState shown = FeedState::Opening;
  for (bool has_ended = false; !has_ended;) {
    FeedStatus status;
    std::shared_ptr<const Document> document;
    {
      std::unique_lock lock(mutex_);
      if (shown == FeedState::Opening) {
        changed_.wait_for(lock, stop, kConnectPollInterval, [&] { return has_changes_; });
      } else {
        changed_.wait(lock, stop, [&] { return has_changes_; });
      }
      changed_.wait_until(lock, stop, throttle.due(), [&] { return has_ended_; });
      if (stop.stop_requested()) return;
      status = this->status();
      if (!has_changes_ && status.state == shown) continue;
      shown = status.state;
      has_ended = has_ended_;
      has_changes_ = false;
      throttle.publish([&] { document = builder_.publish(); });
    }
    publisher_.post(std::move(status), std::move(document));
  }
}

}  // namespace reprise::model

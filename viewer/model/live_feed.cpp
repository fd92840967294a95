#include "model/live_feed.hpp"

#include <chrono>
#include <exception>
#include <utility>

#include "trace/trace_error.hpp"

namespace reprise::model {

namespace {

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
                   [this](const std::shared_ptr<const trace::Chunk>& chunk) { add_chunk(*chunk); },
               .on_end = [this](const trace::LiveStatus&) { on_end(); }}) {}

void LiveFeed::add_chunk(const trace::Chunk& chunk) {
  try {
    trace::Records records = trace::read_chunk(chunk.header, chunk.payload);
    const std::lock_guard lock(mutex_);
    builder_.add(std::move(records));
    has_changes_ = true;
  } catch (const trace::TraceError&) {
    throw;
  } catch (const std::exception& error) {
    // reported as a trace error, so that it ends the connection and not the process
    throw trace::TraceError(trace::TraceErrorCode::TooLarge, error.what());
  }
  changed_.notify_one();
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
          .requested_profile = requested_};
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

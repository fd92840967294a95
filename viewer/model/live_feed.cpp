#include "model/live_feed.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "trace/live/session_directory.hpp"
#include "trace/live/session_path.hpp"
#include "trace/trace_error.hpp"

namespace reprise::model {

namespace {

constexpr std::uint64_t kMaxKeptBytes = 256u << 20;
constexpr std::chrono::milliseconds kConnectPollInterval{20};  // while the client connects
constexpr std::chrono::milliseconds kSearchInterval{500};      // for further ranks
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
    : desc_(std::move(desc)),
      publisher_(publisher),
      builder_(std::make_shared<SampleStore>(SampleStoreDesc{.max_bytes = desc_.max_sample_bytes}),
               kLimits) {}

void LiveFeed::connect(std::string address) {
  const std::lock_guard lock(mutex_);
  if (!connected_.insert(address).second) return;
  trace::LiveClientDesc client{.address = std::move(address), .token = desc_.token};
  client.on_chunk = [this,
                     connection = clients_.size()](std::shared_ptr<const trace::Chunk> chunk) {
    add_chunk({connection, std::move(chunk)});
  };
  client.on_end = [this] { on_end(); };
  clients_.push_back(std::make_unique<trace::LiveClient>(std::move(client)));
  clients_.back()->start();
  if (requested_)
    clients_.back()->request(
        {.kind = trace::LiveRequest::Kind::SetProfile, .profile = *requested_});
}

bool LiveFeed::connects_first_ranks() const {
  const std::lock_guard lock(mutex_);
  return ranks_.are_ranks() && !has_searched_;
}

void LiveFeed::connect_ranks() {
  std::uint32_t job = 0;
  {
    const std::lock_guard lock(mutex_);
    has_searched_ = ranks_.are_ranks();
    // Sessions at other addresses may be on other machines, and the local ones theirs.
    if (!ranks_.are_ranks() || desc_.addresses.front().find('/') == std::string::npos) return;
    job = trace::job_number(ranks_.job());
  }
  for (const trace::LiveSession& session : trace::list_sessions())
    if (session.alive && session.rank != trace::kNone && session.job == job)
      connect(session.path.string());
}

void LiveFeed::add_chunk(const Received& received) {
  trace::Records records = trace::read_chunk(received.chunk->header, received.chunk->payload);
  keep(received);
  {
    const std::lock_guard lock(mutex_);
    ranks_.convert(received.connection, records);
    builder_.add(std::move(records));
    has_changes_ = true;
  }
  changed_.notify_one();
}

// A file that cannot be written ends the recording, not the session.
void LiveFeed::keep(const Received& received) {
  const std::lock_guard record_lock(record_mutex_);
  kept_.push_back(received);
  kept_bytes_ += received.chunk->size();
  while (kept_bytes_ > kMaxKeptBytes) {
    const auto oldest = std::find_if(kept_.begin(), kept_.end(), [](const Received& each) {
      return each.chunk->header.kind != trace::ChunkKind::Topology;
    });
    if (oldest == kept_.end()) break;
    kept_bytes_ -= oldest->chunk->size();
    kept_.erase(oldest);
  }
  if (!recorded_) return;
  try {
    write(*recorded_, received);
  } catch (const trace::TraceError& error) {
    recorded_.reset();
    const std::lock_guard lock(mutex_);
    recording_.clear();
    record_error_ = error.what();
  }
}

void LiveFeed::write(Recording& recording, const Received& received) {
  std::shared_ptr<const trace::Chunk> chunk = received.chunk;
  trace::Records records;
  if (recording.ranks.are_ranks() || chunk->header.kind == trace::ChunkKind::Topology) {
    records = trace::read_chunk(chunk->header, chunk->payload);
    recording.ranks.convert(received.connection, records);
  }
  if (recording.ranks.are_ranks())
    chunk = std::make_shared<const trace::Chunk>(
        trace::make_chunk(chunk->header.kind, records, recording.sequence++));
  recording.file.write(chunk);
}

void LiveFeed::record_to(const std::filesystem::path& path) {
  const std::lock_guard record_lock(record_mutex_);
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored))
    throw trace::TraceError(trace::TraceErrorCode::Io, path.string() + " exists");
  auto recorded = std::make_unique<Recording>(path);
  for (const Received& received : kept_) write(*recorded, received);
  recorded->file.flush();
  recorded_ = std::move(recorded);  // an earlier recording goes on if this one fails
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

void LiveFeed::save_to(const std::filesystem::path& path) {
  std::deque<Received> received;
  {
    const std::lock_guard record_lock(record_mutex_);
    received = kept_;
  }
  Recording saved(path);
  for (const Received& each : received) write(saved, each);
  saved.file.flush();
}

void LiveFeed::on_end() {
  const std::lock_guard lock(mutex_);
  ++ended_;
  has_changes_ = true;
  changed_.notify_one();
}

void LiveFeed::request(trace::LiveProfile profile) {
  const std::lock_guard lock(mutex_);
  for (const auto& client : clients_)
    client->request({.kind = trace::LiveRequest::Kind::SetProfile, .profile = profile});
  requested_ = profile;
  has_changes_ = true;
  changed_.notify_one();
}

// Live while any session is live; otherwise the state of the first session. Opening until the other
// ranks are connected too.
FeedStatus LiveFeed::status() const {
  FeedStatus status{.progress = 1,
                    .requested_profile = requested_,
                    .recording = recording_,
                    .record_error = record_error_};
  std::size_t live = 0;
  bool is_connecting = false;
  for (const auto& client : clients_) {
    const trace::LiveStatus one = client->status();
    const bool is_live = one.state == trace::LiveState::Live;
    if (client == clients_.front() || (is_live && live == 0)) {
      status.state = state_of(one.state);
      status.reason = one.reason;
      status.allowed = one.allowed;
    }
    live += is_live ? 1 : 0;
    is_connecting = is_connecting || one.state == trace::LiveState::Connecting;
  }
  if (is_opening_ && live != 0 && (is_connecting || (ranks_.are_ranks() && !has_searched_)))
    status.state = FeedState::Opening;
  if (live != 0 && live != clients_.size())
    status.reason =
        std::to_string(live) + " of " + std::to_string(clients_.size()) + " ranks are connected";
  return status;
}

void LiveFeed::run(const std::stop_token& stop) {
  for (const std::string& address : desc_.addresses) connect(address);
  PublishThrottle throttle;
  FeedState shown = FeedState::Opening;
  auto next_search = PublishThrottle::Clock::now() + kSearchInterval;
  for (bool has_ended = false; !has_ended;) {
    if (PublishThrottle::Clock::now() >= next_search || connects_first_ranks()) {
      connect_ranks();
      next_search = PublishThrottle::Clock::now() + kSearchInterval;
    }
    FeedStatus status;
    std::shared_ptr<const Document> document;
    {
      std::unique_lock lock(mutex_);
      const auto wake = shown == FeedState::Opening
                            ? PublishThrottle::Clock::now() + kConnectPollInterval
                            : next_search;
      changed_.wait_until(lock, stop, wake, [&] { return has_changes_; });
      changed_.wait_until(lock, stop, throttle.due(), [&] { return ended_ == clients_.size(); });
      if (stop.stop_requested()) return;
      status = this->status();
      if (!has_changes_ && status.state == shown) continue;
      shown = status.state;
      is_opening_ = shown == FeedState::Opening;
      has_ended = ended_ == clients_.size();
      has_changes_ = false;
      throttle.publish([&] { document = builder_.publish(); });
    }
    publisher_.post(std::move(status), std::move(document));
  }
}

}  // namespace reprise::model

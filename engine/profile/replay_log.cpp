#include "profile/replay_log.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <new>
#include <system_error>
#include <utility>

#include <reprise/error.hpp>

#include "base/background_thread.hpp"
#include "base/text.hpp"
#include "profile/process_info.hpp"
#include "trace/sample_order.hpp"

namespace reprise::detail {

namespace {

// The cost of timing one node, including collection, and the inverse of its permitted share of the
// run time.
constexpr std::int64_t kNodeCostNs = 60, kShareOfTime = 100;
constexpr std::int64_t kMaxSampleInterval = 10'000;
constexpr trace::Time kSlowestPeriod = 1'000'000'000;
constexpr std::size_t kMinBlocks = 4;
constexpr std::size_t kFirstBlockBytes = 1024;  // of the first slab, if a block is smaller
// For sources of times: the number of consecutive replays with node times, and the limits of the
// pause between such windows.
constexpr std::uint64_t kWindowReplays = 8;
// Windows with Precision::Close suit long runs only: CUPTI takes up to 0.6 s to attach and leaks
// about 80 KB each time.
constexpr trace::Time kMinClosePause = 60'000'000'000;
constexpr trace::Time kMinWindowPause = 200'000'000, kMaxWindowPause = 30'000'000'000;
constexpr double kMeanWeight = 64;

std::size_t slots_of(const ReplayLogDesc& desc) {
  return std::max<std::size_t>(desc.nodes, desc.slots.slots);
}

std::uint32_t blocks_for(const ReplayLogDesc& desc) {
  if (desc.nodes == 0) return 0;
  const std::size_t fit = desc.node_bytes / (slots_of(desc) * sizeof(NodeTime));
  return static_cast<std::uint32_t>(
      std::clamp(fit, std::min(kMinBlocks, desc.replays), desc.replays));
}

trace::SampleSource sample_source(TimedBy by) {
  switch (by) {
    case TimedBy::HostClock: return trace::SampleSource::Host;
    case TimedBy::Timestamp: return trace::SampleSource::Timestamp;
    case TimedBy::Cupti: break;
  }
  return trace::SampleSource::Cupti;
}

}  // namespace

ReplayLog::ReplayLog(ReplayLogDesc desc)
    : desc_(std::move(desc)),
      block_slots_(slots_of(desc_)),
      block_count_(blocks_for(desc_)),
      notify_at_(desc_.replays),
      configured_mode_(desc_.mode),
      switch_(static_cast<std::uint32_t>(desc_.mode)),
      versions_{{0, desc_.version}},
      launches_(desc_.replays),
      times_(desc_.replays) {}

void ReplayLog::switch_to(ProfileMode mode) noexcept {
  if (mode != ProfileMode::Off && is_paused_) {  // before begin_launch() promises times
    is_paused_ = false;
    paused_source_->resume();
  }
  const std::uint32_t before = switch_.load(std::memory_order_relaxed);
  switch_.store(((before & ~3u) + 4u) | static_cast<std::uint32_t>(mode),
                std::memory_order_relaxed);
}

// Delayed after the switch to Off, so that replays announced before still get their times.
void ReplayLog::pause_source() noexcept {
  const std::lock_guard lock(switch_mutex_);
  if (mode() != ProfileMode::Off || is_paused_ || !paused_source_) return;
  is_paused_ = true;
  paused_source_->pause();
}

void ReplayLog::set_mode(ProfileMode mode) {
  const std::lock_guard lock(switch_mutex_);
  configured_mode_ = mode;
  if (!requested_mode_) switch_to(mode);
}

void ReplayLog::request_mode(std::optional<ProfileMode> mode) {
  const std::lock_guard lock(switch_mutex_);
  if (!mode && !requested_mode_) return;
  requested_mode_ = mode;
  switch_to(requested_mode_.value_or(configured_mode_));
}

void ReplayLog::notify_if_half(std::size_t used, std::size_t of) noexcept {
  if (desc_.signal != nullptr && used == of / 2) desc_.signal->notify();
}

void ReplayLog::record_launch(const LaunchRecord& note) noexcept {
  const std::size_t used = launches_.put(note);
  if (used == 0) lost_launches_.fetch_add(1, std::memory_order_relaxed);
  notify_if_half(used, notify_at_);
}

bool ReplayLog::is_sampled(std::uint64_t replay) noexcept {
  const std::uint32_t now = switch_.load(std::memory_order_relaxed);
  if (now != seen_switch_) {
    seen_switch_ = now;
    next_sampled_ = replay;
  }
  switch (mode_of(now)) {
    case ProfileMode::Off:
    case ProfileMode::Replays: return false;
    case ProfileMode::Sampled: return replay >= next_sampled_;
    case ProfileMode::Every: return true;
  }
  return false;
}

bool ReplayLog::wants_nodes(std::uint64_t replay, std::int64_t started,
                            std::int64_t ended) noexcept {
  if (mode() != ProfileMode::Sampled || !source_->can_time_every_replay()) return true;
  if (ended - slowest_.since >= kSlowestPeriod) slowest_ = {ended, -1};
  if (ended - started > slowest_.took) {
    slowest_.took = ended - started;
    return true;
  }
  return replay >= next_sampled_;
}

NodeTime* ReplayLog::begin_replay(std::uint64_t replay) noexcept {
  if (block_count_ == 0 || !is_announced(replay)) return nullptr;
  if (!source_ && !is_sampled(replay)) return nullptr;
  Block* const block = take_block();
  if (block == nullptr) {
    lost_blocks_.fetch_add(1, std::memory_order_relaxed);
    if (desc_.signal != nullptr) desc_.signal->notify();
    return nullptr;
  }
  return block->slots();
}

ReplayLog::Block* ReplayLog::take_block() noexcept {
  if (free_blocks_ == nullptr)
    free_blocks_ = returned_blocks_.exchange(nullptr, std::memory_order_acquire);
  if (free_blocks_ != nullptr) return std::exchange(free_blocks_, free_blocks_->next);
  const std::size_t bytes = sizeof(Block) + block_slots_ * sizeof(NodeTime);
  if (unused_blocks_ == 0) {
    const std::size_t wanted = std::max<std::size_t>({1, kFirstBlockBytes / bytes, slab_blocks_}),
                      count = std::min<std::size_t>(wanted, block_count_ - slab_blocks_);
    if (count == 0) return nullptr;
    const auto slab = std::find(slabs_.begin(), slabs_.end(), nullptr);
    slab->reset(new (std::nothrow) std::byte[count * bytes]);
    if (*slab == nullptr) return nullptr;
    unused_ = slab->get();
    unused_blocks_ = static_cast<std::uint32_t>(count);
    slab_blocks_ += unused_blocks_;
  }
  --unused_blocks_;
  auto* const block = new (std::exchange(unused_, unused_ + bytes)) Block;
  std::uninitialized_fill_n(block->slots(), block_slots_, NodeTime{});
  return block;
}

std::int64_t ReplayLog::timed_nodes(const NodeTime* slots) const noexcept {
  std::int64_t count = desc_.nodes;
  for (const BodyLayout& body : desc_.slots.bodies) {
    count += static_cast<std::int64_t>(
                 std::min<std::uint64_t>(iterations_of(slots[body.first_slot]), body.kept)) *
             body.nodes;
  }
  return count;
}

void ReplayLog::end_replay(std::uint64_t replay, std::int64_t started, std::int64_t ended,
                           NodeTime* nodes) noexcept {
  if (!is_announced(replay)) return;
  if (source_) {
    source_delivered_ = replay;
    const trace::Time took = ended - started;
    if (nodes != nullptr) {
      window_.extra += std::max<trace::Time>(0, took - static_cast<trace::Time>(window_.plain));
    } else {
      window_.plain +=
          (static_cast<double>(took) - window_.plain) / (window_.plain == 0 ? 1 : kMeanWeight);
    }
  }
  Times times{replay, started, ended, nullptr,
              source_ ? sample_source(source_->timed_by()) : trace::SampleSource::Host};
  if (nodes != nullptr) {
    times.block = Block::of(nodes);
    const std::int64_t took = std::max<std::int64_t>(ended - started, 1);
    sample_every_ = static_cast<std::uint64_t>(std::clamp<std::int64_t>(
        kShareOfTime * kNodeCostNs * timed_nodes(nodes) / took, 1, kMaxSampleInterval));
    next_sampled_ = replay + sample_every_;
  }
  const std::size_t used = times_.put(times);
  if (used == 0) {
    lost_times_.fetch_add(1, std::memory_order_relaxed);
    if (nodes != nullptr) {
      lost_blocks_.fetch_add(1, std::memory_order_relaxed);
      std::fill_n(nodes, block_slots_, NodeTime{});
      times.block->next = std::exchange(free_blocks_, times.block);
    }
  }
  notify_if_half(
      used, nodes == nullptr ? desc_.replays : std::min<std::size_t>(desc_.replays, block_count_));
}

void ReplayLog::append_body(std::uint32_t body, const NodeTime* slots, trace::SampleBlock& block,
                            std::vector<trace::Record>& records) {
  const BodyLayout& place = desc_.slots.bodies[body];
  const std::uint64_t iterations = iterations_of(slots[place.first_slot]),
                      kept = std::min<std::uint64_t>(iterations, place.kept);
  std::uint64_t timed = 0;
  for (std::uint64_t iteration = 0; iteration < kept; ++iteration) {
    const std::size_t before = block.samples.size();
    for (std::uint32_t node = 0; node < place.nodes; ++node) {
      const NodeTime& at = slots[place.slot(node, iteration)];
      if (at.started != 0) {
        block.samples.push_back({place.first_node + node, static_cast<std::uint32_t>(iteration),
                                 at.started, at.duration, at.worker});
      }
    }
    if (block.samples.size() != before) ++timed;
  }
  untimed_nodes_ += (iterations - timed) * place.nodes;
  if (place.kind == BodyLayout::Kind::Loop)
    records.emplace_back(
        trace::LoopRun{block.graph, block.version, body, block.replay, iterations, timed});
}

void ReplayLog::append_block(const Times& times, std::vector<trace::Record>& records) {
  NodeTime* const nodes = times.block->slots();
  trace::SampleBlock block{desc_.graph,       version_of(times.replay),
                           desc_.exec.number, number_of(times.replay),
                           times.source,      {}};
  const std::int64_t count = timed_nodes(nodes);
  block.samples.reserve(static_cast<std::size_t>(count));
  hooks_.nodes += static_cast<std::uint64_t>(count);
  for (std::uint32_t node = 0; node < desc_.nodes; ++node) {
    const NodeTime& at = nodes[node];
    if (at.started != 0) block.samples.push_back({node, 0, at.started, at.duration, at.worker});
  }
  for (std::uint32_t body = 0; body < desc_.slots.bodies.size(); ++body)
    append_body(body, nodes, block, records);
  std::fill_n(nodes, block_slots_, NodeTime{});
  times.block->next = returned_blocks_.load(std::memory_order_relaxed);
  while (!returned_blocks_.compare_exchange_weak(
      times.block->next, times.block, std::memory_order_release, std::memory_order_relaxed)) {
  }
  trace::sort_by_start(block.samples);
  records.emplace_back(std::move(block));
}

void ReplayLog::take_times(std::vector<trace::Record>& records) {
  for (Times times; times_.take(times);) {
    ++hooks_.replays;
    if (times.block != nullptr) append_block(times, records);
    early_.push_back(times);
  }
}

void ReplayLog::begin_version(std::uint32_t version, std::uint64_t replay) {
  const std::lock_guard lock(versions_mutex_);
  if (versions_.back().version == version) return;
  if (versions_.back().replay == replay) versions_.pop_back();  // no launch since
  versions_.push_back({replay, version});
}

std::uint32_t ReplayLog::version_of(std::uint64_t replay) const {
  const std::lock_guard lock(versions_mutex_);
  auto at = versions_.rbegin();
  while (at->replay > replay && std::next(at) != versions_.rend()) ++at;
  return at->version;
}

void ReplayLog::forget_versions() {
  const std::lock_guard lock(versions_mutex_);
  auto last = versions_.begin();
  while (std::next(last) != versions_.end() && std::next(last)->replay <= added_ + 1) ++last;
  versions_.erase(versions_.begin(), last);
}

void ReplayLog::add_replay(const LaunchRecord& launch, const Times& times,
                           std::vector<trace::Record>& records) {
  added_ = launch.replay;
  trace::Replay replay;
  replay.graph = desc_.graph;
  replay.version = version_of(launch.replay);
  replay.exec = desc_.exec.number;
  replay.queue = launch.queue;
  replay.replay = number_of(launch.replay);
  replay.launched = launch.launched;
  replay.launch_returned = launch.returned;
  replay.started = times.started;
  replay.ended = times.ended;
  replay.thread = launch.thread;
  replay.sampled = times.block == nullptr ? 0 : 1;
  records.emplace_back(replay);
}

// Both are in the order of replays; an element without a counterpart lost it.
void ReplayLog::join(std::vector<trace::Record>& records) {
  auto launch = waiting_.begin();
  auto times = early_.begin();
  while (launch != waiting_.end() && times != early_.end()) {
    if (times->replay < launch->replay) {
      ++times;
      continue;
    }
    const bool match = times->replay == launch->replay;
    add_replay(*launch++, match ? *times++ : Times{}, records);
  }
  waiting_.erase(waiting_.begin(), launch);
  early_.erase(early_.begin(), times);
}

void ReplayLog::follow(std::shared_ptr<ReplaySource> source) {
  source_ = std::move(source);
  has_device_times_ = true;
  notify_at_ = std::min<std::size_t>(desc_.replays, source_->capacity());
  {
    const std::lock_guard lock(switch_mutex_);
    paused_source_ = source_;
  }
  pause_source();
  if (mode() != ProfileMode::Every) return;
  try {
    plan_window(Start::Now);
  } catch (const Error&) {  // the next collection retries and reports the error
  }
}

ReplayLog::Preparation::Preparation(const std::shared_ptr<ReplaySource>& source) {
  const auto task = std::make_shared<std::packaged_task<void()>>([source] { source->prepare(); });
  done = task->get_future();
  thread = start_background_thread("rp-prepare", [task] { (*task)(); });
}

bool ReplayLog::prepare(ReplaySource::Precision precision) {
  if (!preparation_) {
    if (source_->is_prepared(precision)) return true;
    try {
      preparation_.emplace(source_);
    } catch (const std::system_error&) {
      return true;  // without a thread, time_nodes() takes the time
    }
  }
  if (preparation_->done.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
    return false;
  std::future<void> done = std::move(preparation_->done);
  preparation_.reset();
  done.get();  // throws what prepare() threw
  return true;
}

void ReplayLog::plan_window(Start start) {
  const std::uint32_t word = switch_.load(std::memory_order_relaxed);
  const bool is_new = std::exchange(window_.seen_switch, word) != word;
  const ProfileMode mode = mode_of(word);
  if (mode != ProfileMode::Every && is_new && window_.is_open) {
    if (mode == ProfileMode::Sampled && source_->can_time_every_replay()) {
      next_sampled_ = 0;
    } else {  // open replays are still delivered
      source_->time_nodes(0, ReplaySource::Precision::Cheap);
    }
  }
  const bool was_open = std::exchange(window_.is_open, source_->is_timing_nodes());
  const trace::Time now = trace_now();
  if (was_open && !window_.is_open)
    window_.next = now + std::clamp(kShareOfTime * window_.extra, kMinWindowPause, kMaxWindowPause);
  if (window_.is_open || mode < ProfileMode::Sampled || (!is_new && now < window_.retry)) return;
  if (mode == ProfileMode::Sampled && !is_new && now < window_.next) return;
  const bool is_endless = mode == ProfileMode::Every || source_->can_time_every_replay();
  if (window_.last_close == 0) window_.last_close = now;
  using Precision = ReplaySource::Precision;
  const bool is_close = is_endless || now - window_.last_close >= kMinClosePause;
  const Precision precision = is_close ? Precision::Close : Precision::Cheap;
  if (start == Start::WhenPrepared && !prepare(precision)) {
    window_.seen_switch = kNotPlanned;
    return;
  }
  if (is_close && !is_endless) window_.last_close = now;
  source_->time_nodes(is_endless ? ReplaySource::kAllReplays : kWindowReplays, precision);
  if (is_endless) notify_at_ = std::min<std::size_t>(desc_.replays, source_->capacity());
  window_.has_failed = false;
  window_.is_open = source_->is_timing_nodes();
  window_.extra = trace_now() - now;  // launches may have waited meanwhile
}

// Without node times, the graph still has the times of its replays.
void ReplayLog::try_window(std::vector<trace::Record>& records) {
  try {
    plan_window(Start::WhenPrepared);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::DeviceLost) throw;
    window_.retry = trace_now() + kMaxWindowPause;
    if (std::exchange(window_.has_failed, true)) return;
    records.emplace_back(trace::Message{
        trace_now(), trace::Severity::Warning, "node-times",
        concat("graph ", desc_.label, ": its nodes are not timed now: ", error.what()), desc_.graph,
        desc_.version, trace::kNone, trace::kNone});
  }
}

// Collects the times that the source holds.
void ReplayLog::collect_source(std::vector<trace::Record>& records) {
  try {
    const bool was_timing = source_->is_timing_nodes();
    if (was_timing || last_announced_.load(std::memory_order_relaxed) >
                          source_delivered_) {  // otherwise no replay is outstanding, and the
                                                // device need not be queried
      const trace::Time started = trace_now();
      const ReplaySource::Lost lost = source_->collect(*this);
      lost_times_.fetch_add(lost.replays, std::memory_order_relaxed);
      lost_blocks_.fetch_add(lost.nodes, std::memory_order_relaxed);
      if (was_timing && !source_->is_timing_nodes())
        window_.extra += trace_now() - started;  // includes the time to destroy the profiling clone
    }
    if (const auto clock = source_->clock(); clock && clock->host != clock_reported_) {
      clock_reported_ = clock->host;
      records.emplace_back(trace::Clock{desc_.device, clock->host, clock->other, clock->error});
    }
    if (!closed_.load(std::memory_order_relaxed)) try_window(records);
    if (std::string notice = source_->notice(); !notice.empty()) {
      records.emplace_back(trace::Message{trace_now(), trace::Severity::Info, "node-times",
                                          concat("graph ", desc_.label, ": ", notice), desc_.graph,
                                          desc_.version, trace::kNone, trace::kNone});
    }
  } catch (const Error& error) {
    records.emplace_back(
        trace::Message{trace_now(), trace::Severity::Warning, "device-times-lost",
                       concat("graph ", desc_.label,
                              ": times of its replays are no longer recorded: ", error.what()),
                       desc_.graph, desc_.version, trace::kNone, trace::kNone});
    finish(records);
    source_.reset();
    has_device_times_ = false;
  }
}

bool ReplayLog::collect(std::vector<trace::Record>& records) {
  const bool closed = closed_.load(std::memory_order_acquire);
  if (source_) collect_source(records);
  if (mode() == ProfileMode::Off) pause_source();
  for (LaunchRecord note; launches_.take(note);) {
    ++hooks_.launches;
    if (has_device_times_) {
      waiting_.push_back(note);
    } else {
      add_replay(note, {}, records);
    }
  }
  take_times(records);
  join(records);
  forget_versions();
  add_losses(records);
  if (closed) finish(records);
  return !closed;
}

void ReplayLog::finish(std::vector<trace::Record>& records) {
  for (const LaunchRecord& launch : waiting_) add_replay(launch, {}, records);
  waiting_.clear();
  early_.clear();
}

void ReplayLog::add_losses(std::vector<trace::Record>& records) {
  const auto add = [&](trace::LossKind kind, const std::atomic<std::uint64_t>& counter,
                       std::uint64_t& reported, std::uint64_t weight, std::string_view what) {
    const std::uint64_t count = counter.load(std::memory_order_relaxed);
    if (count == reported) return;
    records.emplace_back(trace::Loss{trace_now(), kind, (count - reported) * weight,
                                     concat("graph ", desc_.label, ": dropped ", what)});
    reported = count;
  };
  add(trace::LossKind::Replays, lost_launches_, reported_.launches, 1, "launches");
  add(trace::LossKind::DeviceRecords, lost_times_, reported_.times, 1, "the times of replays");
  add(trace::LossKind::Samples, lost_blocks_, reported_.blocks, desc_.nodes, "the times of nodes");
  if (untimed_nodes_ != reported_.untimed) {
    records.emplace_back(trace::Loss{
        trace_now(), trace::LossKind::NodeRuns, untimed_nodes_ - reported_.untimed,
        concat("graph ", desc_.label, ": iterations of loops whose nodes were not timed")});
    reported_.untimed = untimed_nodes_;
  }
}

}  // namespace reprise::detail

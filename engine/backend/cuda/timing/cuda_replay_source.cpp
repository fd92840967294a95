#include "backend/cuda/timing/cuda_replay_source.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "backend/cuda/cuda_virtual_allocation.hpp"
#include "base/text.hpp"
#include "profile/activity/activity_session.hpp"

namespace reprise::detail {
namespace {

// An open CUPTI window slows down other graphs, so it closes after this time without a launch.
constexpr std::chrono::seconds kMaxIdleWindow{1};

// Waits until all work of the context is complete, in every stream; a call that blocks could not
// give up at `deadline`. A lost device counts as idle, a context whose work is being captured as
// busy.
bool wait_until_idle(const CudaContext& context, std::chrono::steady_clock::time_point deadline) {
  const SetupScope scope(context, std::nothrow);
  if (!scope) return true;
  const CudaDriver& driver = context.driver;
  CUevent event = nullptr;
  if (driver.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) return true;
  CUresult result = driver.cuCtxRecordEvent(context.handle, event);
  if (result == CUDA_SUCCESS) {
    while ((result = driver.cuEventQuery(event)) == CUDA_ERROR_NOT_READY &&
           std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  static_cast<void>(driver.cuEventDestroy(event));
  return result != CUDA_ERROR_NOT_READY && result != CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

}  // namespace

CudaReplaySource::CudaReplaySource(std::shared_ptr<const CudaContext> context,
                                   std::shared_ptr<const CudaInstrumentation> instrumentation,
                                   TimedBy nodes_by, Timing timing)
    : context_(std::move(context)),
      instrumentation_(std::move(instrumentation)),
      ring_(context_, instrumentation_->readback),
      timing_(timing),
      nodes_by_(nodes_by),
      timed_by_(nodes_by) {
  if (nodes_by_ != TimedBy::Cupti) return;
  ActivitySession::of_process().expect(context_->handle,
                                       [context = context_](Clock::time_point deadline) {
                                         return wait_until_idle(*context, deadline);
                                       });
}

void CudaReplaySource::close() noexcept {
  remaining_.store(0);
  const std::lock_guard lock(make_mutex_);
  close_window();
  clones_ = {};
}

bool CudaReplaySource::ran_clone(std::uint64_t replay) const noexcept {
  const std::uint64_t first = first_.load(std::memory_order_acquire);
  return first != 0 && replay >= first && replay <= last_.load(std::memory_order_acquire);
}

bool CudaReplaySource::is_complete() {
  if (!is_timing_) return false;
  const bool is_idle = timed_by_ == TimedBy::Cupti && !is_endless_ && last_.load() <= last_ended_ &&
                       Clock::now() - opened_ > kMaxIdleWindow;
  if (is_idle) remaining_.store(0);
  return remaining_.load(std::memory_order_acquire) == 0 &&
         last_.load(std::memory_order_acquire) <= last_ended_;
}

bool CudaReplaySource::report(const ReplayTimestamps& replay, NodeTimer::Remaining remaining,
                              ReplayObserver& observer, Lost& lost) {
  const GpuClock& clock = *instrumentation_->clock;
  const bool by_clone = ran_clone(replay.replay);
  const std::uint64_t number = numbers_.replay(replay.replay);
  const std::int64_t started = clock.to_host(replay.started), ended = clock.to_host(replay.ended);
  const bool is_wanted = by_clone && observer.wants_nodes(number, started, ended);
  NodeTimer::FindResult found = NodeTimer::FindResult::Lost;
  if (is_wanted) found = nodes_->find({replay, number, last_, remaining}, clock);
  if (found == NodeTimer::FindResult::Pending) return false;
  if (number == 0) {
    ++lost.replays;
    return true;
  }
  NodeTime* times = nullptr;
  if (found == NodeTimer::FindResult::Times) {
    times = observer.begin_replay(number);
    if (times != nullptr) nodes_->fill(times, clock);
  } else if (is_wanted) {
    ++lost.nodes;
  }
  observer.end_replay(number, started, ended, times);
  return true;
}

ReplaySource::Lost CudaReplaySource::collect(ReplayObserver& observer) {
  ended_.clear();
  Lost lost;
  lost.replays = ring_.read(ended_);
  if (lost.replays != 0 && is_timing_) nodes_->mark_gap();
  if (!ended_.empty()) {
    instrumentation_->clock->align();
    pending_.insert(pending_.end(), ended_.begin(), ended_.end());
    last_ended_ = ended_.back().replay;
  }
  bool is_done = is_complete();
  if (is_done) {
    const std::lock_guard lock(make_mutex_);
    is_done = try_close_window();
  } else if (is_timing_ && !pending_.empty()) {
    nodes_->flush();
  }
  while (!pending_.empty() &&
         report(pending_.front(),
                is_done ? NodeTimer::Remaining::None : NodeTimer::Remaining::Possible, observer,
                lost)) {
    pending_.pop_front();
  }
  if (is_timing_) {
    if (std::string warning = nodes_->warning(); !warning.empty()) notice_ = std::move(warning);
  }
  if (is_done) is_timing_ = false;
  return lost;
}

bool CudaReplaySource::open_window() {
  try {
    const std::string reason =
        ActivitySession::of_process().open([this] { make_clone(TimedBy::Cupti); });
    has_window_ = reason.empty();
    if (!has_window_ && reason != ActivitySession::kBusy) nodes_by_ = TimedBy::Timestamp;
    if (!has_window_)
      notice_ = concat("nodes are timed by timestamp kernels, not by CUPTI: ", reason);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::DeviceLost) throw;
    nodes_by_ = TimedBy::Timestamp;
    notice_ = concat("nodes are timed by timestamp kernels, because a CUPTI window failed: ",
                     error.what());
  }
  return has_window_;
}

bool CudaReplaySource::try_close_window() noexcept {
  if (!has_window_) return true;
  has_window_ = !ActivitySession::of_process().close([this] {
    clones_.destroy();
    clone_ = nullptr;
  });
  return !has_window_;
}

void CudaReplaySource::close_window() noexcept {
  // Launches pass the gate between two attempts.
  while (!try_close_window()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

void CudaReplaySource::make_clone(TimedBy by) {
  ProfilingClone clone = clones_.make(by);
  nodes_ = std::move(clone.nodes);
  clone_ = clone.exec;
}

// collect() uses nodes_ only while nodes are timed, and then there is a clone.
void CudaReplaySource::prepare() {
  const std::lock_guard lock(make_mutex_);
  if (clone_ != nullptr || !clones_.make) return;
  const auto pages = UnmappedRanges::of_process().hold();
  if (clones_.is_possible()) make_clone(TimedBy::Timestamp);
}

bool CudaReplaySource::is_prepared(Precision precision) {
  if (precision == Precision::Close && nodes_by_ == TimedBy::Cupti) return true;
  const std::lock_guard lock(make_mutex_);
  if (clone_ != nullptr || !clones_.make) return true;
  const auto pages = UnmappedRanges::of_process().hold();
  return !clones_.is_possible();
}

void CudaReplaySource::time_nodes(std::uint64_t replays, Precision precision) {
  if (replays == 0) return remaining_.store(0);
  if (is_timing_) return;
  const std::lock_guard lock(make_mutex_);
  if (!clones_.make) return;
  const auto pages = UnmappedRanges::of_process().hold();
  if (!clones_.is_possible()) return;  // the caller requests it again
  timed_by_ = precision == Precision::Close ? nodes_by_ : TimedBy::Timestamp;
  if (timed_by_ == TimedBy::Cupti) {
    {
      const GatePass pass(ActivitySession::of_process().gate());
      clones_.destroy();  // a timestamped clone is idle: all its replays were collected
    }
    clone_ = nullptr;
    if (!open_window()) timed_by_ = TimedBy::Timestamp;
  }
  if (clone_ == nullptr) make_clone(TimedBy::Timestamp);
  opened_ = Clock::now();
  is_endless_ = replays == kAllReplays;
  is_timing_ = true;
  first_.store(0);
  last_.store(0);
  remaining_.store(is_endless_ ? replays : std::min<std::uint64_t>(replays, nodes_->rows()),
                   std::memory_order_release);
}

}  // namespace reprise::detail

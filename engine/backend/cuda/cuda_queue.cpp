#include "backend/cuda/cuda_queue.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <thread>

#include "backend/cuda/cuda_stopwatch.hpp"
#include "base/failure.hpp"
#include "base/text.hpp"

namespace reprise::detail {
namespace {

// Duration of busy polling in a wait with a time limit.
constexpr std::chrono::microseconds kSpin{50};
constexpr std::chrono::microseconds kMaxPause{500};

}  // namespace

// Prevents the reuse of a serial's event.
class CudaQueue::Pin {
 public:
  explicit Pin(Slot& slot) noexcept : slot_(slot) { slot_.pins.fetch_add(1); }
  Pin(const Pin&) = delete;
  Pin& operator=(const Pin&) = delete;
  ~Pin() { slot_.pins.fetch_sub(1); }

 private:
  Slot& slot_;
};

CudaQueue::CudaQueue(std::shared_ptr<const CudaContext> context, std::string_view label,
                     std::int32_t priority)
    : context_(std::move(context)),
      label_(label),
      name_(concat("queue \"", label, "\"")),
      owned_(true) {
  const SetupScope scope(*context_, Stage::Open);
  cuda_check(
      context_->driver.cuStreamCreateWithPriority(&stream_, CU_STREAM_NON_BLOCKING, priority),
      "cuStreamCreateWithPriority", context_->at(Stage::Open, name_));
  make_events();
}

CudaQueue::CudaQueue(std::shared_ptr<const CudaContext> context, CUstream foreign,
                     std::string_view label)
    : context_(std::move(context)),
      label_(label),
      name_(concat("queue \"", label, "\"")),
      stream_(foreign),
      shared_(true) {
  const SetupScope scope(*context_, Stage::Open);
  CUcontext owner = nullptr;
  cuda_check(context_->driver.cuStreamGetCtx(foreign, &owner), "cuStreamGetCtx",
             context_->at(Stage::Open, name_));
  if (owner != context_->handle) {
    ErrorDetails details;
    details.code = ErrorCode::WrongDevice;
    details.stage = Stage::Open;
    details.label = label_;
    throw Error(std::move(details),
                concat("the stream to adopt as ", name_,
                       " does not belong to the primary context of ", context_->info.selector));
  }
  make_events();
}

CudaQueue::~CudaQueue() {
  {
    const std::lock_guard lock(context_->conditionals->mutex);
    if (context_->conditionals->queue == this) context_->conditionals->queue = nullptr;
  }
  destroy();
}

void CudaQueue::make_events() {
  try {
    for (std::uint64_t i = 0; i < kRing; ++i) free_[i] = static_cast<std::uint16_t>(kRing - 1 - i);
    free_count_ = kRing;
    for (Slot& slot : slots_) {
      cuda_check(context_->driver.cuEventCreate(&slot.event, CU_EVENT_DISABLE_TIMING),
                 "cuEventCreate", context_->at(Stage::Open, name_));
    }
  } catch (...) {
    destroy();
    throw;
  }
}

void CudaQueue::destroy() noexcept {
  const SetupScope scope(*context_, std::nothrow);
  if (!scope) return;
  for (Slot& slot : slots_) {
    if (slot.event != nullptr) cuda_ignore(context_->driver.cuEventDestroy(slot.event));
    slot.event = nullptr;
  }
  if (owned_ && stream_ != nullptr) cuda_ignore(context_->driver.cuStreamDestroy(stream_));
  stream_ = nullptr;
}

void CudaQueue::advance(std::uint64_t serial) noexcept {
  std::uint64_t completed = completed_.load();
  while (completed < serial && !completed_.compare_exchange_weak(completed, serial)) {
  }
}

bool CudaQueue::query(std::uint64_t serial, Stage stage) {
  const CUresult result = context_->driver.cuEventQuery(slot(serial).event);
  // The event may belong to a later serial by now; this serial completed before that.
  if (result == CUDA_ERROR_NOT_READY) return reached(serial);
  cuda_check(result, "cuEventQuery", context_->at(stage, name_));
  advance(serial);
  return true;
}

bool CudaQueue::done(std::uint64_t serial) {
  if (reached(serial)) return true;
  if (serial > last_serial() || in_host_callback) return false;
  const SetupScope scope(*context_, Stage::Wait);
  return query(serial, Stage::Wait);
}

bool CudaQueue::wait(std::uint64_t serial, std::optional<std::chrono::nanoseconds> timeout) {
  if (reached(serial)) return true;
  const SetupScope scope(*context_, Stage::Wait);
  if (!timeout) {
    const Pin pin(slot(serial));
    if (!reached(serial)) {
      cuda_check(context_->driver.cuEventSynchronize(slot(serial).event), "cuEventSynchronize",
                 context_->at(Stage::Wait, name_));
      advance(serial);
    }
    return true;
  }
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  for (;;) {
    if (query(serial, Stage::Wait)) return true;
    const auto elapsed = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start);
    if (elapsed >= *timeout) return false;
    if (elapsed < kSpin) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(
          std::min<std::chrono::nanoseconds>({elapsed / 8, kMaxPause, *timeout - elapsed}));
    }
  }
}

void CudaQueue::wait_for(BackendQueue& other, std::uint64_t serial) {
  auto& from = static_cast<CudaQueue&>(other);
  if (&from == this || from.reached(serial)) return;
  const DeviceScope scope(*context_, Stage::Launch);
  const std::lock_guard lock(mutex_);
  require_stream(Stage::Launch);
  const Pin pin(from.slot(serial));
  if (from.reached(serial)) return;
  cuda_check(
      context_->driver.cuStreamWaitEvent(stream_, from.slot(serial).event, CU_EVENT_WAIT_DEFAULT),
      "cuStreamWaitEvent", context_->at(Stage::Launch, name_));
}

std::uint64_t CudaQueue::mark() {
  const DeviceScope scope(*context_, Stage::Launch);
  const std::lock_guard lock(mutex_);
  if (dropped_.load(std::memory_order_relaxed)) return last_serial();
  require_stream(Stage::Launch);
  return record(next_slot(Stage::Launch), Stage::Launch);
}

std::optional<std::uint64_t> CudaQueue::drop_native() noexcept {
  const std::lock_guard lock(mutex_);
  if (owned_) return std::nullopt;
  if (last_serial() != 0 && !dropped_.load(std::memory_order_relaxed)) {
    try {
      const DeviceScope scope(*context_, Stage::Launch);
      require_stream(Stage::Launch);
      record(next_slot(Stage::Launch), Stage::Launch);
    } catch (...) {
      // A lost device runs nothing more; what is being captured was not submitted.
    }
  }
  dropped_.store(true, std::memory_order_relaxed);
  return last_serial();
}

std::uint64_t CudaQueue::write(std::byte* destination, std::span<const std::byte> bytes) {
  const DeviceScope scope(*context_, Stage::Launch);
  const std::lock_guard lock(mutex_);
  require_stream(Stage::Launch);
  if (!staging_)
    staging_.emplace(context_, BufferKind::PinnedHost, kRing * kMaxWriteBytes, Stage::Launch,
                     name_);
  const std::uint16_t slot = next_slot(Stage::Launch);
  std::byte* const staged = staging_->bytes() + slot * kMaxWriteBytes;
  std::memcpy(staged, bytes.data(), bytes.size());
  const CUresult result = context_->driver.cuMemcpyHtoDAsync(
      reinterpret_cast<CUdeviceptr>(destination), staged, bytes.size(), stream_);
  if (result != CUDA_SUCCESS) free_[free_count_++] = slot;
  cuda_check(result, "cuMemcpyHtoDAsync", context_->at(Stage::Launch, name_));
  return record(slot, Stage::Launch);
}

std::uint64_t CudaQueue::launch(CUgraphExec exec) {
  const DeviceScope scope(*context_, Stage::Launch);
  const std::lock_guard lock(mutex_);
  require_stream(Stage::Launch);
  const std::uint16_t slot = next_slot(Stage::Launch);
  const CUresult result = context_->driver.cuGraphLaunch(exec, stream_);
  if (result != CUDA_SUCCESS) free_[free_count_++] = slot;
  cuda_check(result, "cuGraphLaunch", context_->at(Stage::Launch, name_));
  return record(slot, Stage::Launch);
}

const std::shared_ptr<ConditionalOrder>& ConditionalOrder::of(int ordinal) {
  static std::mutex mutex;
  static std::map<int, std::shared_ptr<ConditionalOrder>> all;
  const std::lock_guard lock(mutex);
  auto& order = all[ordinal];
  if (!order) order = std::make_shared<ConditionalOrder>();
  return order;
}

std::uint64_t CudaQueue::launch_conditional(CUgraphExec exec) {
  ConditionalOrder& order = *context_->conditionals;
  const std::lock_guard lock(order.mutex);
  if (order.queue != nullptr) wait_for(*order.queue, order.serial);
  order.serial = launch(exec);
  order.queue = this;
  return order.serial;
}

void CudaQueue::copy(std::byte* destination, std::span<const std::byte> bytes) {
  const DeviceScope scope(*context_, Stage::Launch);
  const std::lock_guard lock(mutex_);
  require_stream(Stage::Launch);
  // The driver stages memory that is not pinned before it returns.
  cuda_check(context_->driver.cuMemcpyHtoDAsync(reinterpret_cast<CUdeviceptr>(destination),
                                                bytes.data(), bytes.size(), stream_),
             "cuMemcpyHtoDAsync", context_->at(Stage::Launch, name_));
}

std::unique_ptr<QueueStopwatch> CudaQueue::make_stopwatch() {
  return std::make_unique<CudaStopwatch>(context_, stream_, name_);
}

void* CudaQueue::native() const noexcept {
  shared_.store(true);
  return stream_;
}

CUstream CudaQueue::release() {
  const std::lock_guard lock(mutex_);
  shared_.store(true);
  owned_ = false;
  return stream_;
}

void CudaQueue::require_stream(Stage stage) const {
  if (!shared_.load(std::memory_order_relaxed)) return;
  if (dropped_.load(std::memory_order_relaxed)) {
    ErrorDetails dropped;
    dropped.code = ErrorCode::StaleHandle;
    dropped.stage = stage;
    dropped.label = label_;
    throw Error(std::move(dropped),
                concat("the last handle of ", name_, " was dropped; adopt its stream again"));
  }
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  cuda_check(context_->driver.cuStreamIsCapturing(stream_, &status), "cuStreamIsCapturing",
             context_->at(stage, name_));
  if (status == CU_STREAM_CAPTURE_STATUS_NONE) return;
  ErrorDetails details;
  details.code = ErrorCode::CapturingStream;
  details.stage = stage;
  details.label = label_;
  throw Error(std::move(details),
              concat("the stream of ", name_,
                     " is being captured: end the capture first, or launch on another queue"));
}

void CudaQueue::reclaim(std::uint64_t max_count) noexcept {
  const std::uint64_t done = completed_.load();
  for (; max_count > 0 && reclaimed_ < done; --max_count)
    free_[free_count_++] = slot_of_[++reclaimed_ % kRing].load(std::memory_order_relaxed);
}

std::uint16_t CudaQueue::next_slot(Stage stage) {
  // Reclaiming a few events per launch keeps up with completed work and spreads the cost.
  constexpr std::uint64_t kReclaimedPerLaunch = 4;
  reclaim(kReclaimedPerLaunch);
  if (free_count_ == 0) {
    const std::uint64_t oldest = reclaimed_ + 1;
    const RelaxedCapture relaxed(context_->driver);
    // One query in the middle of the pending serials can release half of them.
    if (!query(reclaimed_ + kRing / 2, stage)) {
      cuda_check(context_->driver.cuEventSynchronize(slot(oldest).event), "cuEventSynchronize",
                 context_->at(stage, name_));
      advance(oldest);
    }
    reclaim(kReclaimedPerLaunch);
  }
  const std::uint16_t next = free_[--free_count_];
  // The pinning threads observe that the old serial is complete and leave.
  while (slots_[next].pins.load() != 0) std::this_thread::yield();
  return next;
}

std::uint64_t CudaQueue::record(std::uint16_t slot, Stage stage) {
  const std::uint64_t serial = last_.load(std::memory_order_relaxed) + 1;
  const CUresult result = context_->driver.cuEventRecord(slots_[slot].event, stream_);
  if (result != CUDA_SUCCESS) free_[free_count_++] = slot;
  cuda_check(result, "cuEventRecord", context_->at(stage, name_));
  slot_of_[serial % kRing].store(slot, std::memory_order_release);
  last_.store(serial, std::memory_order_release);
  return serial;
}

}  // namespace reprise::detail

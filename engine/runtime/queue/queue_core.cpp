#include "runtime/queue/queue_core.hpp"

#include <atomic>
#include <optional>
#include <utility>

#include "base/creator_process.hpp"
#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "profile/nvtx.hpp"
#include "runtime/core/device_core.hpp"

namespace reprise::detail {

// The backend's queue after its QueueCore was dropped.
class DeferredQueue final : public DeferredDelete {
 public:
  [[nodiscard]] Pending pending() const noexcept override {
    try {
      const std::uint64_t serial = queue->last_serial();
      if (serial == 0 || queue->done(serial)) return {};
      return {queue, serial};
    } catch (...) {
      return {};  // a lost device runs no work
    }
  }

  std::shared_ptr<DeviceCore> device;  // destroyed after the queue
  std::shared_ptr<BackendQueue> queue;
};

namespace {

constexpr std::size_t kTypicalQueues = 16;  // awaited queues without reallocation

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

bool is_complete(const QueuePoint& point) noexcept {
  try {
    return !point.queue || point.queue->backend().done(point.serial);
  } catch (...) {
    return true;
  }
}

// Shared by the handles of one queue.
class QueueCore::QueueHandle {
 public:
  explicit QueueHandle(std::shared_ptr<QueueCore> core) noexcept : core_(std::move(core)) {}
  QueueHandle(const QueueHandle&) = delete;
  QueueHandle& operator=(const QueueHandle&) = delete;
  ~QueueHandle() { core_->drop_native(); }

 private:
  const std::shared_ptr<QueueCore> core_;
};

std::shared_ptr<QueueCore> QueueCore::make(std::shared_ptr<DeviceCore> device,
                                           std::unique_ptr<BackendQueue> backend,
                                           std::string_view label, QueueOrigin origin) {
  device->deferred().prepare();
  auto queue = make_thread_owner<QueueCore>(std::move(device), std::move(backend), label, origin);
  queue->device()->add_queue(queue);
  return queue->handle();
}

std::shared_ptr<QueueCore> QueueCore::handle() {
  const std::lock_guard lock(handle_mutex_);
  auto shared = handle_.lock();
  if (!shared) {
    shared = make_thread_owner<QueueHandle>(without_handle());
    handle_ = shared;
  }
  return {std::move(shared), this};
}

// Other threads observe the serial before they stop asking for the work of the application.
void QueueCore::drop_native() noexcept {
  if (origin() != QueueOrigin::Adopted) return;
  const std::optional<std::uint64_t> last = backend_->drop_native();
  if (!last) return;
  dropped_at_.store(*last, std::memory_order_release);
  origin_.store(QueueOrigin::Dropped, std::memory_order_release);
}

void QueueCore::share(Stage stage) {
  require_undropped(stage);
  origin_.store(QueueOrigin::Adopted, std::memory_order_release);
}

QueueCore::QueueCore(std::shared_ptr<DeviceCore> device, std::unique_ptr<BackendQueue> backend,
                     std::string_view label, QueueOrigin origin)
    : device_(std::move(device)),
      backend_(std::move(backend)),
      label_(label),
      origin_(origin),
      generation_(device_->generation()),
      id_(next_id()),
      deferred_(std::make_unique<DeferredQueue>()) {
  awaited_.reserve(kTypicalQueues);
  if (origin == QueueOrigin::Engine)
    nvtx_name_queue(backend_->identity(), label_);  // the application names its own queues
  if (DeviceTrace* const traced = device_->trace()) trace_id_ = traced->add_queue(label_);
}

QueueCore::~QueueCore() {
  deferred_->device = device_;
  deferred_->queue = std::move(backend_);
  if (DeviceTrace* const traced = device_->trace()) traced->end_queue(trace_id_);
  // CUDA destroys no stream in a host callback.
  if (in_host_callback || deferred_->pending().queue)
    device_->deferred().push(std::move(deferred_));
}

bool QueueCore::is_current() const noexcept { return generation_ == device_->generation(); }

void QueueCore::require_current(Stage stage) const {
  if (device_->status()->shut_down.load(std::memory_order_acquire)) {
    fail(ErrorCode::StaleHandle, stage, label_,
         concat("queue ", label_, " is stale: its device was shut down"));
  }
  if (is_current()) return;
  fail(ErrorCode::StaleHandle, stage, label_,
       concat("queue ", label_,
              " is stale: its device was lost; make another with Device::create_queue after "
              "Device::rebuild"));
}

void QueueCore::require_usable(Stage stage) const {
  require_current(stage);
  require_undropped(stage);
}

void QueueCore::require_undropped(Stage stage) const {
  if (origin() != QueueOrigin::Dropped) return;
  fail(ErrorCode::StaleHandle, stage, label_,
       concat("queue ", label_,
              " is stale: its last handle was dropped, and its stream belongs to the application; "
              "keep a Queue, or adopt the stream again"));
}

bool QueueCore::is_obsolete(std::uint64_t serial) const noexcept {
  if (origin() == QueueOrigin::Adopted) return false;
  try {
    return backend_->done(covering(serial));
  } catch (...) {
    return true;
  }
}

void QueueCore::wait_for(const QueuePoint& point) {
  if (!point.queue || point.queue.get() == this) return;
  BackendQueue& other = point.queue->backend();
  std::uint64_t serial = 0;
  if (point.queue->origin() == QueueOrigin::Adopted) {
    serial = other.mark();
  } else {
    serial = point.queue->covering(point.serial);
    for (const Awaited& before : awaited_) {
      if (before.queue == point.queue->id_ && before.serial >= serial) return;
    }
    if (other.done(serial)) return;
  }
  Awaited* known = nullptr;
  for (Awaited& before : awaited_) {
    if (before.queue == point.queue->id_) known = &before;
  }
  if (known == nullptr) known = &awaited_.emplace_back(Awaited{point.queue->id_, 0});
  backend_->wait_for(other, serial);
  if (serial > known->serial) known->serial = serial;
}

void QueueCore::wait_idle() {
  try {
    const std::uint64_t serial =
        origin() == QueueOrigin::Adopted ? backend_->mark() : backend_->last_serial();
    if (serial != 0) (void)backend_->wait(serial, std::nullopt);
  } catch (const Error& error) {
    throw with_context(error, label_, concat("on queue ", label_));
  }
  device_->report_unseen_errors();
}

void QueueCore::wait_idle_if_current() {
  if (is_current()) wait_idle();
}

}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

namespace {

detail::QueueCore& checked(const std::shared_ptr<detail::QueueCore>& core, std::string_view call) {
  return detail::require_handle(core, "Queue", call, Stage::Wait);
}

}  // namespace

std::string_view Queue::label() const noexcept {
  return core_ ? std::string_view(core_->label()) : std::string_view();
}

Fence Queue::last_fence() const {
  const std::uint64_t serial = checked(core_, "last_fence").backend().last_serial();
  return serial == 0 ? Fence() : Fence(core_->without_handle(), serial, nullptr, 0);
}

void Queue::wait(const Fence& fence) {
  detail::QueueCore& queue = checked(core_, "wait");
  detail::require_outside_callback("Queue", "wait", Stage::Wait, queue.label());
  queue.require_usable(Stage::Wait);
  const std::shared_ptr<detail::QueueCore>& other = fence.queue_;
  if (!other || other == core_) return;
  if (other->device() != queue.device()) {
    detail::fail(
        ErrorCode::WrongDevice, Stage::Wait, queue.label(),
        detail::concat("queue ", queue.label(), " of ", queue.device()->info().selector,
                       " cannot wait for queue ", other->label(), " of ",
                       name_beside(*other->device()->status(), *queue.device()->status())));
  }
  other->require_current(Stage::Wait);
  if (!other->backend().done(fence.serial()))
    queue.backend().wait_for(other->backend(), fence.serial());
}

void Queue::wait_idle() const {
  detail::QueueCore& queue = checked(core_, "wait_idle");
  detail::require_outside_callback("Queue", "wait_idle", Stage::Wait, queue.label());
  const bool is_lost = queue.device()->status()->lost.load(std::memory_order_acquire);
  if (!is_lost) queue.require_current(Stage::Wait);
  queue.wait_idle();
  if (is_lost) queue.device()->require_usable(Stage::Wait);
}

Queue Device::create_queue(const QueueDesc& desc) const {
  detail::DeviceCore& core = detail::require_handle(core_, "Device", "create_queue", Stage::Open);
  detail::require_outside_callback("Device", "create_queue", Stage::Open, core.status()->selector);
  core.require_usable(Stage::Open);
  const DeviceLimits& limits = core.info().limits;
  if (desc.priority < limits.highest_queue_priority ||
      desc.priority > limits.lowest_queue_priority) {
    detail::fail(ErrorCode::InvalidArgument, Stage::Open, desc.label,
                 detail::concat("queue ", desc.label, ": priority ", desc.priority,
                                " is outside of the range of ", core.info().selector, ", from ",
                                limits.highest_queue_priority, " (first) to ",
                                limits.lowest_queue_priority, " (DeviceLimits)"));
  }
  return detail::make_handle<Queue>(
      detail::QueueCore::make(core_, core.backend().create_queue(desc), desc.label));
}

}  // namespace reprise::inline REPRISE_ABI

// The backend interfaces of the fake device: kernel, queue, stopwatch, executable, backend. Their
// behaviour is controlled by FakeWorld. Threads: any.
#pragma once

#include <algorithm>
#include <utility>

#include "unit/runtime/fake_backend.hpp"

namespace reprise::test {

using detail::Backend;
using detail::BackendExec;
using detail::BackendQueue;
using detail::Bindings;
using detail::Plan;
using detail::QueueStopwatch;

constexpr std::size_t kMaxEvents = 1u << 16;

class FakeKernel final : public detail::BackendKernel {
 public:
  explicit FakeKernel(std::function<void()> at_end) : at_end_(std::move(at_end)) {}
  ~FakeKernel() override { at_end_(); }

 private:
  std::function<void()> at_end_;
};

[[noreturn]] inline void throw_lost() {
  throw Error({.code = ErrorCode::DeviceLost, .stage = Stage::Wait}, "the fake device is lost");
}

class FakeQueue final : public BackendQueue {
 public:
  FakeQueue(FakeWorld& world, std::shared_ptr<detail::DeviceStatus> status, std::string_view label)
      : world_(world),
        status_(std::move(status)),
        generation_(status_->generation),
        label_(*world.labels_.emplace(label).first) {
    world_.queues_.push_back(this);
  }
  ~FakeQueue() override {
    std::lock_guard lock(world_.mutex_);
    if (completed < last && !dead())
      world_.violations_.push_back("queue " + std::string(label_) + " was destroyed while busy");
    std::erase(world_.queues_, this);
    world_.record_freed("queue");
    world_.changed_.notify_all();
  }

  [[nodiscard]] std::uint64_t last_serial() const noexcept override {
    std::lock_guard lock(world_.mutex_);
    return last;
  }
  [[nodiscard]] bool done(std::uint64_t serial) override {
    std::lock_guard lock(world_.mutex_);
    if (serial <= completed) return true;
    if (dead()) throw_lost();
    return false;
  }
  [[nodiscard]] bool wait(std::uint64_t serial,
                          std::optional<std::chrono::nanoseconds> timeout) override {
    std::unique_lock lock(world_.mutex_);
    const auto is_complete = [&] { return serial <= completed || dead(); };
    ++world_.waiting_;
    world_.changed_.notify_all();
    if (timeout) {
      world_.changed_.wait_for(lock, *timeout, is_complete);
    } else {
      world_.changed_.wait(lock, is_complete);
    }
    --world_.waiting_;
    if (serial <= completed) return true;
    if (dead()) throw_lost();
    return false;
  }
  void wait_for(BackendQueue& other, std::uint64_t serial) override {
    std::lock_guard lock(world_.mutex_);
    if (dead()) throw_lost();
    world_.may_fail("wait_for", Stage::Launch);
    require_native();
    world_.record(
        {FakeWorld::Event::Kind::Wait, label_, serial, static_cast<FakeQueue&>(other).label_});
  }
  std::uint64_t mark() override {
    std::lock_guard lock(world_.mutex_);
    if (is_dropped_) return last;
    if (dead()) throw_lost();
    world_.may_fail("mark", Stage::Launch);
    return submit(FakeWorld::Event::Kind::Mark);
  }
  std::uint64_t write(std::byte* destination, std::span<const std::byte> bytes) override {
    std::lock_guard lock(world_.mutex_);
    if (dead()) throw_lost();
    world_.may_fail("write", Stage::Launch);
    std::copy(bytes.begin(), bytes.end(), destination);
    return submit(FakeWorld::Event::Kind::Mark);
  }

  std::optional<std::uint64_t> drop_native() noexcept override {
    std::lock_guard lock(world_.mutex_);
    if (!is_adopted) return std::nullopt;
    if (last != 0 && !is_dropped_ && !dead()) submit(FakeWorld::Event::Kind::Mark);
    is_dropped_ = true;
    return last;
  }
  [[nodiscard]] std::unique_ptr<QueueStopwatch> make_stopwatch() override;

  // Under the world's mutex:
  std::uint64_t submit(FakeWorld::Event::Kind kind) {
    require_native();
    ++last;
    if (world_.completion_ == Completion::AtOnce) completed = last;
    world_.record({kind, label_, last, {}});
    return last;
  }
  [[nodiscard]] bool dead() const { return generation_ != status_->generation; }
  [[nodiscard]] std::string_view label() const { return label_; }

  std::uint64_t last = 0, completed = 0;
  double nanoseconds = 0;   // total time of launches so far, by FakeWorld::set_time_of
  bool is_adopted = false;  // the native queue belongs to the test

 private:
  void require_native() {
    if (is_dropped_)
      world_.violations_.push_back("queue " + std::string(label_) +
                                   " used a native queue that the "
                                   "application may have destroyed");
  }

  bool is_dropped_ = false;
  FakeWorld& world_;
  std::shared_ptr<detail::DeviceStatus> status_;
  std::uint32_t generation_;
  std::string_view label_;
};

// Measures the fake time of launches between start() and stop().
class FakeStopwatch final : public QueueStopwatch {
 public:
  FakeStopwatch(FakeWorld& world, FakeQueue& queue) : world_(world), queue_(queue) {}
  void start() override { start_ = now(); }
  void stop() override { stop_ = now(); }
  [[nodiscard]] double nanoseconds() override { return stop_ - start_; }

 private:
  [[nodiscard]] double now() const {
    std::lock_guard lock(world_.mutex_);
    return queue_.nanoseconds;
  }
  FakeWorld& world_;
  FakeQueue& queue_;
  double start_ = 0, stop_ = 0;
};

inline std::unique_ptr<QueueStopwatch> FakeQueue::make_stopwatch() {
  std::lock_guard lock(world_.mutex_);
  if (!world_.time_of_) return nullptr;
  return std::make_unique<FakeStopwatch>(world_, *this);
}

class FakeExec final : public BackendExec {
 public:
  FakeExec(FakeWorld& world, std::shared_ptr<detail::DeviceStatus> status,
           std::shared_ptr<const Plan> plan, const Bindings& bindings)
      : world_(world),
        status_(std::move(status)),
        plan_(std::move(plan)),
        addresses_(bindings.address.begin(), bindings.address.end()) {
    for (std::byte* address : addresses_) {
      if (address == nullptr)
        world_.violations_.push_back("a buffer of graph " + plan_->label + " has no address");
    }
    world_.execs_.push_back(this);
  }
  ~FakeExec() override {
    std::lock_guard lock(world_.mutex_);
    if (is_pending())
      world_.violations_.push_back("the exec of graph " + plan_->label +
                                   " was destroyed while it ran");
    std::erase(world_.execs_, this);
    world_.record_freed("exec");
    world_.changed_.notify_all();
  }

  void upload(BackendQueue& queue) override {
    std::lock_guard lock(world_.mutex_);
    auto& q = static_cast<FakeQueue&>(queue);
    if (q.dead()) throw_lost();
    world_.may_fail("upload", Stage::Upload);
    world_.record({FakeWorld::Event::Kind::Upload, q.label(), q.last, {}});
  }
  [[nodiscard]] std::uint64_t launch(BackendQueue& queue) override {
    std::lock_guard lock(world_.mutex_);
    auto& q = static_cast<FakeQueue&>(queue);
    if (q.dead()) throw_lost();
    world_.may_fail("launch", Stage::Launch);
    const std::uint64_t serial = q.submit(FakeWorld::Event::Kind::Launch);
    last_queue_ = &q;
    last_serial_ = serial;
    if (world_.time_of_) q.nanoseconds += world_.time_of_(*plan_);
    return serial;
  }
  [[nodiscard]] std::exception_ptr callback_error(std::uint64_t) override { return nullptr; }
  [[nodiscard]] detail::CallbackErrors::Unseen take_unseen_errors() override { return {}; }

  // Under the world's mutex:
  [[nodiscard]] bool is_pending() const {
    if (std::find(world_.queues_.begin(), world_.queues_.end(), last_queue_) ==
        world_.queues_.end())
      return false;
    return last_serial_ > last_queue_->completed && !last_queue_->dead();
  }
  [[nodiscard]] bool binds(std::byte* begin, std::uint64_t bytes) const {
    const auto at = addresses_.lower_bound(begin);
    return at != addresses_.end() && *at < begin + bytes;
  }

 private:
  FakeWorld& world_;
  std::shared_ptr<detail::DeviceStatus> status_;
  std::shared_ptr<const Plan> plan_;
  std::set<std::byte*> addresses_;
  FakeQueue* last_queue_ = nullptr;
  std::uint64_t last_serial_ = 0;
};

class FakeBackend final : public Backend {
 public:
  FakeBackend(FakeWorld& world, DeviceInfo info, std::shared_ptr<detail::DeviceStatus> status)
      : world_(world), info_(std::move(info)), status_(std::move(status)) {
    ++world_.backends_;
  }
  ~FakeBackend() override {
    std::lock_guard lock(world_.mutex_);
    --world_.backends_;
    world_.record_freed("backend");
    if (world_.backends_ == 0 &&
        !(world_.memory_.empty() && world_.execs_.empty() && world_.queues_.empty())) {
      world_.violations_.push_back("the last device was closed with live objects");
    }
    world_.changed_.notify_all();
  }

  [[nodiscard]] const DeviceInfo& info() const noexcept override { return info_; }
  [[nodiscard]] std::byte* allocate(BufferKind, std::uint64_t bytes) override {
    std::lock_guard lock(world_.mutex_);
    world_.may_fail("allocate", Stage::Allocate);
    if (bytes > world_.limit_ - std::min(world_.limit_, world_.bytes_)) {
      throw Error({.code = ErrorCode::OutOfMemory, .stage = Stage::Allocate},
                  "the fake device has not enough memory");
    }
    FakeWorld::Memory memory{bytes, std::make_unique<std::byte[]>(static_cast<std::size_t>(bytes))};
    std::byte* const address = memory.storage.get();
    world_.memory_.emplace(address, std::move(memory));
    world_.bytes_ += bytes;
    return address;
  }
  void free(BufferKind, std::byte* address) noexcept override {
    std::lock_guard lock(world_.mutex_);
    const auto found = world_.memory_.find(address);
    if (found == world_.memory_.end()) {
      world_.violations_.push_back("memory was freed that is not allocated");
      return;
    }
    for (const FakeExec* exec : world_.execs_) {
      if (exec->binds(address, found->second.bytes))
        world_.violations_.push_back("memory was freed before the exec that uses it");
    }
    world_.bytes_ -= found->second.bytes;
    world_.memory_.erase(found);
    world_.record_freed("memory");
    world_.changed_.notify_all();
  }
  [[nodiscard]] std::unique_ptr<BackendQueue> create_queue(const QueueDesc& desc) override {
    std::lock_guard lock(world_.mutex_);
    world_.may_fail("create_queue", Stage::Open);
    return std::make_unique<FakeQueue>(world_, status_, desc.label);
  }
  [[nodiscard]] detail::ConstantMemory find_constant(const ConstantDesc&) override { return {}; }
  [[nodiscard]] detail::KernelCore load_kernel(const KernelDesc& desc) override {
    std::lock_guard lock(world_.mutex_);
    world_.may_fail("load_kernel", Stage::Load);
    ++world_.kernel_loads_;
    detail::KernelCore kernel;
    kernel.name = desc.name;
    kernel.parameters.assign(desc.parameters.begin(), desc.parameters.end());
    kernel.parameter_bytes =
        desc.parameters.empty() ? 0 : desc.parameters.back().offset + desc.parameters.back().size;
    kernel.max_dynamic_shared_bytes = info_.limits.max_shared_bytes;
    kernel.backend = std::make_shared<FakeKernel>([&world = world_] {
      std::lock_guard guard(world.mutex_);
      if (world.backends_ == 0) world.violations_.push_back("a kernel outlived its device");
    });
    return kernel;
  }
  [[nodiscard]] std::unique_ptr<BackendExec> instantiate(std::shared_ptr<const Plan> plan,
                                                         const Bindings& bindings,
                                                         detail::Instrumentation) override {
    std::lock_guard lock(world_.mutex_);
    world_.may_fail("instantiate", Stage::Instantiate);
    for (const auto& kernel : plan->recording->kernels) {
      if (kernel->generation != status_->generation)
        world_.violations_.push_back("a kernel loaded before the device loss was instantiated");
    }
    return std::make_unique<FakeExec>(world_, status_, std::move(plan), bindings);
  }
  void simulate_loss() override {
    std::lock_guard lock(world_.mutex_);
    if (info_.kind != DeviceKind::Host)
      throw Error({.code = ErrorCode::Unsupported, .stage = Stage::Open},
                  "only a host device can simulate a loss");
    status_->mark_lost();
    world_.changed_.notify_all();
  }
  void rebuild() override {
    std::lock_guard lock(world_.mutex_);
    world_.may_fail("rebuild", Stage::Open);
    status_->lost = false;
  }

 private:
  FakeWorld& world_;
  DeviceInfo info_;
  std::shared_ptr<detail::DeviceStatus> status_;
};

}  // namespace reprise::test

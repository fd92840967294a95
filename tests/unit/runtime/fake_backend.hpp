// A fake device for tests of the runtime. The test decides when its queues complete; it counts live
// objects, records every submission and wait, can fail its n-th call, and reports violations of the
// contract of backend.hpp. Threads: any.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/error.hpp>
#include <reprise/instance.hpp>

#include "backend/backend.hpp"

namespace reprise::test {

enum class Completion : std::uint8_t { ByTest, AtOnce };

class FakeQueue;
class FakeExec;
class FakeStopwatch;
class FakeProvider;

// The state shared by all devices of one provider.
class FakeWorld {
 public:
  // A submission to a queue, or a wait between queues.
  struct Event {
    enum class Kind : std::uint8_t { Launch, Upload, Mark, Wait } kind;
    std::string_view queue;       // label
    std::uint64_t serial;         // Wait: a serial of `other`
    std::string_view other = {};  // Wait: label of the queue waited for
    friend bool operator==(const Event&, const Event&) = default;
  };

  FakeWorld();

  // --- Controls ---
  void set_completion(Completion completion);
  // Completes `serial` and everything before it on that queue.
  void complete(std::string_view queue, std::uint64_t serial);
  void complete_all();
  // Fails the n-th fallible call from now on, counted from 0.
  void fail_call(std::uint64_t n);
  void fail_nothing();
  void limit_bytes(std::uint64_t bytes);
  // Nanoseconds of a launch by its plan, for stopwatches. Empty: queues have no stopwatch.
  void set_time_of(std::function<double(const detail::Plan&)> time_of);

  // --- Queries ---
  // Fallible calls since fail_call or fail_nothing.
  [[nodiscard]] std::uint64_t calls() const;
  [[nodiscard]] std::string failed_call() const;
  [[nodiscard]] std::size_t memory_blocks() const;
  [[nodiscard]] std::uint64_t memory_bytes() const;
  [[nodiscard]] std::size_t execs() const;
  [[nodiscard]] std::size_t queues() const;
  [[nodiscard]] std::size_t backends() const;
  [[nodiscard]] std::size_t kernel_loads() const;
  [[nodiscard]] std::vector<Event> events() const;
  [[nodiscard]] std::vector<Event> waits() const;  // events of kind Wait
  // Kinds of freed objects in order: "exec", "memory", "queue", "backend".
  [[nodiscard]] std::vector<std::string> freed() const;
  // Violations of the contract of backend.hpp.
  [[nodiscard]] std::vector<std::string> violations() const;
  void clear_events();
  // Blocks until no object of any device is alive.
  void wait_until_empty();
  void wait_until_execs(std::size_t count);
  // Blocks until a thread waits for a queue.
  void wait_until_a_thread_waits();

 private:
  friend class FakeBackend;
  friend class FakeProvider;
  friend class FakeQueue;
  friend class FakeExec;
  friend class FakeStopwatch;
  struct Memory {
    std::uint64_t bytes;
    std::unique_ptr<std::byte[]> storage;
  };
  void may_fail(std::string_view call, Stage stage);  // under mutex_
  void record(const Event& event);                    // under mutex_; does not allocate
  void record_freed(const char* kind);                // under mutex_; does not allocate

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Completion completion_ = Completion::ByTest;
  std::uint64_t calls_ = 0, failing_ = ~std::uint64_t{0}, limit_ = ~std::uint64_t{0};
  std::string failed_;
  std::map<std::byte*, Memory> memory_;
  std::uint64_t bytes_ = 0;
  std::vector<FakeQueue*> queues_;
  std::vector<FakeExec*> execs_;
  std::function<double(const detail::Plan&)> time_of_;
  std::size_t backends_ = 0, kernel_loads_ = 0, waiting_ = 0;
  std::vector<Event> events_;
  std::vector<std::string> freed_, violations_;
  std::set<std::string, std::less<>> labels_;  // storage of event labels
};

struct FakeDevice {
  std::string selector = "host";
  DeviceKind kind = DeviceKind::Host;
  std::uint32_t max_segment_blocks = 0;
};

class FakeProvider : public detail::BackendProvider {
 public:
  explicit FakeProvider(FakeWorld& world, std::vector<FakeDevice> devices = {FakeDevice{}});
  // Sets the error that require_driver() throws, for a provider without devices.
  void refuse_driver(ErrorCode code) { driver_ = code; }

  [[nodiscard]] std::vector<DeviceInfo> devices() override;
  [[nodiscard]] std::string unavailable_reason() override { return "the fake has no devices"; }
  [[nodiscard]] std::unique_ptr<detail::Backend> open(
      std::uint32_t index, std::shared_ptr<detail::DeviceStatus> status) override;
  void require_driver() override;

 private:
  FakeWorld& world_;
  std::vector<FakeDevice> devices_;
  ErrorCode driver_ = ErrorCode::NoDriver;
};

// The description of a kernel that the fake device loads; its parameters are a pointer and a value.
[[nodiscard]] const KernelDesc& fake_kernel();

// World, provider and instance in the required order of destruction. The destructor checks that no
// object is leaked and that the engine kept the contract of backend.hpp.
class FakeInstance {
 public:
  explicit FakeInstance(InstanceDesc desc = {}, std::vector<FakeDevice> devices = {FakeDevice{}});
  FakeInstance(const FakeInstance&) = delete;
  FakeInstance& operator=(const FakeInstance&) = delete;
  ~FakeInstance();

  FakeWorld world;
  FakeProvider provider;
  Instance instance;
  [[nodiscard]] Device open(std::string_view name = "host") const {
    return instance.open_device(DeviceSelector::named(name));
  }
};

// A fixture: the fake host device with a pool and a queue.
struct FakeRun {
  FakeInstance fake;
  Device device = fake.open();
  std::shared_ptr<CapturePool> pool = device.create_pool({.label = "pool"});
  Queue queue = device.create_queue({.label = "q"});
};

// The error that `call` throws. Fails the test if it throws none.
[[nodiscard]] ErrorDetails error_of(const std::function<void()>& call);
[[nodiscard]] std::string text_of(const std::function<void()>& call);

// A graph of fills and copies: it reads `source` and writes `destination`; either may be empty.
[[nodiscard]] CapturedGraph make_graph(const Device& device, std::string_view label,
                                       const BufferView& source, const BufferView& destination,
                                       std::shared_ptr<CapturePool> pool = nullptr);

}  // namespace reprise::test

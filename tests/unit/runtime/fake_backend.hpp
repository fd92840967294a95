// A device for tests of run/: its queues complete only when the test says so, it counts what is
// alive, notes every submission and wait, can fail its call number n, and complains when the engine
// breaks the contract of backend.hpp. Threads: any.
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

// What all devices of one provider share.
class FakeWorld {
 public:
  // Something that reached a queue.
  struct Event {
    enum class Kind : std::uint8_t { Launch, Upload, Mark, Wait } kind;
    std::string_view queue;       // label
    std::uint64_t serial;         // of Wait: of `other`
    std::string_view other = {};  // label, of Wait
    friend bool operator==(const Event&, const Event&) = default;
  };

  FakeWorld();

  // --- what the test decides ---
  void set_completion(Completion completion);
  void complete(std::string_view queue,
                std::uint64_t serial);  // and everything before it on that queue
  void complete_all();
  void fail_call(std::uint64_t n);  // the n-th call from now on that may fail does, counted from 0
  void fail_nothing();
  void limit_bytes(std::uint64_t bytes);
  // Queues tell how long launches take, by this; nothing: they don't.
  void set_time_of(std::function<double(const detail::Plan&)> time_of);
  void throw_in_callback(std::uint64_t replay, const std::string& text);  // of every exec

  // --- what the test asks ---
  [[nodiscard]] std::uint64_t calls() const;  // that may fail, since fail_call or fail_nothing
  [[nodiscard]] std::string failed_call() const;
  [[nodiscard]] std::size_t memory_blocks() const;
  [[nodiscard]] std::uint64_t memory_bytes() const;
  [[nodiscard]] std::size_t execs() const;
  [[nodiscard]] std::size_t queues() const;
  [[nodiscard]] std::size_t backends() const;
  [[nodiscard]] std::size_t kernel_loads() const;
  [[nodiscard]] std::vector<Event> events() const;
  [[nodiscard]] std::vector<Event> waits() const;  // the events of kind Wait
  [[nodiscard]] std::vector<std::string> freed()
      const;  // "exec", "memory", "queue", "backend", in order
  [[nodiscard]] std::vector<std::string> complaints() const;
  void forget_events();
  // Blocks until nothing of any device is alive.
  void wait_until_empty();
  void wait_until_execs(std::size_t count);
  // Blocks until a thread waits for a queue.
  void wait_until_somebody_waits();

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
  void note(const Event& event);                      // under mutex_; allocates nothing
  void note_freed(const char* what);                  // under mutex_; allocates nothing

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
  std::uint64_t throwing_replay_ = 0;
  std::string thrown_text_;
  std::vector<Event> events_;
  std::vector<std::string> freed_, complaints_;
  std::set<std::string, std::less<>> labels_;  // event labels point in here
};

struct FakeDevice {
  std::string selector = "host";
  DeviceKind kind = DeviceKind::Host;
};

class FakeProvider : public detail::BackendProvider {
 public:
  explicit FakeProvider(FakeWorld& world, std::vector<FakeDevice> devices = {FakeDevice{}});
  // What require_driver() throws, for a provider without devices.
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

// A kernel description that the fake device loads: one pointer, one value.
[[nodiscard]] const KernelDesc& fake_kernel();

// World, provider and instance in the order in which they have to go. Checks at its end that
// everything is gone and that the engine kept the contract.
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

// The error that `call` throws; fails the test where it throws none.
[[nodiscard]] ErrorDetails error_of(const std::function<void()>& call);
[[nodiscard]] std::string text_of(const std::function<void()>& call);

// A graph of fills and copies: it reads `source` and writes `destination`; either may be empty.
[[nodiscard]] CapturedGraph make_graph(const Device& device, std::string_view label,
                                       const BufferView& source, const BufferView& destination,
                                       std::shared_ptr<CapturePool> pool = nullptr);

}  // namespace reprise::test

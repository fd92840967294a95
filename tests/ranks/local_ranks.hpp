// All ranks of a job in this process, each on a thread of its own. Threads: the test's.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <reprise/collectives.hpp>
#include <reprise/reprise.hpp>

#include "collectives/local_communicators.hpp"

namespace reprise::test {

inline constexpr std::uint64_t kCount = 100;

struct LocalRank {
  Device device;
  Communicator world;
  Queue queue;
  std::shared_ptr<CapturePool> pool;

  [[nodiscard]] std::uint32_t rank() const { return world.rank(); }
  [[nodiscard]] GpuRef<int> buffer(int first, std::uint64_t count = kCount) const {
    const auto made = pool->allocate<int>(count, "b" + std::to_string(first));
    std::vector<int> values(count);
    for (std::uint64_t i = 0; i < count; ++i) values[i] = first + static_cast<int>(i);
    run([&](CommandBuffer& cmd) { cmd.copy(snapshot(values), made); });
    return made;
  }
  [[nodiscard]] std::vector<int> values(const GpuRef<int>& of) const {
    std::vector<int> read(of.size());
    run([&](CommandBuffer& cmd) { cmd.copy(of, borrowed(read)); });
    return read;
  }
  [[nodiscard]] CommandBuffer record(const std::function<void(CommandBuffer&)>& commands,
                                     std::string_view label = "step") const {
    CommandBuffer cmd = device.create_command_buffer({.label = label});
    cmd.begin();
    commands(cmd);
    cmd.end();
    return cmd;
  }
  [[nodiscard]] CapturedGraph compile(const std::function<void(CommandBuffer&)>& commands,
                                      std::string_view label = "step") const {
    return device.compile(record(commands, label));
  }
  void run(const std::function<void(CommandBuffer&)>& commands) const {
    compile(commands).launch(queue).wait();
  }
};

// The error that a rank threw; empty text: none.
struct Failure {
  ErrorCode code = ErrorCode::Internal;
  std::string text;
};

// Runs `body` once for each of `count` ranks, on a thread each.
inline std::map<std::uint32_t, Failure> on_ranks(std::uint32_t count,
                                                 const std::function<void(LocalRank&)>& body,
                                                 const CommunicatorDesc& desc = {},
                                                 MessageHandler on_message = {}) {
  InstanceDesc instance_desc;
  instance_desc.on_message = std::move(on_message);
  const Instance instance(instance_desc);
  const Device device = instance.open_device(DeviceSelector::named("host"));
  std::vector<Communicator> worlds = detail::local_communicators(device, count, desc);
  std::map<std::uint32_t, Failure> failed;
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        LocalRank own{device, std::exchange(worlds[rank], {}), device.create_queue(),
                      device.create_pool()};
        body(own);
      } catch (const Error& error) {
        const std::lock_guard lock(mutex);
        failed[rank] = {error.code(), error.what()};
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return failed;
}

inline void check_all_succeed(std::uint32_t count, const std::function<void(LocalRank&)>& body) {
  for (const auto& [rank, failure] : on_ranks(count, body)) {
    INFO("rank ", rank, ": ", failure.text);
    CHECK(false);
  }
}

// doctest's assertions are not for several threads at once.
class Results {
 public:
  void add(bool is_right) {
    const std::lock_guard lock(mutex_);
    ++(is_right ? right_ : wrong_);
  }
  void check(int right) const {
    CHECK(wrong_ == 0);
    CHECK(right_ == right);
  }

 private:
  std::mutex mutex_;
  int right_ = 0, wrong_ = 0;
};

}  // namespace reprise::test

// FakeTunable: a fake device whose launches are over at once and take what a function of their plan
// says, and graphs on it that there is something to choose for. Threads: one at a time.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "unit/runtime/fake_backend.hpp"

namespace reprise::test {

struct FakeTunable {
  explicit FakeTunable(std::function<double(const detail::Plan&)> time_of) {
    fake.world.set_completion(Completion::AtOnce);
    fake.world.set_time_of(std::move(time_of));
    device = fake.open();
    queue = device.create_queue({.label = "q"});
    pool = device.create_pool();
  }

  // Fills of 40 buffers, none ordered with another.
  [[nodiscard]] CapturedGraph make_wide(const CompileDesc& desc = {}) const {
    CommandBuffer commands = device.create_command_buffer({.label = "wide"});
    commands.begin();
    for (int i = 0; i < 40; ++i) commands.fill(pool->allocate<int>(64, "x"), i);
    commands.end();
    return device.compile(commands, desc);
  }

  FakeInstance fake;
  Device device;
  Queue queue;
  std::shared_ptr<CapturePool> pool;
};

}  // namespace reprise::test

// FakeTunable: a fake device on which launches complete immediately and whose launch times a
// function of the plan determines, with graphs that have several lowerings. Threads: one at a time.
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

  // Independent fills of 40 buffers.
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

#include <thread>

#include "conformance/device_fixture.hpp"
#include "words.shaders.hpp"

namespace reprise::test::split_test {

TEST_CASE_FIXTURE(
    DeviceFixture,
    "split: recorders filled by threads give the bytes and the plan of one recorder") {
  constexpr unsigned kCount = 256, kThreads = 4, kSteps = 25;
  const Kernel mix = kernel(shaders::conf_mix);
  const auto x = buffer(std::vector<unsigned>(kCount, 3), "x");
  const auto y = buffer(std::vector<unsigned>(kCount, 4), "y");
  const auto record = [&](Recorder& to, unsigned part) {
    auto scope = to.label("part");
    for (unsigned step = 0; step < kSteps; ++step) {
      const bool odd = (step + part) % 2 != 0;
      to.dispatch(mix, {.grid = 1, .block = kCount}, read(odd ? x : y), read_write(odd ? y : x),
                  part * 100 + step, kCount);
    }
  };

  CommandBuffer parallel = recording({.label = "mix"});
  std::vector<Recorder> recorders = parallel.split(kThreads);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < kThreads; ++t) threads.emplace_back([&, t] { record(recorders[t], t); });
  for (std::thread& thread : threads) thread.join();
  CommandBuffer serial = recording({.label = "mix"});
  for (unsigned t = 0; t < kThreads; ++t) record(serial, t);

  CapturedGraph graph = compile(parallel);
  CHECK(graph.report().plan_hash == compile(serial).report().plan_hash);
  graph.launch(queue).wait();
  unsigned a = 3, b = 4;
  for (unsigned part = 0; part < kThreads; ++part) {
    for (unsigned step = 0; step < kSteps; ++step) {
      unsigned& to = (step + part) % 2 != 0 ? b : a;
      const unsigned from = (step + part) % 2 != 0 ? a : b;
      to = to * 1664525u + (from ^ (part * 100 + step)) + 1013904223u;
    }
  }
  CHECK(values(x) == std::vector<unsigned>(kCount, a));
  CHECK(values(y) == std::vector<unsigned>(kCount, b));
}

TEST_CASE_FIXTURE(
    DeviceFixture,
    "split: several threads record, compile and launch command buffers of their own") {
  constexpr unsigned kThreads = 4;
  std::vector<unsigned> found(kThreads);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const auto h = pool->host<unsigned>(64, "h");
      const auto d = pool->transient<unsigned>(64, "d");
      CommandBuffer cmd = device.create_command_buffer();
      cmd.begin();
      cmd.fill(d, t + 10);
      cmd.copy(d, h);
      cmd.end();
      CapturedGraph graph = device.compile(cmd, {.pool = pool});
      graph.launch(device.create_queue()).wait();
      found[t] = h[63];
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(found == std::vector<unsigned>{10, 11, 12, 13});
}

}  // namespace reprise::test::split_test

#include <chrono>
#include <future>
#include <utility>

#include "conformance/device_fixture.hpp"

namespace reprise::test::fence_test {

using namespace std::chrono_literals;

namespace {

// A graph whose replay blocks until open() is called or the gate is destroyed.
class Gate {
 public:
  explicit Gate(const DeviceFixture& f) : graph_(make(f)) {}
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  ~Gate() { open(); }
  void open() {
    if (!std::exchange(opened_, true)) go_.set_value();
  }
  Fence launch(const Queue& queue) { return graph_.launch(queue); }

 private:
  CapturedGraph make(const DeviceFixture& f) {
    CommandBuffer cmd = f.recording();
    cmd.host([released = go_.get_future().share()] { released.wait(); });
    return f.compile(cmd);
  }
  std::promise<void> go_;
  bool opened_ = false;
  CapturedGraph graph_;
};

}  // namespace

TEST_CASE_FIXTURE(DeviceFixture,
                  "fence: default-constructed fences and fences of idle queues are done") {
  const Fence fence;
  CHECK(fence.done());
  fence.wait();
  CHECK(fence.wait_for(0ns));
  CHECK(queue.last_fence().done());
  queue.wait_idle();
  device.wait_idle();
}

TEST_CASE_FIXTURE(DeviceFixture, "fence: it is done once its replay is complete, and stays done") {
  Gate gate(*this);
  const Fence fence = gate.launch(queue);
  CHECK(fence.serial() == 1);
  CHECK(fence.replay() == 1);
  CHECK(fence.queue() == queue);
  CHECK_FALSE(fence.done());
  CHECK_FALSE(fence.wait_for(1ms));
  CHECK_FALSE(fence.wait_for(0ns));
  gate.open();
  fence.wait();
  CHECK(fence.done());
  CHECK(fence.wait_for(0ns));
  CHECK(fence.wait_for(1h));
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "fence: when a fence is done, so are all earlier fences of its queue") {
  CommandBuffer cmd = recording();
  cmd.host([] {});
  CapturedGraph graph = compile(cmd);
  std::vector<Fence> fences;
  for (int i = 0; i < 50; ++i) fences.push_back(graph.launch(queue));
  fences.back().wait();
  for (std::size_t i = 0; i < fences.size(); ++i) {
    CHECK(fences[i].done());
    CHECK(fences[i].serial() == i + 1);
  }
  CHECK(queue.last_fence().serial() == 50);
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "fence: launches after a blocked launch wait, and destroying a fence does not") {
  int ran = 0;
  CommandBuffer cmd = recording();
  cmd.host([&ran] { ++ran; });
  CapturedGraph graph = compile(cmd);
  // Uploads before a replay blocks: a first launch may synchronise with the whole device.
  graph.upload(queue);
  Gate gate(*this);
  static_cast<void>(gate.launch(queue));
  static_cast<void>(graph.launch(queue));
  const Fence last = graph.launch(queue);
  CHECK_FALSE(last.done());
  gate.open();
  last.wait();
  CHECK(ran == 2);
}

TEST_CASE_FIXTURE(DeviceFixture, "fence: it outlives its graph, its pool and its queue") {
  Fence fence;
  {
    Queue other = device.create_queue({.label = "short-lived"});
    const auto x = device.create_pool()->allocate<unsigned>(1000, "x");
    CommandBuffer cmd = recording();
    cmd.fill(x, 1u);
    cmd.end();
    fence = device.compile(cmd).launch(other);
  }
  fence.wait();
  CHECK(fence.done());
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "queue: wait orders its later launches after a fence of another queue") {
  std::string order;
  CommandBuffer cmd = recording();
  cmd.host([&order] { order += 'b'; });
  CapturedGraph graph = compile(cmd);
  Queue other = device.create_queue();
  graph.upload(other);
  Gate gate(*this);
  const Fence first = gate.launch(queue);
  other.wait(first);
  const Fence second = graph.launch(other);
  CHECK_FALSE(second.done());
  gate.open();
  second.wait();
  CHECK(first.done());
  CHECK(order == "b");
  other.wait(Fence());  // an empty fence is done
}

TEST_CASE_FIXTURE(DeviceFixture, "queue: two queues without a wait are independent") {
  const auto x = pool->allocate<unsigned>(64, "x");
  CommandBuffer cmd = recording();
  cmd.fill(x, 1u);
  CapturedGraph graph = compile(cmd);
  const Queue other = device.create_queue();
  graph.upload(other);
  Gate gate(*this);
  const Fence first = gate.launch(queue);
  graph.launch(other).wait();
  CHECK_FALSE(first.done());
}

}  // namespace reprise::test::fence_test

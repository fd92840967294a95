// Handles that hold no object: every type reports NotInitialized, and noexcept members return
// empty values.
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include <reprise/graph_actor.hpp>

#include "conformance/device_fixture.hpp"

namespace reprise::test::empty_handle_test {
namespace {

void check_empty(const char* call, const std::function<void()>& use) {
  CAPTURE(call);
  check_refused(ErrorCode::NotInitialized, {"empty"}, use);
}

#define CHECK_EMPTY(...) check_empty(#__VA_ARGS__, [&] { static_cast<void>(__VA_ARGS__); })

}  // namespace

TEST_CASE_FIXTURE(DeviceFixture, "empty handle: every call on an empty Device is NotInitialized") {
  Device none;
  CommandBuffer commands = recording();
  commands.end();
  CHECK_FALSE(static_cast<bool>(none));
  CHECK_EMPTY(none.info());
  CHECK_EMPTY(none.create_queue());
  CHECK_EMPTY(none.create_pool());
  CHECK_EMPTY(none.load_kernel({}));
  CHECK_EMPTY(none.create_command_buffer());
  CHECK_EMPTY(none.create_condition());
  CHECK_EMPTY(none.compile(commands));
  CHECK_EMPTY(none.compile_cache());
  CHECK_EMPTY(none.set_compile_cache_budget(0));
  CHECK_EMPTY(none.statistics());
  CHECK_EMPTY(none.set_memory_budget(1));
  CHECK_EMPTY(none.trim());
  CHECK_EMPTY(none.wait_idle());
  CHECK_EMPTY(none.generation());
  CHECK_EMPTY(none.is_lost());
  CHECK_EMPTY(none.state());
  CHECK_EMPTY(none.shut_down());
  CHECK_EMPTY(none.simulate_loss());
  CHECK_EMPTY(none.rebuild());
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "empty handle: every call on a moved-from Instance is NotInitialized") {
  Instance source({.application = "moved"});
  const Instance target = std::move(source);
  Instance& none = source;  // NOLINT(bugprone-use-after-move)
  CHECK(target.application() == "moved");
  CHECK(none.application().empty());
  CHECK_EMPTY(none.devices());
  CHECK_EMPTY(none.gpu_unavailable_reason());
  CHECK_EMPTY(none.open_device());
  CHECK_EMPTY(none.set_profile(ProfileMode::Off));
  CHECK_EMPTY(none.flush_trace());
  CHECK_EMPTY(none.trace_range("range"));
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "empty handle: a Queue is NotInitialized, and an empty Fence done") {
  Queue none;
  CHECK(none.label().empty());
  CHECK_EMPTY(none.last_fence());
  CHECK_EMPTY(none.wait(Fence()));
  CHECK_EMPTY(none.wait_idle());
  CHECK(Fence().done());
  CHECK_FALSE(static_cast<bool>(Fence().queue()));
}

TEST_CASE_FIXTURE(DeviceFixture, "empty handle: every call on an empty buffer is NotInitialized") {
  BufferView none;
  CHECK(none.name().empty());
  CHECK(none.id() == BufferId());
  CHECK(none.replicas() == 0);
  CHECK_FALSE(none.is_stale());
  CHECK_FALSE(none.overlaps(none));
  CHECK_EMPTY(none.kind());
  CHECK_EMPTY(none.data());
  CHECK_EMPTY(none.raw_device_ptr());
  CHECK_EMPTY(none.validate());
  CHECK_EMPTY(none.subview(0, 0));
  CHECK_EMPTY(none.replica(0));
  CHECK_EMPTY(none.record_write(queue));
  CHECK_EMPTY(none.record_write(Fence()));
  CHECK_EMPTY(none.last_write_stream());
  CHECK_EMPTY(GpuRef<int>().data());
  CHECK_EMPTY(GpuRef<int>().access());
  CHECK_EMPTY(GpuRef<int>().slice(0, 0));
  CHECK_EMPTY(HostRef<int>().span());
  CHECK_EMPTY(buffer(std::vector<unsigned>(4), "x").record_write(Queue()));
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "empty handle: recording refuses empty kernels, buffers, conditions") {
  CommandBuffer commands = recording();
  const GpuRef<unsigned> x = buffer(std::vector<unsigned>(4), "x"), none;
  CommandBuffer body = recording({.label = "body", .level = Level::Secondary});
  body.end();
  CHECK_EMPTY(commands.dispatch(Kernel(), {.grid = 1, .block = 1}));
  CHECK_EMPTY(commands.copy(none, x));
  CHECK_EMPTY(commands.copy(x, none));
  CHECK_EMPTY(commands.fill(none, 1u));
  CHECK_EMPTY(commands.update(none, std::vector<std::byte>(4)));
  CHECK_EMPTY(commands.host([] {}, {read(none)}));
  CHECK_EMPTY(commands.execute_if(Condition(), body));
  CHECK(commands.command_count() == 0);
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "empty handle: every call on a moved-from CommandBuffer is NotInitialized") {
  CommandBuffer source = recording();
  const GpuRef<unsigned> x = buffer(std::vector<unsigned>(4), "x");
  const CommandBuffer target = std::move(source);
  CommandBuffer& none = source;  // NOLINT(bugprone-use-after-move)
  CHECK(none.state() == CommandBufferState::Invalid);
  CHECK(none.label().empty());
  CHECK(none.command_count() == 0);
  CHECK_EMPTY(none.begin());
  CHECK_EMPTY(none.end());
  CHECK_EMPTY(none.reset());
  CHECK_EMPTY(none.split(1));
  CHECK_EMPTY(none.fill(x, 1u));
  CHECK_EMPTY(none.barrier());
  CHECK_EMPTY(none.label("label"));
  CHECK_EMPTY(device.compile(none));
  CHECK_EMPTY(find_races(none));
  CommandBuffer outer = recording();
  CHECK_EMPTY(outer.execute(none));
}

TEST_CASE_FIXTURE(DeviceFixture, "empty handle: every call on an empty graph is NotInitialized") {
  CapturedGraph none;
  CommandBuffer commands = recording();
  const CommandRef fill = commands.fill(buffer(std::vector<unsigned>(4), "x"), 1u);
  commands.end();
  CHECK(none.num_replays() == 0);
  CHECK(none.replicas() == 0);
  CHECK(none.node_count() == 0);
  CHECK(none.label().empty());
  CHECK(none.pool() == nullptr);
  CHECK_FALSE(none.is_uploaded());
  CHECK_EMPTY(none.launch(queue));
  CHECK_EMPTY(none.upload(queue));
  CHECK_EMPTY(none.set_profile(ProfileMode::Off));
  CHECK_EMPTY(none.scalar<int>("slot"));
  CHECK_EMPTY(none.rebind(BufferView(), BufferView()));
  CHECK_EMPTY(none.disable(fill));
  CHECK_EMPTY(none.enable(fill));
  CHECK_EMPTY(none.is_enabled(fill));
  CHECK_EMPTY(none.update(commands));
  CHECK_EMPTY(none.exec_update(commands));
  CHECK_EMPTY(none.tune(queue));
  CHECK_EMPTY(none.save_tuning("tuning.json"));
  CHECK_EMPTY(none.loops());
  CHECK_EMPTY(none.to_dot());
  CHECK_EMPTY(none.export_dot("graph.dot"));
  CHECK_EMPTY(none.to_text());
  CHECK_EMPTY(GraphHandle::from_graph(CapturedGraph()));
  CapturedGraph graph = device.compile(commands);
  CHECK_EMPTY(graph.launch(Queue()));
  CHECK_EMPTY(graph.upload(Queue()));
  CHECK_EMPTY(graph.tune(Queue()));
}

TEST_CASE_FIXTURE(DeviceFixture, "empty handle: scalars, captures and actors are NotInitialized") {
  GraphScalar<int> slot;
  CHECK_FALSE(static_cast<bool>(slot));
  CHECK_EMPTY(slot.set(1));
  DeviceScalar<int> scalar;
  CHECK_EMPTY(scalar.set(1));
  DeviceScalar<int> real(*pool, queue, 1);
  CHECK_EMPTY(real.set(Queue(), 1));
  CHECK_EMPTY(StreamCapture::begin(Queue()));
  CHECK_EMPTY(GraphActor(Device(), queue));
  CHECK_EMPTY(GraphActor(device, Queue()));
  GraphActor actor(device, queue);
  CHECK_EMPTY(actor.launch(GraphHandle()).get());
}

}  // namespace reprise::test::empty_handle_test

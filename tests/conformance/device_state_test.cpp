// The result of every call in each state of its device, with objects made before: one table. The
// rows are calls, the columns states.
#include <chrono>
#include <constants.shaders.hpp>
#include <future>
#include <optional>

#include <reprise/graph_actor.hpp>

#include "conformance/device_fixture.hpp"
#include "words.shaders.hpp"

namespace reprise::test::device_state_test {
namespace {

using namespace std::chrono_literals;

enum class State : std::uint8_t { Working, InCallback, Lost, Rebuilt, ShutDown };

// Objects of each type, and then the device in a state. InCallback: as Working.
struct World : DeviceFixture {
  std::shared_ptr<CapturePool> spare = device.create_pool({.label = "spare"});
  GpuRef<unsigned> x = pool->allocate<unsigned>(64, "x"), y = pool->allocate<unsigned>(64, "y"),
                   z = pool->allocate<unsigned>(64, "z");
  HostRef<unsigned> pinned = pool->host<unsigned>(64, "pinned");
  Kernel set = kernel(shaders::conf_set);
  Condition condition = device.create_condition({.name = "condition"});
  CommandBuffer commands = recording({.label = "step"}), open = recording(),
                unused = device.create_command_buffer(),
                secondary = recording({.label = "part", .level = Level::Secondary});
  CommandRef fill;
  CapturedGraph graph;
  GraphScalar<unsigned> slot;
  DeviceScalar<unsigned> scalar{*pool, queue, 1u, "scalar"};
  Fence completed, interrupted;  // the loss interrupts the second one
  StreamCapture capture =
      StreamCapture::begin(device.create_queue({.label = "captured"}), CaptureMode::Relaxed);
  GraphActor actor{device, queue};
  GraphHandle handle;
  unsigned* const address = x.data();  // also after a loss
  const bool in_callback;

  explicit World(State state) : in_callback(state == State::InCallback) {
    secondary.fill(x, 3u);
    secondary.end();
    fill = commands.fill(y, 1u);
    commands.dispatch(set, {.grid = 1, .block = 64}, write(x), reprise::slot("value", 2u), 64u);
    graph = compile(commands);
    slot = graph.scalar<unsigned>("value");
    completed = graph.launch(queue);
    completed.wait();
    handle = GraphHandle::from_graph(device.compile(commands));

    std::promise<void> go;
    CommandBuffer wait = recording({.label = "wait"});
    wait.host([released = go.get_future().share()] { released.wait(); });
    CapturedGraph waiting = compile(wait);
    interrupted = waiting.launch(queue);
    const bool loses = state == State::Lost || state == State::Rebuilt;
    if (loses) device.simulate_loss();
    go.set_value();
    if (!loses) interrupted.wait();
    if (state == State::Rebuilt) static_cast<void>(device.rebuild());
    if (state == State::ShutDown) device.shut_down();
  }
};

using Expected = std::optional<ErrorCode>;  // empty: the call works
constexpr Expected works, invalid = ErrorCode::InvalidState, stale = ErrorCode::StaleHandle,
                          lost = ErrorCode::DeviceLost;

struct Row {
  std::string_view call;  // its name up to the first space
  Expected working, in_callback, lost, rebuilt, shut_down;
  void (*run)(World&);

  [[nodiscard]] Expected in(State state) const {
    switch (state) {
      case State::Working: return working;
      case State::InCallback: return in_callback;
      case State::Lost: return lost;
      case State::Rebuilt: return rebuilt;
      case State::ShutDown: return shut_down;
    }
    return {};
  }
};

// A row whose call only reads what the handle itself knows.
constexpr Row reads(std::string_view call, void (*run)(World&)) {
  return {call, works, works, works, works, works, run};
}
// A row whose call creates an object of the device by CUDA calls, or of the device's memory.
constexpr Row creates(std::string_view call, void (*run)(World&)) {
  return {call, works, invalid, lost, works, stale, run};
}
// A row whose call uses an object of the device by CUDA calls.
constexpr Row uses(std::string_view call, void (*run)(World&)) {
  return {call, works, invalid, stale, stale, stale, run};
}
// A row whose call uses an object of the device without CUDA.
constexpr Row names(std::string_view call, void (*run)(World&)) {
  return {call, works, works, stale, stale, stale, run};
}

template <class T>
void drop(T&& result) {
  static_cast<void>(result);
}

constexpr DispatchDesc kOneBlock{.grid = 1, .block = 64};

// clang-format off
//                                               working  callback lost   rebuilt  shut down
const Row kRows[] = {
    reads("Instance::devices", [](World& w) { drop(w.instance.devices()); }),
    {"Instance::open_device",                    works, invalid, works, works, works,
     [](World& w) { drop(w.instance.open_device(selector_of_this_run())); }},
    {"Instance::flush_trace",                    works, invalid, works, works, works,
     [](World& w) { w.instance.flush_trace(); }},
    reads("Instance::set_profile", [](World& w) { w.instance.set_profile(ProfileMode::Replays); }),
    reads("Instance::trace_range", [](World& w) { drop(w.instance.trace_range("range")); }),

    reads("Device::info", [](World& w) { drop(w.device.info()); }),
    reads("Device::generation", [](World& w) { drop(w.device.generation()); }),
    reads("Device::is_lost", [](World& w) { drop(w.device.is_lost()); }),
    reads("Device::state", [](World& w) { drop(w.device.state()); }),
    reads("Device::statistics", [](World& w) { drop(w.device.statistics()); }),
    reads("Device::set_memory_budget", [](World& w) { w.device.set_memory_budget({}); }),
    reads("Device::compile_cache", [](World& w) { drop(w.device.compile_cache()); }),
    reads("Device::set_compile_cache_budget",
          [](World& w) { w.device.set_compile_cache_budget(1 << 20); }),
    creates("Device::create_queue", [](World& w) { drop(w.device.create_queue()); }),
    {"Device::create_pool",                      works, works, lost, works, stale,
     [](World& w) { drop(w.device.create_pool()); }},
    {"Device::create_command_buffer",            works, works, lost, works, stale,
     [](World& w) { drop(w.device.create_command_buffer()); }},
    {"Device::create_condition",                 works, works, lost, works, stale,
     [](World& w) { drop(w.device.create_condition()); }},
    creates("Device::load_kernel",
            [](World& w) { drop(w.device.load_kernel(shaders::conf_set)); }),
    creates("Device::constant", [](World& w) { drop(w.device.constant<int>(shaders::table)); }),
    creates("Device::compile", [](World& w) { drop(w.device.compile(w.commands)); }),
    creates("Device::trim", [](World& w) { drop(w.device.trim()); }),
    creates("Device::wait_idle", [](World& w) { w.device.wait_idle(); }),
    {"Device::shut_down",                        works, invalid, works, works, works,
     [](World& w) { w.device.shut_down(); }},
    {"Device::rebuild",                          invalid, invalid, works, invalid, invalid,
     [](World& w) { drop(w.device.rebuild()); }},

    reads("Queue::label", [](World& w) { drop(w.queue.label()); }),
    reads("Queue::last_fence", [](World& w) { drop(w.queue.last_fence()); }),
    uses("Queue::wait", [](World& w) { w.queue.wait(w.interrupted); }),
    {"Queue::wait_idle",                         works, invalid, lost, stale, stale,
     [](World& w) { w.queue.wait_idle(); }},

    {"Fence::wait of a completed launch",        works, invalid, works, works, works,
     [](World& w) { w.completed.wait(); }},
    {"Fence::wait_for of a completed launch",    works, invalid, works, works, works,
     [](World& w) { drop(w.completed.wait_for(1ms)); }},
    {"Fence::done of a completed launch",        works, invalid, works, works, works,
     [](World& w) { drop(w.completed.done()); }},
    {"Fence::wait of an interrupted launch",     works, invalid, lost, lost, works,
     [](World& w) { w.interrupted.wait(); }},
    {"Fence::wait_for of an interrupted launch", works, invalid, lost, lost, works,
     [](World& w) { drop(w.interrupted.wait_for(1ms)); }},
    {"Fence::done of an interrupted launch",     works, invalid, lost, lost, works,
     [](World& w) { drop(w.interrupted.done()); }},

    uses("CapturedGraph::launch", [](World& w) { drop(w.graph.launch(w.queue)); }),
    uses("CapturedGraph::upload", [](World& w) { w.graph.upload(w.queue); }),
    uses("CapturedGraph::rebind", [](World& w) { drop(w.graph.rebind(w.y, w.z)); }),
    uses("CapturedGraph::disable", [](World& w) { w.graph.disable(w.fill); }),
    uses("CapturedGraph::enable", [](World& w) { w.graph.enable(w.fill); }),
    names("CapturedGraph::is_enabled", [](World& w) { drop(w.graph.is_enabled(w.fill)); }),
    uses("CapturedGraph::update", [](World& w) { drop(w.graph.update(w.commands)); }),
    uses("CapturedGraph::update by exec_update",
         [](World& w) { drop(w.graph.exec_update(w.commands)); }),
    uses("CapturedGraph::tune",
         [](World& w) { drop(w.graph.tune(w.queue, {.pairs = 9, .budget = 1ms})); }),
    uses("CapturedGraph::loops", [](World& w) { drop(w.graph.loops()); }),
    reads("CapturedGraph::scalar", [](World& w) { drop(w.graph.scalar<unsigned>("value")); }),
    reads("CapturedGraph::set_profile", [](World& w) { w.graph.set_profile(ProfileMode::Off); }),
    reads("CapturedGraph::report", [](World& w) { drop(w.graph.report()); }),
    reads("CapturedGraph::to_dot", [](World& w) { drop(w.graph.to_dot()); }),
    reads("CapturedGraph::to_text", [](World& w) { drop(w.graph.to_text()); }),
    uses("GraphScalar::set", [](World& w) { w.slot.set(5); }),
    {"find_races",                               works, invalid, stale, works, stale,
     [](World& w) { drop(find_races(w.commands, 1)); }},

    creates("CapturePool::allocate", [](World& w) { drop(w.pool->allocate<int>(1)); }),
    creates("CapturePool::allocate of pinned memory",
            [](World& w) { drop(w.pool->host<int>(1)); }),
    creates("CapturePool::allocate of a transient",
            [](World& w) { drop(w.pool->transient<int>(1)); }),
    creates("CapturePool::trim", [](World& w) { drop(w.pool->trim()); }),
    {"CapturePool::clear",                       works, invalid, works, works, works,
     [](World& w) { w.spare->clear(); }},
    reads("CapturePool::statistics", [](World& w) { drop(w.pool->statistics()); }),
    reads("CapturePool::live_graphs", [](World& w) { drop(w.pool->live_graphs()); }),

    names("BufferView::data", [](World& w) { drop(w.x.data()); }),
    names("BufferView::data of pinned memory", [](World& w) { drop(w.pinned.span()); }),
    names("BufferView::validate", [](World& w) { drop(w.x.validate()); }),
    names("BufferView::last_write_stream", [](World& w) { drop(w.x.last_write_stream()); }),
    uses("BufferView::record_write by a fence", [](World& w) { w.x.record_write(w.completed); }),
    uses("BufferView::record_write by a queue", [](World& w) { w.x.record_write(w.queue); }),
    uses("BufferView::record_write by nothing", [](World& w) { w.x.record_write(Fence()); }),
    reads("BufferView::subview", [](World& w) { drop(w.x.subview(0, 4)); }),
    reads("BufferView::replica", [](World& w) { drop(w.x.replica(0)); }),
    uses("DeviceScalar::set", [](World& w) { w.scalar.set(3u); }),
    {"CapturePool::allocate of a scalar",        works, invalid, lost, stale, stale,
     [](World& w) { drop(DeviceScalar<unsigned>(*w.pool, w.queue, 1u)); }},

    reads("CommandBuffer::begin", [](World& w) { w.unused.begin(); }),
    reads("CommandBuffer::end", [](World& w) { w.open.end(); }),
    reads("CommandBuffer::reset", [](World& w) { w.open.reset(); }),
    reads("CommandBuffer::split", [](World& w) { drop(w.open.split(2)); }),
    reads("CommandBuffer::state", [](World& w) { drop(w.commands.state()); }),
    reads("Recorder::barrier", [](World& w) { w.open.barrier(); }),
    reads("Recorder::label", [](World& w) { drop(w.open.label("label")); }),
    reads("Recorder::host", [](World& w) { w.open.host([] {}); }),
    names("Recorder::host with an access", [](World& w) { w.open.host([] {}, {read(w.pinned)}); }),
    names("Recorder::barrier of a buffer",
          [](World& w) { w.open.barrier({.buffer = w.x}); }),
    names("Recorder::dispatch",
          [](World& w) { w.open.dispatch(w.set, kOneBlock, write(w.x), 1u, 64u); }),
    names("Recorder::copy", [](World& w) { w.open.copy(w.x, w.y); }),
    names("Recorder::fill", [](World& w) { w.open.fill(w.x, 1u); }),
    names("Recorder::update", [](World& w) { w.open.update(w.x, std::vector<std::byte>(4)); }),
    {"Recorder::execute",                        works, works, stale, works, stale,
     [](World& w) { w.open.execute(w.secondary); }},
    {"Recorder::execute_if",                     works, works, stale, works, stale,
     [](World& w) { w.open.execute_if(w.condition, w.secondary); }},

    names("StreamCapture::begin", [](World& w) { drop(StreamCapture::begin(w.queue)); }),
    names("StreamCapture::record_kernel",
          [](World& w) { w.capture.record_kernel(w.set, kOneBlock, w.x, 1u, 64u); }),
    names("StreamCapture::record_memcpy",
          [](World& w) {
            unsigned word = 0;
            w.capture.record_memcpy(MemcpyDirection::HostToDevice, w.address, &word, 4);
          }),
    names("StreamCapture::record_memset", [](World& w) { w.capture.record_memset(w.address, 0, 4); }),
    uses("StreamCapture::end", [](World& w) { drop(w.capture.end()); }),
    reads("StreamCapture::recorded_count", [](World& w) { drop(w.capture.recorded_count()); }),

    reads("GraphActor::GraphActor", [](World& w) { GraphActor another(w.device, w.queue); }),
    {"GraphActor::record",                       works, works, lost, works, stale,
     [](World& w) {
       auto reply = w.actor.record({});
       if (!w.in_callback) drop(reply.get());
     }},
    names("GraphActor::launch",
          [](World& w) {
            auto reply = w.actor.launch(w.handle);
            if (!w.in_callback) drop(reply.get());
          }),
    {"GraphActor::shutdown",                     works, invalid, works, works, works,
     [](World& w) { w.actor.shutdown(); }},
};
// clang-format on

// Calls in the current state. Adds the text of an Error to `text`.
Expected result_of(const Row& row, World& world, std::string& text) {
  try {
    row.run(world);
    return works;
  } catch (const Error& error) {
    text = error.what();
    return error.code();
  }
}

std::string name_of(Expected expected) {
  return expected ? std::string(to_string(*expected)) : "works";
}

void check_column(State state) {
  for (const Row& row : kRows) {
    World world(state);
    std::string text;
    const Expected found = result_of(row, world, text);
    INFO("call: ", std::string(row.call), ", text: ", text);
    CHECK(name_of(found) == name_of(row.in(state)));
  }
}

}  // namespace

TEST_CASE("device state: every call works on a working device") { check_column(State::Working); }

TEST_CASE_FIXTURE(
    DeviceFixture,
    "device state: on a lost device, old handles are stale and nothing can be created") {
  if (is_host()) check_column(State::Lost);
}

TEST_CASE_FIXTURE(DeviceFixture, "device state: on a rebuilt device, old handles are stale") {
  if (is_host()) check_column(State::Rebuilt);
}

TEST_CASE("device state: after shut_down, handles are stale and nothing can be created") {
  check_column(State::ShutDown);
}

TEST_CASE("device state: in a host callback, calls that use the device change nothing") {
  for (const Row& row : kRows) {
    World world(State::InCallback);
    std::string text;
    Expected found;
    CommandBuffer caller = world.recording({.label = "caller"});
    caller.host([&] { found = result_of(row, world, text); });
    CapturedGraph graph = world.compile(caller);
    graph.launch(world.queue).wait();
    INFO("call: ", std::string(row.call), ", text: ", text);
    CHECK(name_of(found) == name_of(row.in_callback));
    if (found) {
      CHECK(text.find(row.call.substr(0, row.call.find(' '))) == 0);
      CHECK(text.find("in a host callback") != std::string::npos);
    }
    CHECK(world.device.state().accepts_work());
    world.graph.launch(world.queue).wait();
    CHECK(world.values(world.x) == std::vector<unsigned>(64, 2));
    CHECK(world.values(world.y) == std::vector<unsigned>(64, 1));
  }
}

TEST_CASE_FIXTURE(DeviceFixture, "device state: simulate_loss after shut_down is refused") {
  device.shut_down();
  check_refused(ErrorCode::StaleHandle, {"shut down"}, [&] { device.simulate_loss(); });
  CHECK(device.generation() == 1);
}

}  // namespace reprise::test::device_state_test

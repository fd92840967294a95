// Boundary timestamps of graphs without entry and exit kernels, or with one of them: disabled and
// enabled between launches, and around graphs of the application.
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include <gpu_kernels.shaders.hpp>
#include <reprise/cuda_interop.hpp>

#include "backend/backend.hpp"
#include "base/handle_access.hpp"
#include "cuda/gpu.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/graph/compiled_graph.hpp"
#include "runtime/queue/queue_core.hpp"
#include "unit/profile/traced_run.hpp"

namespace reprise::test {
namespace {

// The replays that were reported without and with node times.
class Numbers final : public detail::ReplayObserver {
 public:
  explicit Numbers(std::size_t nodes) : storage_(nodes) {}
  [[nodiscard]] detail::NodeTime* begin_replay(std::uint64_t) noexcept override {
    return storage_.data();
  }
  void end_replay(std::uint64_t replay, std::int64_t started, std::int64_t ended,
                  detail::NodeTime* nodes) noexcept override {
    CHECK(ended > started);
    (nodes == nullptr ? plain : timed).push_back(replay);
  }
  std::vector<std::uint64_t> plain, timed;

 private:
  std::vector<detail::NodeTime> storage_;
};

// Independent counters: one has no boundary kernel, 3 to 7 have an entry kernel, 8 both. With
// AfterFirst, 8 and more have an exit kernel.
struct CountersDesc {
  std::uint32_t width = 1;
  enum class Order : std::uint8_t { Beside, AfterFirst } order = Order::Beside;
};

void record_ordered_counters(CommandBuffer& commands, const Kernel& kernel,
                             const GpuRef<unsigned long long>& values, const CountersDesc& desc) {
  CommandRef first;
  for (std::uint32_t i = 0; i < desc.width; ++i) {
    const CommandRef made =
        commands.dispatch(kernel, {.grid = 1, .block = 1}, read_write(values.slice(i, 1)));
    if (i == 0) first = made;
    if (i != 0 && desc.order == CountersDesc::Order::AfterFirst) commands.edge(first, made);
  }
}

constexpr CountersDesc kBeginAlone = {.width = 3},
                       kEndAlone = {.width = 12, .order = CountersDesc::Order::AfterFirst};

// A graph of counters, and a second executable of it that is timed.
struct Counters : Gpu {
  explicit Counters(std::uint32_t width) : Counters(CountersDesc{.width = width}) {}
  explicit Counters(const CountersDesc& desc) : Counters(desc, desc.width) {}
  Counters(const CountersDesc& desc, std::uint32_t width)
      : values(pool->allocate<unsigned long long>(width, "values")) {
    const Kernel kernel = device.load_kernel(shaders::gpu_count);
    const std::vector<unsigned long long> zeros(width);
    run([&](CommandBuffer& cmd) { cmd.update(values, std::as_bytes(std::span(zeros))); });
    graph =
        compile([&](CommandBuffer& cmd) { record_ordered_counters(cmd, kernel, values, desc); });
    const std::shared_ptr<const detail::Plan> plan(detail::core_of(graph),
                                                   &detail::core_of(graph)->plan());
    detail::Bindings bindings;
    for (const auto& buffer : plan->recording->buffers) bindings.address.push_back(buffer->address);
    exec = detail::core_of(device)->backend().instantiate(plan, bindings,
                                                          detail::Instrumentation::Timestamps);
    source = exec->replay_source();
    REQUIRE(source);
  }
  ~Counters() { queue.wait_idle(); }
  void launch(std::uint64_t times) {
    for (std::uint64_t i = 0; i < times; ++i)
      static_cast<void>(exec->launch(detail::core_of(queue)->backend()));
    launched += times;
  }
  [[nodiscard]] Numbers collect() const {
    detail::core_of(queue)->backend().mark();
    queue.wait_idle();
    Numbers numbers(detail::core_of(graph)->plan().lowered.nodes.size());
    lost = source->collect(numbers);
    return numbers;
  }

  GpuRef<unsigned long long> values;
  CapturedGraph graph;
  std::unique_ptr<detail::BackendExec> exec;
  std::shared_ptr<detail::ReplaySource> source;
  std::uint64_t launched = 0;
  mutable detail::ReplaySource::Lost lost;
};

std::vector<std::uint64_t> from_to(std::uint64_t first, std::uint64_t last) {
  std::vector<std::uint64_t> numbers;
  for (; first <= last; ++first) numbers.push_back(first);
  return numbers;
}

}  // namespace

TEST_CASE(
    "cuda boundary timestamps: replays have no times while timestamps are disabled and have times "
    "again afterwards") {
  if (!have_gpu()) return;
  Counters c(1);
  c.launch(10);
  c.source->pause();
  c.launch(7);
  CHECK(c.collect().plain == from_to(1, 10));
  c.source->resume();
  c.launch(5);
  c.source->pause();
  c.launch(100);
  c.source->resume();
  c.launch(1);
  std::vector<std::uint64_t> expected = from_to(18, 22);
  expected.push_back(123);
  CHECK(c.collect().plain == expected);
  CHECK(c.lost.replays == 0);
  CHECK(c.read(c.values)[0] == c.launched);
}

TEST_CASE(
    "cuda boundary timestamps: a profiling clone requested while timestamps are disabled reports "
    "its replays with correct numbers") {
  if (!have_gpu()) return;
  Counters c(1);
  c.launch(3);
  c.source->pause();
  c.launch(4);
  c.source->time_nodes(2, detail::ReplaySource::Precision::Close);
  c.launch(6);
  const Numbers numbers = c.collect();
  CHECK(numbers.plain == from_to(1, 3));
  CHECK(numbers.timed == from_to(8, 9));
  CHECK_FALSE(c.source->is_timing_nodes());
  CHECK(c.read(c.values)[0] == c.launched);
}

TEST_CASE(
    "cuda boundary timestamps: timestamps of entry and exit kernels are free and stay enabled") {
  if (!have_gpu()) return;
  Counters c(8);
  REQUIRE(detail::core_of(c.graph)->plan().lowered.entry_exit ==
          detail::EntryExit{.entry = true, .exit = true});
  c.source->pause();
  c.launch(9);
  CHECK(c.collect().plain == from_to(1, 9));
}

TEST_CASE(
    "cuda boundary timestamps: a lone entry or exit kernel reports nothing while the other "
    "timestamp is disabled") {
  if (!have_gpu()) return;
  for (const CountersDesc& desc : {kBeginAlone, kEndAlone}) {
    CAPTURE(desc.width);
    Counters c(desc);
    const bool has_end = desc.order == CountersDesc::Order::AfterFirst;
    REQUIRE(detail::core_of(c.graph)->plan().lowered.entry_exit ==
            detail::EntryExit{.entry = !has_end, .exit = has_end});
    c.launch(10);
    c.source->pause();
    c.launch(7);
    CHECK(c.collect().plain == from_to(1, 10));
    c.source->resume();
    c.launch(5);
    c.source->pause();
    c.launch(4);
    c.source->time_nodes(2, detail::ReplaySource::Precision::Close);
    c.launch(3);
    c.source->resume();
    c.launch(1);
    const Numbers numbers = c.collect();
    std::vector<std::uint64_t> expected = from_to(18, 22);
    expected.push_back(30);
    CHECK(numbers.plain == expected);
    CHECK(numbers.timed == from_to(27, 28));
    CHECK(c.lost.replays == 0);
    for (const unsigned long long count : c.read(c.values)) CHECK(count == c.launched);
  }
}

TEST_CASE(
    "cuda boundary timestamps: when switched too often for the collector, times are lost and "
    "counted, never misattributed") {
  if (!have_gpu()) return;
  Counters c(1);
  std::uint64_t timestamped = 0;
  for (int i = 0; i < 200; ++i) {
    c.source->pause();
    c.launch(1);
    c.source->resume();
    c.launch(1);
    ++timestamped;
  }
  const Numbers numbers = c.collect();
  CHECK(numbers.plain.size() + c.lost.replays == timestamped);
  CHECK(c.lost.replays > 0);
  REQUIRE_FALSE(numbers.plain.empty());
  for (const std::uint64_t replay : numbers.plain) CHECK(replay % 2 == 0);
  CHECK(numbers.plain.back() == 400);
}

TEST_CASE(
    "cuda boundary timestamps: a released copy records nothing, wherever the timestamps are "
    "taken") {
  if (!have_gpu()) return;
  for (const CountersDesc& desc :
       {CountersDesc{}, CountersDesc{.width = 8}, kBeginAlone, kEndAlone}) {
    const std::uint32_t width = desc.width;
    CAPTURE(width);
    const TraceFolder folder;
    {
      const Instance instance(
          {.application = "gpu test",
           .trace = {.target = folder.file(), .profile = ProfileMode::Replays}});
      const Device device = instance.open_device(DeviceSelector::named(gpu().info().selector));
      {
        const Queue queue = device.create_queue();
        const auto pool = device.create_pool();
        const auto values = pool->allocate<unsigned long long>(width, "values");
        const Kernel kernel = device.load_kernel(shaders::gpu_count);
        CommandBuffer commands = device.create_command_buffer({.label = "ours"});
        commands.begin();
        record_ordered_counters(commands, kernel, values, desc);
        commands.end();
        CapturedGraph ours = device.compile(commands, {.pool = pool});
        const CUgraph raw = release(ours);
        CapturedGraph copy = from_native(device, raw, {.label = "copy"});
        CHECK(cudaGraphDestroy(raw) == cudaSuccess);
        for (int i = 0; i < 10; ++i) {
          ours.launch(queue).wait();
          copy.launch(queue).wait();
        }
      }
      device.wait_idle();
    }
    const trace::Records records = all_records(folder.file());
    REQUIRE(records.graph_versions.size() == 2);
    std::uint64_t ours = 0;
    for (const trace::Replay& replay : records.replays) {
      CHECK(replay.ended > replay.started);
      CHECK(replay.started > 0);
      if (replay.graph == records.graph_versions[0].graph) CHECK(replay.replay == ++ours);
    }
    CHECK(ours == 10);
    CHECK(records.replays.size() == 20);
  }
}

TEST_CASE(
    "cuda boundary timestamps: a graph of the application has replay times in the trace and no "
    "additional nodes") {
  if (!have_gpu()) return;
  const TraceFolder folder;
  constexpr std::uint64_t kReplays = 60;
  {
    const Instance instance({.application = "gpu test",
                             .trace = {.target = folder.file(), .profile = ProfileMode::Every}});
    const Device device = instance.open_device(DeviceSelector::named(gpu().info().selector));
    {
      const Queue queue = device.create_queue();
      const auto pool = device.create_pool();
      const auto x = pool->allocate<float>(1024, "x"), y = pool->allocate<float>(1024, "y");
      CommandBuffer commands = device.create_command_buffer({.label = "ours"});
      commands.begin();
      commands.fill(x, 1.0f);
      commands.fill(y, 2.0f);
      commands.copy(x, y);
      commands.end();
      const CapturedGraph ours =
          device.compile(commands, {.pool = pool, .lowering = Lowering::Faithful});
      const CUgraph raw = release(ours);
      std::size_t nodes = 0;
      REQUIRE(cudaGraphGetNodes(raw, nullptr, &nodes) == cudaSuccess);
      CapturedGraph adopted = from_native(device, raw, {.label = "theirs"});
      CHECK(adopted.node_count() == nodes);
      CHECK(nodes == ours.node_count());  // released graphs contain no boundary timestamps
      CHECK(cudaGraphDestroy(raw) == cudaSuccess);
      for (std::uint64_t i = 0; i < kReplays; ++i) adopted.launch(queue).wait();
      const CUgraph again = release(adopted);
      std::size_t left = 0;
      CHECK(cudaGraphGetNodes(again, nullptr, &left) == cudaSuccess);
      CHECK(left == nodes);
      CHECK(cudaGraphDestroy(again) == cudaSuccess);
    }
    device.wait_idle();
  }
  const trace::Records records = all_records(folder.file());
  for (const trace::Message& message : records.messages) MESSAGE(message.text);
  REQUIRE(records.replays.size() == kReplays);
  for (const trace::Replay& replay : records.replays) {
    CHECK(replay.started > 0);
    CHECK(replay.ended > replay.started);
  }
}

}  // namespace reprise::test

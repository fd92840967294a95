#ifdef REPRISE_HAS_CUDA

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <reprise/cuda_interop.hpp>
#include <reprise/reprise.hpp>

#include "bench.hpp"
#include "raw_graph.hpp"

namespace reprise::bench {

namespace {

constexpr double kMiB = 1 << 20;

// One temporary buffer of a chain of steps: step i fills buffer i and copies into it the first bytes of the buffer before, and those of one that
// was kept for long where there is one. private-pools makes the same list.
struct Step {
  std::uint64_t bytes = 0;
  std::uint32_t last = 0;               // the step that uses it last
  std::vector<std::uint32_t> sources = {};  // buffers
};

std::vector<Step> make_steps(std::uint32_t count) {
  std::vector<Step> steps(count);
  std::uint64_t state = 1;
  for (std::uint32_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto level = (state >> 33) % 9;                              // from 64 KiB to 16 MiB, and up to half as much again
    steps[i].bytes = (std::uint64_t{65536} << level) + ((state >> 40) % (std::uint64_t{32768} << level)) / 256 * 256;
    steps[i].last = std::min(i + 1, count - 1);
    if (i != 0) steps[i].sources.push_back(i - 1);
    constexpr std::uint32_t kEvery = 7, kKept = 20;
    if (i >= kKept && (i - kKept) % kEvery == 0) {
      steps[i].sources.push_back(i - kKept);
      steps[i - kKept].last = i;
    }
  }
  return steps;
}

std::uint64_t bytes_of_copy(const Step& to, const Step& from) { return std::min<std::uint64_t>({to.bytes, from.bytes, 65536}); }

CapturedGraph make_ours(const Device& device, const std::shared_ptr<CapturePool>& pool, const std::vector<Step>& steps) {
  CommandBuffer commands = device.create_command_buffer({.label = "steps"});
  commands.begin();
  std::vector<GpuRef<std::byte>> buffers;
  for (const Step& step : steps) {
    buffers.push_back(pool->transient<std::byte>(step.bytes, "buffer " + std::to_string(buffers.size())));
    commands.fill(buffers.back(), std::byte{1});
    for (const std::uint32_t from : step.sources) {
      const std::uint64_t bytes = bytes_of_copy(step, steps[from]);
      commands.copy(buffers[from].slice(0, bytes), buffers.back().slice(0, bytes));
    }
  }
  commands.end();
  return device.compile(commands, {.pool = pool});
}

// The same nodes in the same order, each buffer between a cudaMallocAsync and a cudaFreeAsync node.
class MemoryNodes {
 public:
  explicit MemoryNodes(const std::vector<Step>& steps) {
    REPRISE_BENCH_CUDA(cudaGraphCreate(&graph_, 0));
    std::vector<char*> address(steps.size());
    for (std::uint32_t i = 0; i < steps.size(); ++i) {
      address[i] = allocate(steps[i].bytes);
      cudaMemsetParams fill = {};
      fill.dst = address[i];
      fill.value = 1;
      fill.elementSize = 1;
      fill.width = steps[i].bytes;
      fill.height = 1;
      add([&](cudaGraphNode_t* node, std::size_t before) { return cudaGraphAddMemsetNode(node, graph_, &last_, before, &fill); });
      for (const std::uint32_t from : steps[i].sources) {
        add([&](cudaGraphNode_t* node, std::size_t before) {
          return cudaGraphAddMemcpyNode1D(node, graph_, &last_, before, address[i], address[from], bytes_of_copy(steps[i], steps[from]),
                                          cudaMemcpyDeviceToDevice);
        });
      }
      for (std::uint32_t j = 0; j <= i; ++j) {
        if (steps[j].last != i) continue;
        add([&](cudaGraphNode_t* node, std::size_t before) { return cudaGraphAddMemFreeNode(node, graph_, &last_, before, address[j]); });
      }
    }
    REPRISE_BENCH_CUDA(cudaGraphInstantiate(&exec_, graph_, 0));
  }
  MemoryNodes(const MemoryNodes&) = delete;
  MemoryNodes& operator=(const MemoryNodes&) = delete;
  ~MemoryNodes() {
    static_cast<void>(cudaGraphExecDestroy(exec_));
    static_cast<void>(cudaGraphDestroy(graph_));
  }
  void launch(cudaStream_t stream) const { REPRISE_BENCH_CUDA(cudaGraphLaunch(exec_, stream)); }

 private:
  template <class Add>
  void add(const Add& one) {
    cudaGraphNode_t node = nullptr;
    REPRISE_BENCH_CUDA(one(&node, last_ == nullptr ? 0 : 1));
    last_ = node;
  }
  char* allocate(std::uint64_t bytes) {
    cudaMemAllocNodeParams params = {};
    params.poolProps.allocType = cudaMemAllocationTypePinned;
    params.poolProps.location = {cudaMemLocationTypeDevice, 0};
    params.bytesize = bytes;
    add([&](cudaGraphNode_t* node, std::size_t before) { return cudaGraphAddMemAllocNode(node, graph_, &last_, before, &params); });
    return static_cast<char*>(params.dptr);
  }
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t exec_ = nullptr;
  cudaGraphNode_t last_ = nullptr;
};

std::uint64_t reserved_for_graphs() {
  std::uint64_t bytes = 0;
  REPRISE_BENCH_CUDA(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &bytes));
  return bytes;
}

Line line_of(const char* what, const char* unit, std::uint32_t nodes) {
  Line line;
  line.what = what;
  line.shape = "steps";
  line.nodes = nodes;
  line.unit = unit;
  line.peer = "cudaMallocAsync nodes";
  return line;
}

}  // namespace

void run_memory(const Options& options, Report& report) {
  const Instance instance({.application = "reprise_bench"});
  if (const std::string reason = instance.why_no_gpu(); !reason.empty()) {
    std::printf("  not run: %s\n", reason.c_str());
    return;
  }
  const Device device = instance.open_device(DeviceSelector::named("cuda:0"));
  const CurrentDevice current(device);
  const Queue queue = device.create_queue({.label = "bench"});
  const auto pool = device.create_pool({.label = "steps"});
  const std::vector<Step> steps = make_steps(options.is_quick() ? 40 : 300);
  CapturedGraph ours = make_ours(device, pool, steps);
  cudaStream_t stream = nullptr;
  REPRISE_BENCH_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  {
    const MemoryNodes raw(steps);
    raw.launch(stream);
    REPRISE_BENCH_CUDA(cudaStreamSynchronize(stream));
    ours.launch(queue).wait();
    const auto nodes = ours.node_count();
    Line footprint = line_of("footprint", "MiB", nodes);
    footprint.ours = {static_cast<double>(pool->statistics().mapped) / kMiB};
    footprint.peers = {static_cast<double>(reserved_for_graphs()) / kMiB};
    report.add(footprint);
    Line bound = line_of("lower bound", "MiB", nodes);
    bound.peer = {};
    bound.ours = {static_cast<double>(ours.report().slab_lower_bound) / kMiB};
    report.add(bound);

    const std::uint32_t pairs = options.is_quick() ? 3 : 21;
    const auto replay_ours = [&] { return ns_of([&] { ours.launch(queue).wait(); }) / 1e3; };
    const auto replay_raw = [&] {
      return ns_of([&] {
               raw.launch(stream);
               REPRISE_BENCH_CUDA(cudaStreamSynchronize(stream));
             }) / 1e3;
    };
    Line replay = line_of("launch and wait", "us", nodes);
    measure_pairs(replay, pairs, replay_ours, replay_raw);
    report.add(replay);

    Line trim = line_of("give all back", "us", nodes), again = line_of("replay after that", "us", nodes);
    const auto trim_ours = [&] { return ns_of([&] { static_cast<void>(pool->trim()); }) / 1e3; };
    const auto trim_raw = [&] { return ns_of([&] { REPRISE_BENCH_CUDA(cudaDeviceGraphMemTrim(0)); }) / 1e3; };
    for (std::uint32_t i = 0; i < std::max(pairs / 3, 1u); ++i) {
      trim.ours.push_back(trim_ours());
      trim.peers.push_back(trim_raw());
      again.ours.push_back(replay_ours());
      again.peers.push_back(replay_raw());
    }
    report.add(trim);
    report.add(again);
  }
  REPRISE_BENCH_CUDA(cudaStreamDestroy(stream));
}

}  // namespace reprise::bench

#endif

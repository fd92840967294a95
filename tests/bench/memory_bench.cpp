#ifdef REPRISE_HAS_CUDA

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <reprise/cuda_interop.hpp>
#include <reprise/reprise.hpp>

#include "bench.hpp"
#include "gpu.hpp"
#include "raw_graph.hpp"

namespace reprise::bench {

namespace {

constexpr double kMiB = 1 << 20;

// One temporary buffer of a chain of steps: step i fills buffer i and copies into it the first
// bytes of the previous buffer and, if available, of a long-lived one. The script private-pools
// generates the same list.
struct Step {
  std::uint64_t bytes = 0;
  std::uint32_t last = 0;                   // the last step that uses the buffer
  std::vector<std::uint32_t> sources = {};  // buffers
};

std::vector<Step> make_steps(std::uint32_t count, std::uint64_t state) {
  std::vector<Step> steps(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto level = (state >> 33) % 9;  // from 64 KiB to 16 MiB, plus up to 50 %
    steps[i].bytes = (std::uint64_t{65536} << level) +
                     ((state >> 40) % (std::uint64_t{32768} << level)) / 256 * 256;
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

std::uint64_t bytes_of_copy(const Step& to, const Step& from) {
  return std::min<std::uint64_t>({to.bytes, from.bytes, 65536});
}

// The order of the steps. The peers run them sequentially, like a stream; ordered buffers may share
// bytes.
struct Variant {
  const char* name;
  Ordering ordering;
  MemoryGoal goal;
  std::uint32_t graphs = 1;  // with different buffers each, launched sequentially
  SlabSharing sharing = SlabSharing::None;
};
constexpr Variant kVariants[] = {
    {"a chain", Ordering::Linear, MemoryGoal::Speed},
    {"as needed", Ordering::Inferred, MemoryGoal::Speed},
    {"least bytes", Ordering::Inferred, MemoryGoal::Minimum},
    {"4 chains, a slab each", Ordering::Linear, MemoryGoal::Speed, 4},
    {"4 chains, one slab", Ordering::Linear, MemoryGoal::Speed, 4, SlabSharing::OneAtATime}};

CapturedGraph make_ours(const Device& device, const std::shared_ptr<CapturePool>& pool,
                        const std::vector<Step>& steps, const Variant& variant) {
  CommandBuffer commands =
      device.create_command_buffer({.label = "steps", .ordering = variant.ordering});
  commands.begin();
  std::vector<GpuRef<std::byte>> buffers;
  for (const Step& step : steps) {
    buffers.push_back(
        pool->transient<std::byte>(step.bytes, "buffer " + std::to_string(buffers.size())));
    commands.fill(buffers.back(), std::byte{1});
    for (const std::uint32_t from : step.sources) {
      const std::uint64_t bytes = bytes_of_copy(step, steps[from]);
      commands.copy(buffers[from].slice(0, bytes), buffers.back().slice(0, bytes));
    }
  }
  commands.end();
  return device.compile(commands, {.pool = pool, .memory_goal = variant.goal});
}

// The same nodes in the same order, with a cudaMallocAsync and a cudaFreeAsync node around each
// buffer's lifetime.
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
      add([&](cudaGraphNode_t* node, std::size_t before) {
        return cudaGraphAddMemsetNode(node, graph_, &last_, before, &fill);
      });
      for (const std::uint32_t from : steps[i].sources) {
        add([&](cudaGraphNode_t* node, std::size_t before) {
          return cudaGraphAddMemcpyNode1D(node, graph_, &last_, before, address[i], address[from],
                                          bytes_of_copy(steps[i], steps[from]),
                                          cudaMemcpyDeviceToDevice);
        });
      }
      for (std::uint32_t j = 0; j <= i; ++j) {
        if (steps[j].last != i) continue;
        add([&](cudaGraphNode_t* node, std::size_t before) {
          return cudaGraphAddMemFreeNode(node, graph_, &last_, before, address[j]);
        });
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
    add([&](cudaGraphNode_t* node, std::size_t before) {
      return cudaGraphAddMemAllocNode(node, graph_, &last_, before, &params);
    });
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

class MemoryComparison {
 public:
  MemoryComparison(const Device& device, std::uint32_t steps, const Variant& variant)
      : variant_(variant),
        queue_(device.create_queue({.label = "bench"})),
        pool_(device.create_pool({.label = "steps", .sharing = variant.sharing})) {
    for (std::uint32_t i = 0; i < variant.graphs; ++i) {
      const std::vector<Step> list = make_steps(steps, i + 1);
      ours_.push_back(make_ours(device, pool_, list, variant));
      raw_.push_back(std::make_unique<MemoryNodes>(list));
    }
    REPRISE_BENCH_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    static_cast<void>(replay_raw());
    static_cast<void>(replay_ours());
  }
  MemoryComparison(const MemoryComparison&) = delete;
  MemoryComparison& operator=(const MemoryComparison&) = delete;
  ~MemoryComparison() { static_cast<void>(cudaStreamDestroy(stream_)); }

  void run(std::uint32_t pairs, Report& report) {
    Line footprint = line_of("footprint", "MiB");
    footprint.ours = {static_cast<double>(pool_->statistics().mapped) / kMiB};
    footprint.peers = {static_cast<double>(reserved_for_graphs()) / kMiB};
    report.add(footprint);
    Line bound = line_of("lower bound", "MiB");
    bound.peer = {};
    for (const CapturedGraph& graph : ours_) {
      const double own = static_cast<double>(graph.report().slab_lower_bound) / kMiB;
      const double before = bound.ours.empty() ? 0 : bound.ours[0];
      bound.ours = {variant_.sharing == SlabSharing::None ? before + own : std::max(before, own)};
    }
    report.add(bound);
    Line replay = line_of("launch and wait", "us");
    measure_pairs(
        replay, pairs, [this] { return replay_ours(); }, [this] { return replay_raw(); });
    report.add(replay);

    Line trim = line_of("trim", "us"), again = line_of("replay after trim", "us");
    for (std::uint32_t i = 0; i < std::max(pairs / 3, 1u); ++i) {
      trim.ours.push_back(ns_of([&] { static_cast<void>(pool_->trim()); }) / 1e3);
      trim.peers.push_back(ns_of([&] { REPRISE_BENCH_CUDA(cudaDeviceGraphMemTrim(0)); }) / 1e3);
      again.ours.push_back(replay_ours());
      again.peers.push_back(replay_raw());
    }
    report.add(trim);
    report.add(again);
  }

 private:
  double replay_ours() {
    return ns_of([&] {
             for (CapturedGraph& graph : ours_) static_cast<void>(graph.launch(queue_));
             queue_.wait_idle();
           }) /
           1e3;
  }
  double replay_raw() {
    return ns_of([&] {
             for (const auto& graph : raw_) graph->launch(stream_);
             REPRISE_BENCH_CUDA(cudaStreamSynchronize(stream_));
           }) /
           1e3;
  }
  Line line_of(const char* what, const char* unit) const {
    Line line;
    line.what = what;
    line.shape = variant_.name;
    for (const CapturedGraph& graph : ours_) line.nodes += graph.node_count();
    line.unit = unit;
    line.peer = "cudaMallocAsync nodes";
    return line;
  }

  const Variant& variant_;
  Queue queue_;
  std::shared_ptr<CapturePool> pool_;
  std::vector<CapturedGraph> ours_;
  std::vector<std::unique_ptr<MemoryNodes>> raw_;
  cudaStream_t stream_ = nullptr;
};

}  // namespace

void run_memory(const Options& options, Report& report) {
  const Instance instance({.application = "reprise_bench"});
  if (!finds_gpu(instance)) return;
  const Device device = instance.open_device(DeviceSelector::named("cuda:0"));
  const CurrentDevice current(device);
  for (const Variant& variant : kVariants) {
    MemoryComparison(device, options.is_quick() ? 40 : 300, variant)
        .run(options.is_quick() ? 3 : 21, report);
    device.wait_idle();
    REPRISE_BENCH_CUDA(cudaDeviceGraphMemTrim(0));
  }
}

}  // namespace reprise::bench

#endif

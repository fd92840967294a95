// Graphs of kernels of many blocks, in segments with and without relations of blocks, compared with
// their nodes.
#if defined(REPRISE_HAS_CUDA)

#include <blocks.shaders.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <reprise/cuda_interop.hpp>
#include <reprise/reprise.hpp>

#include "bench.hpp"
#include "gpu.hpp"
#include "profiled_graph.hpp"
#include "raw_task_graph.hpp"

namespace reprise::bench {

namespace {

constexpr std::uint32_t kThreads = 256;

class BlocksBench {
 public:
  BlocksBench(const Instance& instance, const Options& options, Report& report)
      : options_(options),
        report_(report),
        device_(instance.open_device(DeviceSelector::named("cuda:0"))),
        current_(device_),
        queue_(from_native(device_, stream_.stream())) {}

  // Each kernel reads what the one before wrote. `values`: of a block.
  void run_chain(const KernelDesc& kernel, std::uint32_t blocks, std::uint32_t values,
                 double goal) {
    const std::uint32_t count = options_.is_quick() ? 10 : 200, n = blocks * values;
    const GpuRef<float> x = zeros(n), y = zeros(n);
    const Kernel loaded = device_.load_kernel(kernel);
    const unsigned size = &kernel == &shaders::blocks_scale ? values : n;
    measure(
        std::string(loaded.name()) + ", " + std::to_string(blocks) + " x " + std::to_string(values),
        count, goal, [&](CommandBuffer& to) {
          for (std::uint32_t i = 0; i < count; ++i)
            to.dispatch(loaded, {.grid = blocks, .block = kThreads}, read(i % 2 == 0 ? x : y),
                        write(i % 2 == 0 ? y : x), size);
        });
  }

  // What Lowering::Auto makes of a chain, beside its nodes; alone or beside a second busy queue.
  void run_auto(std::uint32_t blocks, std::uint32_t spin_us, bool is_beside) {
    constexpr std::uint32_t kBlockThreads = 128;
    const std::uint32_t count = options_.is_quick() ? 100 : 200, n = blocks * kBlockThreads;
    const GpuRef<float> x = zeros(n), y = zeros(n);
    const Kernel spin = device_.load_kernel(shaders::blocks_spin);
    CommandBuffer commands = recorded([&](CommandBuffer& to) {
      for (std::uint32_t i = 0; i < count; ++i)
        to.dispatch(spin, {.grid = blocks, .block = kBlockThreads}, read(i % 2 == 0 ? x : y),
                    write(i % 2 == 0 ? y : x), n, 1000 * spin_us);
    });
    CapturedGraph nodes = device_.compile(
        commands, {.pool = pool_, .lowering = Lowering::Auto.without_block_relations()});
    CapturedGraph graph = device_.compile(commands, {.pool = pool_, .lowering = Lowering::Auto});
    std::optional<BusyStream> busy;
    if (is_beside)
      busy.emplace(raw_task_.kernel(), device_.info().multiprocessors, kBlockThreads, 20'000,
                   zeros(1).data());
    Line line{.what = is_beside ? "Auto beside a busy queue" : "Auto",
              .shape = "chain of " + std::to_string(blocks) + " blocks, " +
                       std::to_string(spin_us) + " us",
              .nodes = count,
              .unit = "us",
              .peer = "nodes",
              .axes = {{"segments", std::to_string(graph.report().segments.segments)}},
              .goal = {Goal::Of::Ratio, 1.02}};
    measure(line, spin_us > 5 ? 1 : 5, graph, nodes);
  }

  void run_adam() {
    // 64 to 1,048,576 values: many small tensors, as biases and norms are, and some large ones.
    constexpr std::uint32_t kSizes[] = {64,  256,    1'024,  4'096,   64,
                                        512, 16'384, 65'536, 262'144, 1'048'576};
    const Kernel mean = device_.load_kernel(shaders::adam_mean),
                 variance = device_.load_kernel(shaders::adam_variance),
                 update = device_.load_kernel(shaders::adam_update);
    struct Tensor {
      GpuRef<float> gradient, mean, variance, weights;
      std::uint32_t size;
    };
    std::vector<Tensor> tensors;
    for (std::uint32_t i = 0; i < (options_.is_quick() ? 10u : 100u); ++i) {
      const std::uint32_t size = kSizes[i % std::size(kSizes)];
      tensors.push_back({zeros(size), zeros(size), zeros(size), zeros(size), size});
    }
    measure("step of Adam, " + std::to_string(tensors.size()) + " tensors",
            static_cast<std::uint32_t>(3 * tensors.size()), 0.5, [&](CommandBuffer& to) {
              for (const Tensor& t : tensors) {
                const DispatchDesc desc{.grid = (t.size + kThreads - 1) / kThreads,
                                        .block = kThreads};
                to.dispatch(mean, desc, read(t.gradient), read_write(t.mean), t.size);
                to.dispatch(variance, desc, read(t.gradient), read_write(t.variance), t.size);
                to.dispatch(update, desc, read(t.mean), read(t.variance), read_write(t.weights),
                            t.size);
              }
            });
  }

  void run_integrator() {
    const std::uint32_t steps = options_.is_quick() ? 3 : 1000, n = 132 * kThreads;
    const Kernel stage = device_.load_kernel(shaders::runge_kutta_stage),
                 end = device_.load_kernel(shaders::runge_kutta_end);
    const GpuRef<float> y = zeros(n), slope = zeros(n), other = zeros(n), sum = zeros(n);
    const DispatchDesc desc{.grid = 132, .block = kThreads};
    measure("Runge-Kutta, " + std::to_string(steps) + " steps", 5 * steps, 0.3,
            [&](CommandBuffer& to) {
              constexpr float kStep = 1e-3F;
              for (std::uint32_t i = 0; i < steps; ++i) {
                constexpr float kScales[] = {0, kStep / 2, kStep / 2, kStep};
                constexpr float kWeights[] = {kStep / 6, kStep / 3, kStep / 3, kStep / 6};
                for (std::uint32_t s = 0; s < 4; ++s)
                  to.dispatch(stage, desc, read(y), read(s % 2 == 0 ? slope : other),
                              write(s % 2 == 0 ? other : slope), read_write(sum), kScales[s],
                              kWeights[s], n);
                to.dispatch(end, desc, read_write(y), read_write(slope), read_write(sum), n);
              }
            });
  }

 private:
  [[nodiscard]] GpuRef<float> zeros(std::uint32_t count) const {
    GpuRef<float> made = pool_->allocate<float>(count, "x");
    REPRISE_BENCH_CUDA(cudaMemset(made.data(), 0, count * sizeof(float)));
    return made;
  }

  [[nodiscard]] CommandBuffer recorded(const std::function<void(CommandBuffer&)>& record) const {
    CommandBuffer commands = device_.create_command_buffer({.label = "blocks"});
    commands.begin();
    record(commands);
    commands.end();
    return commands;
  }

  void measure(Line& line, std::uint32_t launches, CapturedGraph& graph, CapturedGraph& nodes) {
    const auto us = [&](CapturedGraph& of) {
      return stream_.gpu_us(launches, [&] { static_cast<void>(of.launch(queue_)); });
    };
    measure_pairs(
        line, pairs(options_), [&] { return us(graph); }, [&] { return us(nodes); });
    report_.add(line);
  }

  void measure(const std::string& shape, std::uint32_t kernels, double goal,
               const std::function<void(CommandBuffer&)>& record) {
    CommandBuffer commands = recorded(record);
    CapturedGraph nodes =
        device_.compile(commands, {.pool = pool_, .lowering = Lowering::Faithful});
    for (const bool has_relations : {true, false}) {
      const Lowering persistent = Lowering::Persistent;
      CapturedGraph graph = device_.compile(
          commands,
          {.pool = pool_,
           .lowering = has_relations ? persistent : persistent.without_block_relations()});
      Line line{.what = has_relations ? "segment" : "segment without relations",
                .shape = shape,
                .nodes = kernels,
                .unit = "us",
                .peer = "nodes",
                .axes = {{"relations", std::to_string(graph.report().segments.relations)}}};
      if (has_relations) line.goal = {Goal::Of::Ratio, goal};
      measure(line, kernels > 1000 ? 2 : 10, graph, nodes);
    }
    const auto compile_us = [&](const Lowering& lowering) {
      const double begin = now_ns();
      static_cast<void>(device_.compile(commands, {.pool = pool_, .lowering = lowering}));
      return 1e-3 * (now_ns() - begin);
    };
    Line line{.what = "compile",
              .shape = shape,
              .nodes = kernels,
              .unit = "us",
              .peer = "without relations",
              .goal = {Goal::Of::Ratio, 1.1}};
    measure_pairs(
        line, options_.is_quick() ? 3 : 11, [&] { return compile_us(Lowering::Persistent); },
        [&] { return compile_us(Lowering::Persistent.without_block_relations()); });
    report_.add(line);
    device_.wait_idle();
  }

  const Options& options_;
  Report& report_;
  const Device device_;
  const CurrentDevice current_;
  const TimedStream stream_;
  const Queue queue_;
  const RawTask raw_task_;
  const std::shared_ptr<CapturePool> pool_ = device_.create_pool({.label = "blocks"});
};

}  // namespace

void run_cuda_blocks(const Options& options, Report& report) {
  const Instance instance({.application = "reprise_bench"});
  if (!finds_gpu(instance)) return;
  BlocksBench bench(instance, options, report);
  bench.run_chain(shaders::blocks_scale, 132, 256, 0.15);
  bench.run_chain(shaders::blocks_scale, 132, 1024, 0.15);
  bench.run_chain(shaders::blocks_scale, 1056, 256, 0.35);
  bench.run_chain(shaders::blocks_scale, 1056, 1024, 0.5);
  bench.run_adam();
  bench.run_integrator();
  bench.run_chain(shaders::blocks_near, 132, 256, 1.02);
  bench.run_chain(shaders::blocks_near, 1056, 256, 1.02);
  bench.run_chain(shaders::blocks_sum, 16, 256, 1.02);
  for (const bool is_beside : {false, true})
    for (const std::uint32_t blocks : {4u, 16u, 64u, 132u, 264u, 528u, 1056u})
      for (const std::uint32_t spin_us : {0u, 2u, 10u, 100u})
        bench.run_auto(blocks, spin_us, is_beside);
}

}  // namespace reprise::bench

#endif  // REPRISE_HAS_CUDA

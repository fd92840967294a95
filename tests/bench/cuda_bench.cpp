#ifdef REPRISE_HAS_CUDA

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include <reprise/cuda_interop.hpp>
#include <reprise/reprise.hpp>

#include "bench.hpp"
#include "gpu.hpp"
#include "raw_graph.hpp"
#include "shapes.hpp"

namespace reprise::bench {

namespace {

// One GPU with the objects of a benchmark. GPU time is measured on a stream shared by raw and
// Reprise graphs. CPU time of Reprise is measured on a queue of its own, as in applications,
// because launches on an adopted stream cost more.
class Gpu {
 public:
  explicit Gpu(const Instance& instance)
      : device_(instance.open_device(DeviceSelector::named("cuda:0"))), current_(device_) {
    kernels_ = load_node_kernels(device_);
    pool_ = device_.create_pool();
    state_ = pool_->allocate<float>(kMaxNodes, "state");
    REPRISE_BENCH_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    queue_ = device_.create_queue({.label = "bench"});
    on_stream_ = from_native(device_, stream_);
    REPRISE_BENCH_CUDA(cudaEventCreate(&begin_));
    REPRISE_BENCH_CUDA(cudaEventCreate(&end_));
  }
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;
  ~Gpu() {
    static_cast<void>(cudaStreamSynchronize(stream_));
    static_cast<void>(cudaEventDestroy(begin_));
    static_cast<void>(cudaEventDestroy(end_));
    on_stream_ = Queue();
    static_cast<void>(cudaStreamDestroy(stream_));
  }

  [[nodiscard]] CommandBuffer record(const Shape& shape, std::uint32_t spin_ns) const {
    CommandBuffer commands = device_.create_command_buffer({.label = shape.name});
    record_shape(commands, shape, kernels_, state_, spin_ns);
    return commands;
  }
  [[nodiscard]] const Device& device() const { return device_; }
  [[nodiscard]] CapturePool& pool() const { return *pool_; }
  [[nodiscard]] CapturedGraph compile(const CommandBuffer& commands, Lowering lowering) const {
    return device_.compile(commands, {.pool = pool_, .lowering = lowering});
  }
  [[nodiscard]] std::unique_ptr<RawGraph> raw(const Shape& shape, std::uint32_t spin_ns) const {
    return std::make_unique<RawGraph>(RawGraphDesc{&shape, &raw_kernels_, state_.data(), spin_ns});
  }
  [[nodiscard]] const Queue& queue() const { return queue_; }          // for CPU time
  [[nodiscard]] const Queue& on_stream() const { return on_stream_; }  // for GPU time
  [[nodiscard]] cudaStream_t stream() const { return stream_; }
  // The lowerings that the device has, Persistent last.
  [[nodiscard]] std::vector<Lowering> lowerings() const {
    std::vector<Lowering> all{Lowering::Faithful, Lowering::Auto};
    if (device_.info().limits.max_segment_blocks != 0) all.push_back(Lowering::Persistent);
    return all;
  }
  void wait() const {
    queue_.wait_idle();
    REPRISE_BENCH_CUDA(cudaStreamSynchronize(stream_));
  }

  // GPU time in us per launch, measured by events around `count` launches.
  template <class Launch>
  [[nodiscard]] double gpu_us(std::uint32_t count, Launch&& launch) const {
    wait();
    REPRISE_BENCH_CUDA(cudaEventRecord(begin_, stream_));
    for (std::uint32_t i = 0; i < count; ++i) launch();
    REPRISE_BENCH_CUDA(cudaEventRecord(end_, stream_));
    wait();
    float ms = 0;
    REPRISE_BENCH_CUDA(cudaEventElapsedTime(&ms, begin_, end_));
    return 1000.0 * static_cast<double>(ms) / count;
  }
  // Blocks until the engine's background thread has freed dropped graphs.
  void wait_until_freed() const { device_.wait_idle(); }
  // CPU time in ns per launch over `count` launches on an empty stream.
  template <class Launch>
  [[nodiscard]] double launch_ns(std::uint32_t count, Launch&& launch) const {
    wait();
    const double ns = ns_of([&] {
      for (std::uint32_t i = 0; i < count; ++i) launch();
    });
    wait();
    return ns / count;
  }

 private:
  static constexpr std::uint64_t kMaxNodes = 16384;
  Device device_;
  CurrentDevice current_;
  RawKernels raw_kernels_;
  NodeKernels kernels_;
  std::shared_ptr<CapturePool> pool_;
  GpuRef<float> state_;
  cudaStream_t stream_ = nullptr;
  Queue queue_, on_stream_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

// Empty without a GPU.
std::unique_ptr<Gpu> open_gpu() {
  const Instance instance({.application = "reprise_bench"});
  return finds_gpu(instance) ? std::make_unique<Gpu>(instance) : nullptr;
}

std::string name_of(Lowering lowering) {
  if (lowering == Lowering::Persistent) return "Persistent";
  return lowering == Lowering::Auto ? "Auto" : "Faithful";
}

std::vector<Shape> usual_shapes(const Options& options) {
  if (options.is_quick())
    return {chain_shape(100), wide_shape(100), tree_shape(127), layer_shape(128, 32, 3),
            layer_shape(100, 4, 4)};
  return {chain_shape(1000), wide_shape(1000), tree_shape(1023), layer_shape(1024, 32, 3),
          layer_shape(1000, 4, 4)};
}

}  // namespace

void run_cuda_compile(const Options& options, Report& report) {
  const std::unique_ptr<Gpu> gpu = open_gpu();
  if (!gpu) return;
  std::vector<Shape> shapes = usual_shapes(options);
  if (!options.is_quick()) {
    shapes.push_back(chain_shape(10));
    shapes.push_back(chain_shape(100));
    shapes.push_back(chain_shape(10000));
    shapes.push_back(tree_shape(8191));
  }
  for (const Shape& shape : shapes) {
    const CommandBuffer commands = gpu->record(shape, 0);
    std::optional<CapturedGraph> graph;
    std::unique_ptr<RawGraph> raw;
    Lowering lowering = Lowering::Faithful;
    // No other graph exists during creation: existing graphs slow down CUDA.
    const auto clear = [&] {
      raw.reset();
      graph.reset();
      gpu->wait_until_freed();
    };
    const auto ours = [&] {
      clear();
      return 1e-3 * ns_of([&] {
               graph.emplace(gpu->compile(commands, lowering));
               graph->launch(gpu->queue()).wait();
             });
    };
    const auto peer = [&] {
      clear();
      return 1e-3 * ns_of([&] {
               raw = gpu->raw(shape, 0);
               raw->instantiate();
               raw->launch(gpu->stream());
               gpu->wait();
             });
    };
    for (const Lowering of : gpu->lowerings()) {
      if (of == Lowering::Auto) continue;
      lowering = of;
      const bool is_persistent = of == Lowering::Persistent;
      Line line{.what = "compile to end of first replay, " + name_of(of),
                .shape = shape.name,
                .nodes = shape.size(),
                .unit = "us"};
      if (is_persistent) {  // unless the driver's cache on disk has the kernel
        Line first = line;
        first.what = "  the same, with a new persistent kernel";
        first.ours.push_back(ours());
        report.add(first);
      }
      line.peer = "raw add, instantiate, launch";
      line.goal = {Goal::Of::Ratio, is_persistent ? 2.3 : 1.15};
      measure_pairs(line, pairs(options), ours, peer);
      report.add(line);
    }
  }
}

// Each replay of ours and each call of the peer moves the same bytes.
void run_cuda_copies(const Options& options, Report& report) {
  const std::unique_ptr<Gpu> gpu = open_gpu();
  if (!gpu) return;
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
  struct Copy {
    const char* shape;
    Extent extent;
    Pitch source, destination;
  };
  std::vector<Copy> copies{
      {"1 MiB", {kMiB, 1, 1}, {}, {}},
      {"1 MiB + 4 B", {kMiB + 4, 1, 1}, {}, {}},
      {"4 MiB + 4 B", {4 * kMiB + 4, 1, 1}, {}, {}},
      {"64 MiB", {64 * kMiB, 1, 1}, {}, {}},
      {"64 MiB + 4 B", {64 * kMiB + 4, 1, 1}, {}, {}},
      {"128 rows of 1000 of 1024 B", {1000, 128, 1}, {1024, 0}, {1000, 0}},
      {"64 K rows of 1000 of 1024 B", {1000, 65'536, 1}, {1024, 0}, {1000, 0}},
      {"512 rows of 100 KiB of 128 KiB", {100 << 10, 512, 1}, {128 << 10, 0}, {128 << 10, 0}}};
  if (!options.is_quick()) {
    copies.push_back({"512 MiB", {512 * kMiB, 1, 1}, {}, {}});
    copies.push_back({"4.5 GiB", {4608 * kMiB, 1, 1}, {}, {}});
  }
  const std::uint64_t bytes = options.is_quick() ? 128 * kMiB : 4608 * kMiB;
  const auto from = gpu->pool().allocate<std::byte>(bytes, "from"),
             to = gpu->pool().allocate<std::byte>(bytes, "to");
  for (const auto& [shape, extent, source, destination] : copies) {
    CommandBuffer commands = gpu->device().create_command_buffer({.label = shape});
    commands.begin();
    commands.copy(from, to, {extent, source, destination});
    commands.end();
    CapturedGraph graph = gpu->compile(commands, Lowering::Auto);
    graph.upload(gpu->on_stream());
    const std::uint32_t launches = extent.width * extent.height > 256 * kMiB ? 2 : 16;
    Line line{.what = "copy within the GPU",
              .shape = shape,
              .unit = "us",
              .peer = source.row == 0 ? "cudaMemcpyAsync" : "cudaMemcpy2DAsync",
              .goal = {Goal::Of::Ratio, 1.02}};
    measure_pairs(
        line, options.is_quick() ? 3 : 21,
        [&] {
          return gpu->gpu_us(launches, [&] { static_cast<void>(graph.launch(gpu->on_stream())); });
        },
        [&] {
          return gpu->gpu_us(launches, [&] {
            REPRISE_BENCH_CUDA(source.row == 0
                                   ? cudaMemcpyAsync(to.data(), from.data(), extent.width,
                                                     cudaMemcpyDeviceToDevice, gpu->stream())
                                   : cudaMemcpy2DAsync(to.data(), destination.row, from.data(),
                                                       source.row, extent.width, extent.height,
                                                       cudaMemcpyDeviceToDevice, gpu->stream()));
          });
        });
    report.add(line);
  }
}

void run_cuda_instantiate(const Options& options, Report& report) {
  const std::unique_ptr<Gpu> gpu = open_gpu();
  if (!gpu) return;
  std::vector<Shape> shapes = usual_shapes(options);
  if (!options.is_quick()) shapes.push_back(wide_shape(8000));
  for (const Shape& shape : shapes) {
    const CommandBuffer commands = gpu->record(shape, 0);
    const std::unique_ptr<RawGraph> raw = gpu->raw(shape, 0);
    for (const Lowering lowering : {Lowering::Faithful, Lowering::Auto}) {
      const CapturedGraph graph = gpu->compile(commands, lowering);
      const bool is_auto = lowering == Lowering::Auto;
      Line instantiate{.what = is_auto ? "instantiate, Auto" : "instantiate, Faithful",
                       .shape = shape.name,
                       .nodes = shape.size(),
                       .unit = "us",
                       .peer = "raw graph"};
      Line upload = instantiate;
      upload.what = is_auto ? "upload, Auto" : "upload, Faithful";
      if (is_auto && shape.size() == 8000) instantiate.goal = {Goal::Of::Ratio, 0.2};
      // Both use CUDA's own calls, so only the graphs differ.
      double upload_us = 0;
      const auto phases = [&](cudaGraph_t source) {
        cudaGraphExec_t exec = nullptr;
        const double us =
            1e-3 * ns_of([&] { REPRISE_BENCH_CUDA(cudaGraphInstantiate(&exec, source, 0)); });
        upload_us = 1e-3 * ns_of([&] {
                      REPRISE_BENCH_CUDA(cudaGraphUpload(exec, gpu->stream()));
                      gpu->wait();
                    });
        REPRISE_BENCH_CUDA(cudaGraphExecDestroy(exec));
        return us;
      };
      const std::uint32_t count =
          shape.size() > 5000 ? std::min(pairs(options), 7u) : pairs(options);
      for (std::uint32_t i = 0; i <= count; ++i) {
        const double ours_us = phases(native_graph(graph)), ours_upload = upload_us;
        const double raw_us = phases(raw->graph());
        if (i == 0) continue;
        instantiate.ours.push_back(ours_us);
        instantiate.peers.push_back(raw_us);
        upload.ours.push_back(ours_upload);
        upload.peers.push_back(upload_us);
      }
      report.add(instantiate);
      report.add(upload);
    }
  }
}

void run_cuda_launch(const Options& options, Report& report) {
  const std::unique_ptr<Gpu> gpu = open_gpu();
  if (!gpu) return;
  std::vector<Shape> shapes = usual_shapes(options);
  shapes.insert(shapes.begin(), {chain_shape(1), chain_shape(10), chain_shape(100)});
  if (!options.is_quick()) shapes.push_back(wide_shape(8000));
  cudaEvent_t event = nullptr;
  REPRISE_BENCH_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  for (const Shape& shape : shapes) {
    const CommandBuffer commands = gpu->record(shape, 0);
    const std::unique_ptr<RawGraph> raw = gpu->raw(shape, 0);
    raw->instantiate();
    CapturedGraph faithful = gpu->compile(commands, Lowering::Faithful),
                  automatic = gpu->compile(commands, Lowering::Auto);
    const std::uint32_t launches = shape.size() > 5000 ? 4 : 32;
    const auto launch_raw = [&] {
      return gpu->launch_ns(launches, [&] { raw->launch(gpu->stream()); });
    };
    const auto launch_raw_event = [&] {
      return gpu->launch_ns(launches, [&] {
        raw->launch(gpu->stream());
        REPRISE_BENCH_CUDA(cudaEventRecord(event, gpu->stream()));
      });
    };
    const auto launch_of = [&](CapturedGraph& graph) {
      return [&] {
        return gpu->launch_ns(launches, [&] { static_cast<void>(graph.launch(gpu->queue())); });
      };
    };
    const Line line{.shape = shape.name, .nodes = shape.size(), .unit = "ns"};
    Line fence = line;
    fence.what = "launch with fence, Faithful";
    fence.peer = "cudaGraphLaunch";
    measure_pairs(fence, pairs(options), launch_of(faithful), launch_raw);
    report.add(fence);
    Line over = line;
    over.what = "  overhead over cudaGraphLaunch";
    over.goal = {Goal::Of::Median, 250};
    for (std::size_t i = 0; i < fence.ours.size(); ++i)
      over.ours.push_back(fence.ours[i] - fence.peers[i]);
    report.add(over);
    Line event_line = line;
    event_line.what = "launch with fence, Faithful";
    event_line.peer = "cudaGraphLaunch and cudaEventRecord";
    measure_pairs(event_line, pairs(options), launch_of(faithful), launch_raw_event);
    report.add(event_line);
    Line auto_line = line;
    auto_line.what = "launch with fence, Auto";
    auto_line.peer = "cudaGraphLaunch";
    if (shape.size() == 8000) auto_line.goal = {Goal::Of::Ratio, 0.01};
    measure_pairs(auto_line, pairs(options), launch_of(automatic), launch_raw);
    report.add(auto_line);
    if (gpu->lowerings().back() != Lowering::Persistent) continue;
    CapturedGraph persistent = gpu->compile(commands, Lowering::Persistent);
    Line segment_line = line;
    segment_line.what = "launch with fence, Persistent";
    segment_line.peer = "cudaGraphLaunch";
    measure_pairs(segment_line, pairs(options), launch_of(persistent), launch_raw);
    report.add(segment_line);
  }
  static_cast<void>(cudaEventDestroy(event));
}

void run_cuda_replay(const Options& options, Report& report) {
  const std::unique_ptr<Gpu> gpu = open_gpu();
  if (!gpu) return;
  std::vector<Shape> shapes = usual_shapes(options);
  if (!options.is_quick()) {
    shapes.push_back(tree_shape(8191));
    shapes.push_back(wide_shape(10));
    shapes.push_back(wide_shape(100));
    shapes.push_back(layer_shape(1024, 128, 2));
    shapes.push_back(chain_shape(10));
  }
  for (const Shape& shape : shapes) {
    for (const std::uint32_t spin_ns : {0u, 2000u, 10000u}) {
      if (spin_ns != 0 && shape.size() > 5000) continue;
      const CommandBuffer commands = gpu->record(shape, spin_ns);
      const std::unique_ptr<RawGraph> raw = gpu->raw(shape, spin_ns);
      raw->instantiate();
      const auto launch_raw = [&] { raw->launch(gpu->stream()); };
      static_cast<void>(gpu->gpu_us(1, launch_raw));  // the first launch uploads the graph
      const double once_us = gpu->gpu_us(2, launch_raw);
      const auto replays = static_cast<std::uint32_t>(std::clamp(10000.0 / once_us, 2.0, 200.0));
      for (const Lowering lowering : gpu->lowerings()) {
        const bool is_auto = lowering == Lowering::Auto;
        const bool is_persistent = lowering == Lowering::Persistent;
        CapturedGraph graph = gpu->compile(commands, lowering);
        const std::string kernel = spin_ns == 0 ? "empty" : std::to_string(spin_ns / 1000) + " us";
        Line line{.what = "replay, " + name_of(lowering) + ", kernels " + kernel,
                  .shape = shape.name,
                  .nodes = shape.size(),
                  .unit = "us",
                  .peer = "raw graph",
                  .goal = {Goal::Of::Ratio, 1.02}};
        if (is_auto && shape.name == "wide" && shape.size() == 1000 && spin_ns != 2000)
          line.goal.at_most = 0.25;
        if (is_auto && shape.name == "tree" && shape.size() == 8191) line.goal.at_most = 0.25;
        if (is_auto && shape.name == "layers 32/3" && spin_ns == 0) line.goal.at_most = 0.7;
        if (is_persistent && shape.name == "wide" && shape.size() == 1000)
          line.goal.at_most = spin_ns == 0 ? 0.02 : 0.04;
        if (is_persistent && shape.name == "tree" && shape.size() == 8191) line.goal.at_most = 0.02;
        if (is_persistent && shape.name == "layers 128/2" && spin_ns == 0) line.goal.at_most = 0.08;
        if (is_persistent && shape.name == "layers 32/3" && spin_ns == 0) line.goal.at_most = 0.3;
        if (is_persistent && shape.name == "chain" && shape.size() == 1000 && spin_ns == 0)
          line.goal.at_most = 0.1;
        measure_pairs(
            line, pairs(options),
            [&] {
              return gpu->gpu_us(replays,
                                 [&] { static_cast<void>(graph.launch(gpu->on_stream())); });
            },
            [&] { return gpu->gpu_us(replays, launch_raw); });
        report.add(line);
      }
    }
  }
}

}  // namespace reprise::bench

#endif  // REPRISE_HAS_CUDA

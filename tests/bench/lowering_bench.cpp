// Compares every shape, kernel, size and lowering with the raw CUDA graph of the same nodes and
// edges.
#ifdef REPRISE_HAS_CUDA

#include <cuda_runtime_api.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
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
#include "lowered_graphs.hpp"
#include "lowering_points.hpp"
#include "profiled_graph.hpp"
#include "raw_task_graph.hpp"
#include "support/task_graphs.hpp"
#include "task.shaders.hpp"
#include "turns.hpp"

namespace reprise::bench {

namespace {

using test::TaskGraph;

constexpr std::uint32_t kMinPairs = 20;
// more take longer to instantiate than everything else together
constexpr std::uint64_t kMaxEdges = 200000;
// nodes; larger graphs are measured with one executable
constexpr std::uint32_t kMaxNodesForSeveral = 3000;
constexpr int kTracedReplays = 20;

// Progress on stderr: a line that is rewritten on a terminal, and one line per point otherwise.
class PointProgress {
 public:
  PointProgress(std::size_t points, double budget)
      : points_(points),
        budget_(budget),
        terminal_(::isatty(STDERR_FILENO) == 1),
        begin_(now_ns()) {}
  [[nodiscard]] double seconds() const { return 1e-9 * (now_ns() - begin_); }
  void show(std::size_t point, const std::string& what) const {
    std::fprintf(stderr, "%scuda.lowering: %zu of %zu, %.0f of %.0f s: %s%s",
                 terminal_ ? "\r\x1b[K" : "", point + 1, points_, seconds(), budget_, what.c_str(),
                 terminal_ ? "" : "\n");
  }
  void hide() const {
    if (terminal_) std::fputs("\r\x1b[K", stderr);
  }

 private:
  std::size_t points_;
  double budget_;
  bool terminal_;
  double begin_;
};

class LoweringBench {
 public:
  LoweringBench(const Instance& instance, const Options& options, Report& report)
      : options_(options),
        axes_(options.axes),
        report_(report),
        device_(instance.open_device(DeviceSelector::named("cuda:0"))),
        current_(device_),
        queue_(from_native(device_, stream_.stream())),
        pool_(device_.create_pool()),
        memory_(pool_->allocate<float>(kMaxTasks, "tasks")),
        task_(device_.load_kernel(shaders::task)) {}
  LoweringBench(const LoweringBench&) = delete;
  LoweringBench& operator=(const LoweringBench&) = delete;
  ~LoweringBench() { queue_.wait_idle(); }

  void run() {
    const std::vector<LoweringPoint> points = lowering_points(axes_);
    const PointProgress progress(points.size(), axes_.budget);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const LoweringPoint& point = points[i];
      const TaskGraph tasks = test::make_task_graph(point.shape, point.nodes);
      const std::string what =
          point.shape + ", " + std::to_string(tasks.size()) + " nodes, " + point.kernel.name;
      std::string reason =
          progress.seconds() > axes_.budget ? "--budget is exhausted" : skip_reason(point, tasks);
      if (reason.empty()) {
        progress.show(i, what);
        reason = measure(point, tasks, progress);
        device_.wait_idle();  // frees dropped graphs: no other graph exists during creation
      }
      if (!reason.empty()) report_.skip(what, reason);
    }
  }

 private:
  // One lowering of a point.
  struct Variant {
    std::unique_ptr<LoweredGraphs> lowered;
    Line line;
  };

  [[nodiscard]] std::string skip_reason(const LoweringPoint& point, const TaskGraph& tasks) const {
    if (tasks.size() > kMaxTasks) return "more than " + std::to_string(kMaxTasks) + " nodes";
    if (tasks.size() > 2 * point.nodes)
      return "the shape does not exist with " + std::to_string(point.nodes) + " nodes";
    if (tasks.edges() > kMaxEdges) return std::to_string(tasks.edges()) + " edges";
    // executed sequentially
    const std::uint32_t kernels = point.kernel.fills_gpu ? tasks.size() : tasks.depth();
    return time_skip_reason(1e-3 * point.kernel.spin_ns * kernels);
  }
  [[nodiscard]] std::string time_skip_reason(double replay_us) const {
    const double seconds =
        1e-6 * replay_us * kMinPairs * static_cast<double>(1 + axes_.lowerings.size());
    if (seconds <= 2 * axes_.point_budget) return "";
    return std::to_string(kMinPairs) + " pairs take " +
           std::to_string(static_cast<long>(seconds + 0.5)) + " s: see --point-budget";
  }

  // Returns why the point was not measured; empty if it was.
  [[nodiscard]] std::string measure(const LoweringPoint& point, const TaskGraph& tasks,
                                    const PointProgress& progress) {
    const bool is_traced = std::find(axes_.lowerings.begin(), axes_.lowerings.end(), "traced") !=
                           axes_.lowerings.end();
    // before any raw graph exists
    const std::shared_ptr<const CostProfile> traced =
        is_traced ? traced_costs(point.kernel, tasks) : nullptr;
    const std::uint32_t several = tasks.size() <= kMaxNodesForSeveral ? kSeveralExecutables : 1;
    std::vector<std::unique_ptr<RawTaskGraph>> raw;
    const auto make_raw = [&] {
      raw.push_back(std::make_unique<RawTaskGraph>(raw_desc(point.kernel, tasks)));
      static_cast<void>(stream_.gpu_us(1, [&] { raw.back()->launch(stream_.stream()); }));
    };
    make_raw();
    const double once_us = stream_.gpu_us(1, [&] { raw[0]->launch(stream_.stream()); });
    if (std::string reason = time_skip_reason(once_us); !reason.empty()) return reason;
    raw.clear();

    std::vector<Variant> variants;
    std::vector<std::function<void()>> makers{make_raw};
    for (const std::string& name : axes_.lowerings)
      variants.push_back(make_variant(name, point, tasks, traced));
    for (const Variant& variant : variants)
      makers.emplace_back([lowered = variant.lowered.get()] { lowered->make_one(); });
    make_in_turns(makers, several);
    for (Variant& variant : variants) record_choice(variant);
    std::vector<Contender> contenders(1 + variants.size());
    // Pairs each Reprise executable with each raw one.
    contenders[0].launch = [&](std::uint32_t round) {
      raw[round % several]->launch(stream_.stream());
    };
    for (std::size_t i = 0; i < variants.size(); ++i) {
      contenders[i + 1].launch = [&, i](std::uint32_t round) {
        static_cast<void>(variants[i].lowered->graphs()[round / several % several].launch(queue_));
      };
    }
    std::optional<BusyStream> busy;
    if (!axes_.beside.empty()) {
      const TaskKernel beside = task_kernel(axes_.beside);
      busy.emplace(raw_task_.kernel(), blocks(beside), threads(beside), beside.spin_ns,
                   memory_.data() + kMaxTasks - 1);
    }
    measure_interleaved(stream_, contenders,
                        {.once_us = once_us,
                         .budget = axes_.point_budget,
                         .min_rounds = options_.is_quick() ? 3 : kMinPairs});
    busy.reset();
    for (std::size_t i = 0; i < variants.size(); ++i) {
      variants[i].line.ours = contenders[i + 1].us;
      variants[i].line.peers = contenders[0].us;
    }
    progress.hide();
    for (const Variant& variant : variants) report_.add(variant.line);
    compare_tuned(variants);
    return "";
  }

  [[nodiscard]] RawTaskGraphDesc raw_desc(const TaskKernel& kernel, const TaskGraph& tasks) const {
    return {.tasks = &tasks,
            .kernel = raw_task_.kernel(),
            .blocks = blocks(kernel),
            .threads = threads(kernel),
            .task = kernel,
            .memory = memory_.data()};
  }
  [[nodiscard]] std::uint32_t blocks(const TaskKernel& kernel) const {
    return kernel.fills_gpu ? 2 * device_.info().multiprocessors : kernel.blocks;
  }
  [[nodiscard]] static std::uint32_t threads(const TaskKernel& kernel) {
    if (kernel.fills_gpu) return 1024;
    return kernel.blocks > 1 ? 128 : 32;
  }

  // The cost profile of an earlier run: recorded from Auto replays.
  [[nodiscard]] std::shared_ptr<const CostProfile> traced_costs(const TaskKernel& kernel,
                                                                const TaskGraph& tasks) const {
    static int made = 0;  // a distinct file per instance; an existing one would be appended to
    const std::filesystem::path file =
        std::filesystem::temp_directory_path() /
        ("reprise_bench." + std::to_string(::getpid()) + "." + std::to_string(made++) + ".reprise");
    const std::string target = file.string();
    Instance instance({.application = "reprise_bench",
                       .trace = {.target = target, .profile = ProfileMode::Every}});
    const LoweringBench earlier(instance, options_, report_);
    CapturedGraph graph =
        earlier.device_.compile(earlier.record(tasks, kernel, 0), {.pool = earlier.pool_});
    for (int i = 0; i < kTracedReplays; ++i) graph.launch(earlier.queue_).wait();
    instance.flush_trace();
    auto costs = load_cost_profile(file);
    std::filesystem::remove(file);
    return costs;
  }

  [[nodiscard]] Variant make_variant(const std::string& name, const LoweringPoint& point,
                                     const TaskGraph& tasks,
                                     const std::shared_ptr<const CostProfile>& traced) {
    const TaskKernel& kernel = point.kernel;
    const float least_cost = name == "costs" ? 1e-3F : 0.0F;
    const auto compile =
        [this, commands = std::make_shared<const CommandBuffer>(record(tasks, kernel, least_cost))](
            const CompileDesc& desc) { return device_.compile(*commands, desc); };
    const LoweredGraphsDesc desc = {
        .lowering = name,
        .compile = {.pool = pool_, .costs = name == "traced" ? traced : nullptr},
        .tune = {.contents = TuneDesc::Contents::Repeatable}};
    return {std::make_unique<LoweredGraphs>(desc, compile, queue_, stream_),
            {.what = name + ", " + kernel.name,
             .shape = tasks.name,
             .nodes = tasks.size(),
             .unit = "us",
             .peer = "raw graph",
             .axes = {{"kernel", kernel.name}, {"lowering", name}},
             .goal = goal(name, kernel, tasks)}};
  }

  static void record_choice(Variant& variant) {
    const std::string& lowering = variant.line.axes["lowering"];
    if (lowering == "costs" || lowering == "traced") {
      const CompileReport& report = variant.lowered->graphs()[0].report();
      variant.line.axes["chosen"] =
          report.costs.used ? std::to_string(report.lanes) + " lanes by cost" : "as without costs";
    } else if (!variant.lowered->chosen().empty()) {
      variant.line.axes["chosen"] = variant.lowered->chosen();
    }
  }

  // Checks that tuning makes nothing slower.
  void compare_tuned(const std::vector<Variant>& variants) {
    const auto find = [&](const char* name) {
      return std::find_if(variants.begin(), variants.end(), [&](const Variant& variant) {
        return variant.line.axes.at("lowering") == name;
      });
    };
    const auto tuned = find("tuned"), untuned = find("auto");
    if (tuned == variants.end() || untuned == variants.end()) return;
    Line line = tuned->line;
    line.what = "  tuned vs. auto";
    line.peer = "auto";
    line.peers = untuned->line.ours;
    line.goal = {Goal::Of::Ratio, 1.01};
    report_.add(line);
  }

  // `least_cost`: us, of each dispatch; 0: costs are not declared.
  [[nodiscard]] CommandBuffer record(const TaskGraph& tasks, const TaskKernel& kernel,
                                     float least_cost) const {
    CommandBuffer commands = device_.create_command_buffer({.label = tasks.name});
    commands.begin();
    std::vector<CommandRef> made;
    for (std::uint32_t i = 0; i < tasks.size(); ++i) {
      const std::uint32_t spin_ns = kernel.spin_of(i);
      const float cost =
          least_cost == 0 ? 0 : std::max(1e-3F * static_cast<float>(spin_ns), least_cost);
      const DispatchDesc desc = {.grid = blocks(kernel),
                                 .block = threads(kernel),
                                 .cost = std::chrono::duration<float, std::micro>(cost)};
      made.push_back(commands.dispatch(task_, desc, spin_ns, write(memory_.slice(i, 1))));
      for (const std::uint32_t parent : tasks.parents[i]) commands.edge(made[parent], made[i]);
    }
    commands.end();
    return commands;
  }

  [[nodiscard]] static Goal goal(const std::string& lowering, const TaskKernel& kernel,
                                 const TaskGraph& tasks) {
    if (lowering == "tuned" && tasks.name == "cholesky" && tasks.size() == 816) {
      if (kernel.name == "empty") return {Goal::Of::Ratio, 0.8};
      if (kernel.name == "2us") return {Goal::Of::Ratio, 0.78};
      if (kernel.name == "10us") return {Goal::Of::Ratio, 0.9};
    }
    return {Goal::Of::Ratio, 1.02};
  }

  const Options& options_;
  const LoweringAxes& axes_;
  Report& report_;
  const Device device_;
  const CurrentDevice current_;
  TimedStream stream_;
  RawTask raw_task_;
  Queue queue_;
  std::shared_ptr<CapturePool> pool_;
  GpuRef<float> memory_;
  Kernel task_;
};

}  // namespace

void run_cuda_lowering(const Options& options, Report& report) {
  const Instance instance({.application = "reprise_bench"});
  if (!finds_gpu(instance)) {
    static_cast<void>(lowering_points(options.axes));  // also rejects wrong names in this mode
    return;
  }
  LoweringBench(instance, options, report).run();
}

}  // namespace reprise::bench

#endif  // REPRISE_HAS_CUDA

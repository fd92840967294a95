// Every shape, kernel and size, lowered in every way, beside the raw graph that a person would
// write down.
#ifdef REPRISE_HAS_CUDA

#include <cuda_runtime_api.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
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

constexpr std::uint32_t kLeastPairs = 20;
constexpr std::uint64_t kMostEdges =
    200000;  // more take CUDA longer to instantiate than all else together
constexpr std::uint32_t kSeveralUpTo = 3000;  // nodes; of more one executable is measured
constexpr int kTracedReplays = 20;

// How far a long run is, on stderr: one line that is written anew on a terminal, a line a point
// elsewhere.
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
        memory_(pool_->allocate<float>(kMostTasks, "tasks")),
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
          progress.seconds() > axes_.budget ? "--budget is used up" : reason_against(point, tasks);
      if (reason.empty()) {
        progress.show(i, what);
        reason = measure(point, tasks, progress);
        device_.wait_idle();  // frees what was dropped: no other graph is alive while one is made
      }
      if (!reason.empty()) report_.leave_out(what, reason);
    }
  }

 private:
  // One way of lowering a point.
  struct Way {
    std::unique_ptr<LoweredGraphs> lowered;
    Line line;
  };

  [[nodiscard]] std::string reason_against(const LoweringPoint& point,
                                           const TaskGraph& tasks) const {
    if (tasks.size() > kMostTasks) return "more than " + std::to_string(kMostTasks) + " nodes";
    if (tasks.size() > 2 * point.nodes)
      return "there is no such shape of " + std::to_string(point.nodes) + " nodes";
    if (tasks.edges() > kMostEdges) return std::to_string(tasks.edges()) + " edges";
    const std::uint32_t kernels =
        point.kernel.fills_gpu ? tasks.size() : tasks.depth();  // one after another
    return reason_against_time(1e-3 * point.kernel.spin_ns * kernels);
  }
  [[nodiscard]] std::string reason_against_time(double replay_us) const {
    const double seconds =
        1e-6 * replay_us * kLeastPairs * static_cast<double>(1 + axes_.lowerings.size());
    if (seconds <= 2 * axes_.point_budget) return "";
    return std::to_string(kLeastPairs) + " pairs take " +
           std::to_string(static_cast<long>(seconds + 0.5)) + " s: see --point-budget";
  }

  // Why it was not measured; empty: it was.
  [[nodiscard]] std::string measure(const LoweringPoint& point, const TaskGraph& tasks,
                                    const PointProgress& progress) {
    const bool is_traced = std::find(axes_.lowerings.begin(), axes_.lowerings.end(), "traced") !=
                           axes_.lowerings.end();
    const std::shared_ptr<const CostProfile> traced =
        is_traced ? traced_costs(point.kernel, tasks) : nullptr;  // while no raw graph is there
    const std::uint32_t several = tasks.size() <= kSeveralUpTo ? kSeveralExecutables : 1;
    std::vector<std::unique_ptr<RawTaskGraph>> raw;
    const auto make_raw = [&] {
      raw.push_back(std::make_unique<RawTaskGraph>(raw_desc(point.kernel, tasks)));
      static_cast<void>(stream_.gpu_us(1, [&] { raw.back()->launch(stream_.stream()); }));
    };
    make_raw();
    const double once_us = stream_.gpu_us(1, [&] { raw[0]->launch(stream_.stream()); });
    if (std::string reason = reason_against_time(once_us); !reason.empty()) return reason;
    raw.clear();

    std::vector<Way> ways;
    std::vector<std::function<void()>> makers{make_raw};
    for (const std::string& name : axes_.lowerings)
      ways.push_back(make_way(name, point, tasks, traced));
    for (const Way& way : ways)
      makers.emplace_back([lowered = way.lowered.get()] { lowered->make_one(); });
    make_in_turns(makers, several);
    for (Way& way : ways) note_choice(way);
    std::vector<Contender> contenders(1 + ways.size());
    // Each executable of ours meets each raw one.
    contenders[0].launch = [&](std::uint32_t round) {
      raw[round % several]->launch(stream_.stream());
    };
    for (std::size_t i = 0; i < ways.size(); ++i) {
      contenders[i + 1].launch = [&, i](std::uint32_t round) {
        static_cast<void>(ways[i].lowered->graphs()[round / several % several].launch(queue_));
      };
    }
    take_turns(stream_, contenders,
               {.once_us = once_us,
                .budget = axes_.point_budget,
                .least = options_.is_quick() ? 3 : kLeastPairs});
    for (std::size_t i = 0; i < ways.size(); ++i) {
      ways[i].line.ours = contenders[i + 1].us;
      ways[i].line.peers = contenders[0].us;
    }
    progress.hide();
    for (const Way& way : ways) report_.add(way.line);
    compare_tuned(ways);
    return "";
  }

  [[nodiscard]] RawTaskGraphDesc raw_desc(const TaskKernel& kernel, const TaskGraph& tasks) const {
    return {.tasks = &tasks,
            .kernel = raw_task_.kernel(),
            .blocks = blocks(kernel),
            .threads = threads(kernel),
            .spin_ns = kernel.spin_ns,
            .memory = memory_.data()};
  }
  [[nodiscard]] std::uint32_t blocks(const TaskKernel& kernel) const {
    return kernel.fills_gpu ? 2 * device_.info().multiprocessors : 1;
  }
  [[nodiscard]] static std::uint32_t threads(const TaskKernel& kernel) {
    return kernel.fills_gpu ? 1024 : 32;
  }

  // What a program's earlier run leaves: a trace of replays as Auto makes them.
  [[nodiscard]] std::shared_ptr<const CostProfile> traced_costs(const TaskKernel& kernel,
                                                                const TaskGraph& tasks) const {
    static int made = 0;  // an instance that names the file of an earlier one would go on in it
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

  [[nodiscard]] Way make_way(const std::string& name, const LoweringPoint& point,
                             const TaskGraph& tasks,
                             const std::shared_ptr<const CostProfile>& traced) {
    const TaskKernel& kernel = point.kernel;
    const float cost =
        name == "costs" ? std::max(1e-3F * static_cast<float>(kernel.spin_ns), 1e-3F) : 0.0F;
    const auto compile =
        [this, commands = std::make_shared<const CommandBuffer>(record(tasks, kernel, cost))](
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

  static void note_choice(Way& way) {
    const std::string& lowering = way.line.axes["lowering"];
    if (lowering == "costs" || lowering == "traced") {
      const CompileReport& report = way.lowered->graphs()[0].report();
      way.line.axes["chosen"] =
          report.costs.used ? std::to_string(report.lanes) + " lanes by cost" : "as without costs";
    } else if (!way.lowered->chosen().empty()) {
      way.line.axes["chosen"] = way.lowered->chosen();
    }
  }

  // Tuning must not make anything slower.
  void compare_tuned(const std::vector<Way>& ways) {
    const auto find = [&](const char* name) {
      return std::find_if(ways.begin(), ways.end(),
                          [&](const Way& way) { return way.line.axes.at("lowering") == name; });
    };
    const auto tuned = find("tuned"), untuned = find("auto");
    if (tuned == ways.end() || untuned == ways.end()) return;
    Line line = tuned->line;
    line.what = "  of it over auto";
    line.peer = "auto";
    line.peers = untuned->line.ours;
    line.goal = {Goal::Of::Ratio, 1.01};
    report_.add(line);
  }

  [[nodiscard]] CommandBuffer record(const TaskGraph& tasks, const TaskKernel& kernel,
                                     float cost) const {
    CommandBuffer commands = device_.create_command_buffer({.label = tasks.name});
    commands.begin();
    std::vector<CommandRef> made;
    for (std::uint32_t i = 0; i < tasks.size(); ++i) {
      const DispatchDesc desc = {.grid = blocks(kernel),
                                 .block = threads(kernel),
                                 .cost = std::chrono::duration<float, std::micro>(cost)};
      made.push_back(commands.dispatch(task_, desc, kernel.spin_ns, write(memory_.slice(i, 1))));
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
    static_cast<void>(lowering_points(options.axes));  // a wrong name is one here too
    return;
  }
  LoweringBench(instance, options, report).run();
}

}  // namespace reprise::bench

#endif  // REPRISE_HAS_CUDA

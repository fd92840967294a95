// reprise_bench: the cost of recording, compiling and replaying, by phase, compared with a peer
// that does the same work.
#ifdef REPRISE_HAS_CUDA
#include <cuda_runtime_api.h>
#endif

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <string_view>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <reprise/reprise.hpp>

#include "bench.hpp"
#include "support/task_graphs.hpp"

namespace {

using namespace reprise::bench;

constexpr Bench kBenches[] = {
    {"record", "How much does recording a command cost?", run_record},
    {"compile", "How much does each stage cost per command, and does it scale linearly?",
     run_compile},
    {"counts",
     "What does a graph consist of, and how many allocations does it cost? (counts only, "
     "no times)",
     run_counts},
    {"planning", "How close is memory planning to its lower bound, and how long does it take?",
     run_planning},
    {"host.replay",
     "How much does a node cost on the host device, compared with a oneTBB flow graph?",
     run_host_replay},
    {"host.warps",
     "How much does a reduction by warp functions cost on the host device, compared with shared "
     "memory?",
     run_host_warps},
    {"trace.file", "How much time and space does writing a sample to a trace file cost?",
     run_trace_file},
    {"trace.replays", "How much does tracing slow down host replays with 2 us nodes?",
     run_trace_replays},
#ifdef REPRISE_HAS_VIEWER
    {"layout", "How long does a graph layout take on one core?", run_layout},
    {"model.open", "How soon does a large trace file open, and how much memory does it take?",
     run_model_open},
    {"model.live",
     "How many samples per second can a live session and its viewer process on two cores?",
     run_model_live},
#endif
#ifdef REPRISE_HAS_CUDA
    {"cuda.compile", "How much later than a raw CUDA graph does the first replay end?",
     run_cuda_compile},
    {"cuda.instantiate", "Does the lowered graph instantiate and upload as fast as the raw one?",
     run_cuda_instantiate},
    {"cuda.launch", "How much CPU time does a launch with its exact fence cost?", run_cuda_launch},
    {"cuda.replay",
     "How long does a GPU replay take, Faithful and Auto, compared with the raw graph?",
     run_cuda_replay},
    {"cuda.lowering",
     "Is a replay faster than the raw graph's, by shape, kernel, size and lowering?",
     run_cuda_lowering},
    {"cuda.copies", "Are copies within the GPU as fast as cudaMemcpyAsync?", run_cuda_copies},
    {"cuda.blocks", "Are segments of kernels of many blocks faster than their nodes?",
     run_cuda_blocks},
#ifdef REPRISE_HAS_SAMPLES
    {"cuda.samples",
     "Are the sample programs' graphs faster with --lowering or --tuned than faithful?",
     run_cuda_samples},
    {"cuda.cholesky", "Is the sample cholesky faster than cuSOLVER?", run_cuda_cholesky},
#endif
    {"memory",
     "How much memory and replay time do temporary buffers cost, compared with "
     "cudaMallocAsync nodes?",
     run_memory},
    {"update.scalar", "How much does setting a value between launches cost?", run_update_scalar},
    {"update.graph", "How much does each update method cost, compared with CUDA's own call?",
     run_update_graph},
#ifdef REPRISE_HAS_OPS
    {"ops.gemm",
     "Does a graph of GemmOps replay as fast as the same cuBLAS calls in a captured graph?",
     run_ops_gemm},
    {"ops.fft",
     "Does a graph of FftC2COps replay as fast as the same cuFFT calls in a captured graph?",
     run_ops_fft},
#endif
    {"cuda.promises", "Do replays keep what the README says of them?", run_cuda_promises},
    {"profile.nvtx", "How much do NVTX ranges cost per launch?", run_profile_nvtx},
    {"profile.replays", "How much does timing the start and end of each replay cost?",
     run_profile_replays},
    {"profile.nodes", "How much does timing the nodes of some or all replays cost?",
     run_profile_nodes},
    {"profile.cupti", "How does timing all nodes by CUPTI compare with bare CUPTI?",
     run_profile_cupti},
    {"profile.raw",
     "How long does a raw graph alone take? (run under other tools by tests/bench/profile-table)",
     run_profile_raw},
#endif
};

nlohmann::json machine() {
  nlohmann::json devices = nlohmann::json::array();
  for (const reprise::DeviceInfo& info :
       reprise::Instance({.application = "reprise_bench"}).devices()) {
    devices.push_back({{"selector", info.selector},
                       {"name", info.name},
                       {"driver", info.driver_version},
                       {"multiprocessors", info.multiprocessors},
                       {"memory", info.memory_bytes}});
  }
  nlohmann::json flags = {{"compiler", __VERSION__}};
#ifdef NDEBUG
  flags["assertions"] = false;
#else
  flags["assertions"] = true;
#endif
#ifdef __OPTIMIZE__
  flags["optimised"] = true;
#else
  flags["optimised"] = false;
#endif
#ifdef REPRISE_HAS_CUDA
  flags["cuda"] = true;
#else
  flags["cuda"] = false;
#endif
  nlohmann::json versions = {{"reprise", REPRISE_VERSION}};
#ifdef REPRISE_HAS_CUDA
  versions["cuda_toolkit"] = CUDART_VERSION;
#endif
  return {{"devices", devices}, {"versions", versions}, {"flags", flags}};
}

void print_list() {
  for (const Bench& bench : kBenches) std::printf("%-18s %s\n", bench.name, bench.question);
  std::printf("\nshapes of cuda.lowering and counts:");
  for (const std::string_view name : reprise::test::task_graph_names())
    std::printf(" %.*s", static_cast<int>(name.size()), name.data());
  std::printf(
      "\nkernels: empty, Nus, Nus-full (N microseconds in one block, or in blocks that fill the "
      "GPU)\n");
  std::printf(
      "lowerings: auto, tuned, costs (auto, with the kernels' durations), traced (auto, with costs "
      "from a trace "
      "of replays), faithful, persistent, lanes-K\n");
}

int run(const Options& options) {
  Report report;
  nlohmann::json result = machine();
  for (const auto& device : result["devices"]) {
    std::printf("%s: %s, driver %u\n", device["selector"].get<std::string>().c_str(),
                device["name"].get<std::string>().c_str(), device["driver"].get<unsigned>());
  }
  bool any = false;
  for (const Bench& bench : kBenches) {
    if (std::string_view(bench.name).find(options.filter) == std::string_view::npos) continue;
    any = true;
    report.begin_bench(bench.name, bench.question);
    bench.run(options, report);
  }
  if (!any) {
    std::fprintf(stderr, "reprise_bench: no benchmark name contains '%s'\n",
                 options.filter.c_str());
    return 1;
  }
  const std::uint32_t missed = report.missed_goals();
  const int exit_code = options.check && missed != 0 ? 1 : 0;
  if (exit_code != 0) std::fprintf(stderr, "reprise_bench: %u goals were missed\n", missed);
  if (options.json.empty()) return exit_code;
  result["lines"] = report.to_json();
  result["left_out"] = report.skipped_to_json();
  result["shapes"] = options.axes.shapes;  // in table order
  std::ofstream file(options.json);
  file << result.dump(1) << '\n';
  file.close();
  if (file) return exit_code;
  std::fprintf(stderr, "reprise_bench: cannot write %s\n", options.json.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) try {
  Options options;
  bool list = false, tuned = false;
  CLI::App app("Measure the cost of recording, compiling and replaying graphs.", "reprise_bench");
  app.add_flag_callback(
      "--quick", [&] { options.effort = Options::Effort::Quick; },
      "use small sizes and few samples, to check that everything runs");
  app.add_flag("--check", options.check, "exit with 1 if a result misses its goal");
  app.add_option("--json", options.json, "also write the results to FILE as JSON")
      ->type_name("FILE");
  app.add_option("--filter", options.filter, "run only benchmarks whose name contains NAME")
      ->type_name("NAME");
  app.add_flag_callback(
      "--list", [&] { list = true; },
      "list the benchmarks and the parameters of cuda.lowering, then exit");
  LoweringAxes& axes = options.axes;
  const std::string group = "Parameters of cuda.lowering";
  const auto axis = [&](const char* name, auto& values, const char* text) {
    CLI::Option* option = app.add_option(name, values, text)->delimiter(',')->group(group);
    return values.empty() ? option : option->capture_default_str();
  };
  axis("--shape", axes.shapes, "graph shapes: cholesky, layers-32... (default: all)")
      ->type_name("NAMES");
  axis("--kernel", axes.kernels,
       "kernel of all nodes, in one block, several or (-full) enough to fill the GPU: empty, 10us, "
       "2us-16blocks, 100us-full..., or of mixed durations: mixed, mixed-4blocks")
      ->type_name("NAMES");
  axis("--nodes", axes.nodes, "approximate numbers of nodes")
      ->type_name("NUMBERS")
      ->check(CLI::Range(1u, kMaxTasks));
  axis("--lowering", axes.lowerings,
       "lowerings: auto, nodes (auto without segments), tuned, costs, traced, faithful, "
       "persistent, lanes-16...")
      ->type_name("NAMES");
  app.add_option("--beside", axes.beside,
                 "kernel that a second queue runs all the time; see --kernel")
      ->type_name("NAME")
      ->group(group);
  app.add_flag_callback(
         "--tuned", [&] { tuned = true; }, "also measure tuned graphs")
      ->group(group);
  app.add_option("--budget", axes.budget, "time limit in seconds after which no point starts")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group(group);
  app.add_option("--point-budget", axes.point_budget,
                 "time limit in seconds for a point with wide confidence intervals; measures at "
                 "least 20 pairs")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group(group);
  CLI11_PARSE(app, argc, argv);
  if (list) {
    print_list();
    return 0;
  }
  if (axes.shapes.empty())
    axes.shapes.assign(reprise::test::task_graph_names().begin(),
                       reprise::test::task_graph_names().end());
  if (tuned &&
      std::find(axes.lowerings.begin(), axes.lowerings.end(), "tuned") == axes.lowerings.end())
    axes.lowerings.emplace_back("tuned");
  return run(options);
} catch (const std::exception& error) {
  std::fprintf(stderr, "reprise_bench: %s\n", error.what());
  return 1;
}

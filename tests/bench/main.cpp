// reprise_bench: what recording, compiling and replaying cost, phases apart, a peer that does the
// same work beside each.
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
    {"record", "what does it cost to record a command?", run_record},
    {"compile", "what does each stage cost a command, and does it stay linear?", run_compile},
    {"counts",
     "what does a graph consist of, and how often does making it allocate? No times: for "
     "comparisons",
     run_counts},
    {"planning", "how near does planning of memory come to its bound, and how long does it take?",
     run_planning},
    {"host.replay", "what does a node cost on the host device, beside a bare oneTBB flow graph?",
     run_host_replay},
    {"trace.file", "what does a sample cost on its way to the disk, and there?", run_trace_file},
    {"trace.replays", "what does a trace cost replays on the host device whose nodes take 2 us?",
     run_trace_replays},
#ifdef REPRISE_HAS_VIEWER
    {"layout", "how long does a drawing of a graph take, on one core?", run_layout},
    {"model.open",
     "when is there something to see of a file of many samples, and how much memory does it take?",
     run_model_open},
    {"model.live", "how many samples does a live session and a viewer of it take, on two cores?",
     run_model_live},
#endif
#ifdef REPRISE_HAS_CUDA
    {"cuda.compile", "how much later does the first replay end than with a raw CUDA graph?",
     run_cuda_compile},
    {"cuda.instantiate", "does the lowered graph instantiate and upload as fast as the raw one?",
     run_cuda_instantiate},
    {"cuda.launch", "what does a launch with its exact fence cost the CPU?", run_cuda_launch},
    {"cuda.replay",
     "how long does a replay take on the GPU, Faithful and Auto, beside the raw graph?",
     run_cuda_replay},
    {"cuda.lowering",
     "is a replay of ours faster than of the raw graph, by shape, kernel, size and lowering?",
     run_cuda_lowering},
#ifdef REPRISE_HAS_SAMPLES
    {"cuda.samples",
     "are the graphs of the samples faster lowered than faithful? --lowering and --tuned say which",
     run_cuda_samples},
#endif
    {"memory",
     "how much memory do temporary buffers of a graph take, and a replay of them, beside "
     "cudaMallocAsync nodes?",
     run_memory},
    {"update.scalar", "what does it cost to set a value between launches?", run_update_scalar},
    {"update.graph", "what does each rung of an update cost, beside CUDA's own call?",
     run_update_graph},
#ifdef REPRISE_HAS_OPS
    {"ops.gemm",
     "does a graph of GemmOps replay as fast as the same calls of cuBLAS, captured by hand?",
     run_ops_gemm},
#endif
    {"profile.nvtx", "what do NVTX ranges cost a launch?", run_profile_nvtx},
    {"profile.replays", "what does it cost to know when each replay began and ended?",
     run_profile_replays},
    {"profile.nodes", "what does it cost to time the nodes of some replays, and of all?",
     run_profile_nodes},
    {"profile.cupti", "timing all nodes by CUPTI: how does it compare to bare CUPTI?",
     run_profile_cupti},
    {"profile.raw",
     "how long does a raw graph alone take? For runs under a tool: see bench/profile-table",
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
      "lowerings: auto, tuned, costs (auto, told how long kernels take), traced (told by a trace "
      "of replays), faithful, lanes-K\n");
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
    std::fprintf(stderr, "reprise_bench: no bench has '%s' in its name\n", options.filter.c_str());
    return 1;
  }
  if (options.json.empty()) return 0;
  result["lines"] = report.to_json();
  result["left_out"] = report.left_out_to_json();
  result["shapes"] = options.axes.shapes;  // in the order of tables
  std::ofstream file(options.json);
  file << result.dump(1) << '\n';
  file.close();
  if (file) return 0;
  std::fprintf(stderr, "reprise_bench: cannot write %s\n", options.json.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) try {
  Options options;
  bool list = false, tuned = false;
  CLI::App app("Measures what recording, compiling and replaying cost.", "reprise_bench");
  app.add_flag_callback(
      "--quick", [&] { options.effort = Options::Effort::Quick; }, "small sizes and few samples");
  app.add_option("--json", options.json, "also write the figures to FILE")->type_name("FILE");
  app.add_option("--filter", options.filter, "only benches with NAME in their name")
      ->type_name("NAME");
  app.add_flag_callback(
      "--list", [&] { list = true; },
      "the benches, and what cuda.lowering can vary; measures nothing");
  LoweringAxes& axes = options.axes;
  const std::string group = "Of cuda.lowering";
  const auto axis = [&](const char* name, auto& values, const char* text) {
    CLI::Option* option = app.add_option(name, values, text)->delimiter(',')->group(group);
    return values.empty() ? option : option->capture_default_str();
  };
  axis("--shape", axes.shapes, "cholesky, layers-32... (default: all)")->type_name("NAMES");
  axis("--kernel", axes.kernels,
       "of all nodes, in one block or in as many as fill the GPU: empty, 10us, 100us-full...")
      ->type_name("NAMES");
  axis("--nodes", axes.nodes, "about so many")
      ->type_name("NUMBERS")
      ->check(CLI::Range(1u, kMostTasks));
  axis("--lowering", axes.lowerings, "auto, tuned, costs, traced, faithful, lanes-16...")
      ->type_name("NAMES");
  app.add_flag_callback(
         "--tuned", [&] { tuned = true; }, "tuned ones beside them")
      ->group(group);
  app.add_option("--budget", axes.budget, "seconds; no point is begun later")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group(group);
  app.add_option("--point-budget", axes.point_budget,
                 "seconds for a point whose intervals stay wide; 20 pairs are taken in any case")
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

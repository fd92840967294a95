// Memory planning: the gap between plan and lower bound, and planning time, for lists of lifetimes
// and for transients of graphs shaped like networks.
#include <reprise/memory_plan.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "bench.hpp"
#include "dependencies/dependency_graph.hpp"
#include "lowering/lowered_graph.hpp"
#include "memory/placement.hpp"
#include "support/lifetime_shapes.hpp"
#include "support/network_recordings.hpp"

namespace reprise::bench {

namespace {

using std::chrono::milliseconds;

constexpr std::uint32_t kMany = 28'000;
constexpr double kMaxFastMs = 200, kMaxFastRatio = 1.05, kMaxSearchRatio = 1.01;

double ratio_to_bound(std::uint64_t peak_bytes, std::uint64_t lower_bound) {
  return static_cast<double>(peak_bytes) / static_cast<double>(lower_bound);
}

std::uint32_t samples(const Options& options) { return options.is_quick() ? 1 : 5; }

void report_fast(const Options& options, Report& report, const std::string& shape,
                 const std::vector<BufferLifetime>& buffers) {
  const auto count = static_cast<std::uint32_t>(buffers.size());
  Line time{.what = "fast plan",
            .shape = shape,
            .nodes = count,
            .unit = "ms",
            .goal = {.of = Goal::Of::Median, .at_most = kMaxFastMs}};
  Line ratio{.what = "peak / lower bound", .shape = shape, .nodes = count, .unit = "x"};
  for (std::uint32_t i = 0; i < samples(options); ++i) {
    MemoryPlan plan;
    time.ours.push_back(cpu_ns_of([&] { plan = plan_memory(buffers); }) / 1e6);
    ratio.ours.assign(1, ratio_to_bound(plan.peak_bytes, plan.lower_bound));
  }
  report.add(time);
  report.add(ratio);
}

// For a list whose optimum is its lower bound: the gap after a search, and the time at which it was
// reached.
void report_search(const Options& options, Report& report, std::uint32_t pieces,
                   std::uint32_t removed) {
  const std::string shape = "cut, " + std::to_string(removed) + " % removed";
  Line ratio{.what = "searched peak / lower bound", .shape = shape, .nodes = pieces, .unit = "x"};
  ratio.goal = {.of = Goal::Of::Median, .at_most = kMaxSearchRatio};
  Line time{.what = "time to that peak", .shape = shape, .nodes = pieces, .unit = "ms"};
  for (std::uint64_t seed = 1; seed <= (options.is_quick() ? 1u : 5u); ++seed) {
    const auto buffers =
        test::cut_lifetimes({.seed = seed, .pieces = pieces, .removed_percent = removed});
    const double start = now_ns();
    double found = 0;
    std::uint64_t peak_bytes = ~std::uint64_t{0};
    const auto progress = [&](const MemoryPlanProgress& at) {
      if (at.peak_bytes >= peak_bytes) return;
      peak_bytes = at.peak_bytes;
      found = now_ns() - start;
    };
    const MemoryPlan plan = plan_memory(
        buffers, {.budget = milliseconds(options.is_quick() ? 100 : 5000), .progress = progress});
    ratio.ours.push_back(ratio_to_bound(plan.peak_bytes, plan.lower_bound));
    time.ours.push_back((plan.peak_bytes < peak_bytes ? now_ns() - start : found) / 1e6);
  }
  report.add(ratio);
  report.add(time);
}

void report_graph(const Options& options, Report& report, const char* shape,
                  const test::RecordingPtr& recording) {
  using namespace detail;
  const DependencyGraph dependencies = build_dependencies(*recording);
  const LoweredGraph lowered = build_lowered_graph(dependencies, Lowering::Auto);
  const auto nodes = static_cast<std::uint32_t>(recording->buffers.size());
  Line time{.what = "transient placement",
            .shape = shape,
            .nodes = nodes,
            .unit = "ms",
            .goal = {.of = Goal::Of::Median, .at_most = kMaxFastMs}};
  Line ratio{.what = "slab / lower bound",
             .shape = shape,
             .nodes = nodes,
             .unit = "x",
             .goal = {.of = Goal::Of::Median, .at_most = kMaxFastRatio}};
  for (std::uint32_t i = 0; i < samples(options); ++i) {
    Placement placement;
    time.ours.push_back(
        cpu_ns_of([&] { placement = place_transients(*recording, dependencies, lowered, 256); }) /
        1e6);
    ratio.ours.assign(1, ratio_to_bound(placement.slab_bytes, placement.lower_bound));
  }
  report.add(time);
  report.add(ratio);
}

}  // namespace

void run_planning(const Options& options, Report& report) {
  for (const std::uint32_t buffers : {1000u, kMany}) {
    if (options.is_quick() && buffers == kMany) continue;
    report_fast(options, report, "training steps", test::training_lifetimes(1, buffers / 9));
    report_fast(options, report, "random lifetimes",
                test::random_lifetimes({.seed = 1, .buffers = buffers, .time = buffers}));
  }
  for (const std::uint32_t blocks : {8u, 64u, 512u}) {
    if (options.is_quick() && blocks > 8) continue;
    report_graph(options, report, "mlp", test::mlp_step({.blocks = blocks}));
    report_graph(options, report, "resnet", test::resnet_step({.blocks = blocks}));
    report_graph(options, report, "transformer", test::transformer_step({.blocks = blocks}));
    report_graph(options, report, "unet", test::unet_step({.blocks = blocks}));
  }
  for (const std::uint32_t removed : {0u, 10u, 25u}) {
    for (const std::uint32_t pieces : {200u, 400u}) {
      if (!options.is_quick() || pieces == 200) report_search(options, report, pieces, removed);
    }
  }
}

}  // namespace reprise::bench

// The samples' own graphs, with their own kernels and copies, lowered in every way beside their faithful lowering.
#if defined(REPRISE_HAS_CUDA) && defined(REPRISE_HAS_SAMPLES)

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <reprise/cuda_interop.hpp>
#include <reprise/reprise.hpp>

#include "bench.hpp"
#include "cg/poisson.hpp"
#include "cg/solver.hpp"
#ifdef REPRISE_HAS_OPS
#include "digits/trainer.hpp"
#endif
#include "gpu.hpp"
#include "lowered_graphs.hpp"
#include "photo/pyramid.hpp"
#include "plan/plan.hpp"
#include "run/compile.hpp"
#include "run/graph_core.hpp"
#ifdef REPRISE_HAS_OPS
#include "spectrogram/analysis.hpp"
#endif
#include "turns.hpp"

namespace reprise::bench {

namespace {

struct SampleGraph {
  std::string name;
  std::shared_ptr<const void> sample;  // that made it
  const CapturedGraph* graph = nullptr;
};

#ifdef REPRISE_HAS_OPS
// Rows of images that nobody drew: what the step takes does not depend on them.
digits::DigitSet digit_rows(std::uint32_t rows) {
  digits::DigitSet set;
  for (std::uint32_t i = 0; i < rows * digits::kPixels; ++i) set.pixels.push_back(static_cast<float>(i * 7 % 17) / 16.0F);
  for (std::uint32_t i = 0; i < rows; ++i) set.labels.push_back(i % digits::kClasses);
  return set;
}
#endif

std::vector<SampleGraph> sample_graphs(const Device& device) {
  std::vector<SampleGraph> graphs;
  const auto photo = std::make_shared<photo::Pyramid>(device, photo::Size{640, 427});
  graphs.push_back({"photo", photo, &photo->graph()});
  const auto cg = std::make_shared<cg::Solver>(device, cg::SolverDesc{.size = 128, .max_iterations = 50});
  static_cast<void>(cg->solve_in_graph(cg::right_side(128)));  // what its graph copies in from then on
  graphs.push_back({"cg", cg, &cg->graph()});
#ifdef REPRISE_HAS_OPS
  const digits::DigitSplit split = {.training = digit_rows(1024), .held_out = digit_rows(128)};
  const auto digits = std::make_shared<digits::Trainer>(device, split, digits::Schedule{.total_steps = 1000000});
  graphs.push_back({"digits", digits, &digits->step()});
  const auto spectrogram = std::make_shared<spectrogram::Analysis>(device, spectrogram::Frames{});
  graphs.push_back({"spectrogram", spectrogram, &spectrogram->graph()});
#endif
  return graphs;
}

LoweredGraphs lowered_again(const Device& device, const SampleGraph& sample, const std::string& lowering, const Queue& queue, const TimedStream& stream) {
  const CapturedGraph& graph = *sample.graph;
  const auto compile = [&](const CompileDesc& desc) { return CapturedGraph(detail::compile_checked(device.core(), graph.core()->plan().recording, desc)); };
  return lowered_graphs({.lowering = lowering, .compile = {.pool = graph.pool()}}, compile, queue, stream);
}

void measure(const Device& device, const SampleGraph& sample, const Options& options, Report& report) {
  const TimedStream stream;
  const Queue queue = adopt_queue(device, stream.stream());
  std::vector<LoweredGraphs> ways;
  std::vector<Line> lines;
  ways.push_back(lowered_again(device, sample, "faithful", queue, stream));
  for (const std::string& name : options.axes.lowerings) {
    ways.push_back(lowered_again(device, sample, name, queue, stream));
    Line& line = lines.emplace_back(Line{.what = name, .shape = sample.name, .nodes = ways[0].graphs[0].node_count(), .unit = "us", .peer = "faithful",
                                         .axes = {{"lowering", name}}, .goal = {Goal::Of::Ratio, 1.02}});
    if (!ways.back().chosen.empty()) line.axes["chosen"] = ways.back().chosen;
  }
  // Each executable meets each of the peer's.
  std::vector<Contender> contenders(ways.size());
  for (std::size_t i = 0; i < ways.size(); ++i) {
    contenders[i].launch = [&, i](std::uint32_t round) {
      const std::uint32_t turn = i == 0 ? round : round / kSeveralExecutables;
      static_cast<void>(ways[i].graphs[turn % kSeveralExecutables].launch(queue));
    };
  }
  const double once_us = stream.gpu_us(1, [&] { contenders[0].launch(0); });
  take_turns(stream, contenders, {.once_us = once_us, .budget = options.axes.point_budget, .least = options.is_quick() ? 3u : 20u});
  for (std::size_t i = 0; i < lines.size(); ++i) {
    lines[i].ours = contenders[i + 1].us;
    lines[i].peers = contenders[0].us;
    report.add(lines[i]);
  }
}

}  // namespace

void run_cuda_samples(const Options& options, Report& report) {
  const Instance instance({.application = "reprise_bench"});
  if (!finds_gpu(instance)) return;
  const Device device = instance.open_device(DeviceSelector::named("cuda:0"));
  const CurrentDevice current(device);
  for (const SampleGraph& sample : sample_graphs(device)) measure(device, sample, options, report);
}

}  // namespace reprise::bench

#endif  // REPRISE_HAS_CUDA and REPRISE_HAS_SAMPLES

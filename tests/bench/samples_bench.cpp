// The graphs of the sample programs, with their own kernels and copies, in several lowerings
// compared with the faithful one.
#if defined(REPRISE_HAS_CUDA) && defined(REPRISE_HAS_SAMPLES)

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <reprise/cuda_interop.hpp>
#include <reprise/reprise.hpp>

#include "base/handle_access.hpp"
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
#include "runtime/graph/compile_graph.hpp"
#include "runtime/graph/compiled_graph.hpp"
#ifdef REPRISE_HAS_OPS
#include "spectrogram/analysis.hpp"
#endif
#include "turns.hpp"

namespace reprise::bench {

namespace {

struct SampleGraph {
  std::string name;
  std::shared_ptr<const void> sample;  // keeps the sample alive
  const CapturedGraph* graph = nullptr;
};

#ifdef REPRISE_HAS_OPS
// Rows of synthetic images; the duration of a step does not depend on their content.
digits::DigitSet digit_rows(std::uint32_t rows) {
  digits::DigitSet set;
  for (std::uint32_t i = 0; i < rows * digits::kPixels; ++i)
    set.pixels.push_back(static_cast<float>(i * 7 % 17) / 16.0F);
  for (std::uint32_t i = 0; i < rows; ++i) set.labels.push_back(i % digits::kClasses);
  return set;
}
#endif

std::vector<SampleGraph> sample_graphs(const Device& device) {
  std::vector<SampleGraph> graphs;
  const auto photo = std::make_shared<photo::Pyramid>(device, photo::Size{640, 427});
  graphs.push_back({"photo", photo, &photo->graph()});
  for (const std::uint32_t size : {128u, 32u}) {
    const auto cg =
        std::make_shared<cg::Solver>(device, cg::SolverDesc{.size = size, .max_iterations = 50});
    // copied in by the graph
    static_cast<void>(cg->solve_in_graph(cg::right_side(size)));
    graphs.push_back({size == 128 ? "cg" : "cg of 32 x 32", cg, &cg->graph()});
  }
#ifdef REPRISE_HAS_OPS
  const digits::DigitSplit split = {.training = digit_rows(1024), .held_out = digit_rows(128)};
  const auto digits = std::make_shared<digits::Trainer>(
      device, split, digits::TrainingSchedule{.total_steps = 1000000},
      Communicator::from_environment(device));
  graphs.push_back({"digits", digits, &digits->step()});
  const auto spectrogram = std::make_shared<spectrogram::Analysis>(device, spectrogram::Frames{});
  graphs.push_back({"spectrogram", spectrogram, &spectrogram->graph()});
#endif
  return graphs;
}

void measure(const Device& device, const SampleGraph& sample, const Options& options,
             Report& report) {
  const TimedStream stream;
  const Queue queue = from_native(device, stream.stream());
  const auto compile = [&](const CompileDesc& desc) {
    return detail::make_handle<CapturedGraph>(detail::compile_checked(
        detail::core_of(device), detail::core_of(*sample.graph)->plan().recording, desc));
  };
  std::vector<std::string> names{"faithful"};
  names.insert(names.end(), options.axes.lowerings.begin(), options.axes.lowerings.end());
  std::vector<std::unique_ptr<LoweredGraphs>> ways;
  std::vector<std::function<void()>> makers;
  for (const std::string& name : names) {
    ways.push_back(std::make_unique<LoweredGraphs>(
        LoweredGraphsDesc{.lowering = name, .compile = {.pool = sample.graph->pool()}}, compile,
        queue, stream));
    makers.emplace_back([way = ways.back().get()] { way->make_one(); });
  }
  make_in_turns(makers, kSeveralExecutables);
  // Pairs each executable with each of the peer's.
  std::vector<Contender> contenders(ways.size());
  for (std::size_t i = 0; i < ways.size(); ++i) {
    contenders[i].launch = [&, i](std::uint32_t round) {
      const std::uint32_t turn = i == 0 ? round : round / kSeveralExecutables;
      static_cast<void>(ways[i]->graphs()[turn % kSeveralExecutables].launch(queue));
    };
  }
  const double once_us = stream.gpu_us(1, [&] { contenders[0].launch(0); });
  measure_interleaved(stream, contenders,
                      {.once_us = once_us,
                       .budget = options.axes.point_budget,
                       .min_rounds = options.is_quick() ? 3u : 20u});
  for (std::size_t i = 1; i < ways.size(); ++i) {
    Line line = {.what = names[i],
                 .shape = sample.name,
                 .nodes = ways[i]->graphs()[0].node_count(),
                 .unit = "us",
                 .peer = "faithful",
                 .axes = {{"lowering", names[i]}},
                 .goal = {Goal::Of::Ratio, 1.02},
                 .ours = contenders[i].us,
                 .peers = contenders[0].us};
    if (!ways[i]->chosen().empty()) line.axes["chosen"] = ways[i]->chosen();
    report.add(line);
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

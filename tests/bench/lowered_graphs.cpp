#ifdef REPRISE_HAS_CUDA

#include "lowered_graphs.hpp"

#include <unistd.h>

#include <filesystem>

#include "lowering_points.hpp"

namespace reprise::bench {

LoweredGraphs lowered_graphs(const LoweredGraphsDesc& desc, const std::function<CapturedGraph(const CompileDesc&)>& compile, const Queue& queue,
                             const TimedStream& stream) {
  CompileDesc as = desc.compile;
  as.lowering = lowering_of(desc.lowering);
  LoweredGraphs made;
  made.graphs.push_back(compile(as));
  if (desc.lowering == "tuned") {
    const TuneReport tuned = made.graphs[0].tune(queue, desc.tune);
    made.chosen = tuned.candidates[tuned.chosen].name;
    if (tuned.has_changed()) {
      as.tuning_file = std::filesystem::temp_directory_path() / ("reprise_bench." + std::to_string(::getpid()) + ".tuning.json");
      made.graphs[0].save_tuning(as.tuning_file);
    }
  }
  while (made.graphs.size() < desc.several) made.graphs.push_back(compile(as));
  if (!as.tuning_file.empty()) std::filesystem::remove(as.tuning_file);
  for (CapturedGraph& graph : made.graphs) static_cast<void>(stream.gpu_us(1, [&] { static_cast<void>(graph.launch(queue)); }));
  return made;
}

}  // namespace reprise::bench

#endif  // REPRISE_HAS_CUDA

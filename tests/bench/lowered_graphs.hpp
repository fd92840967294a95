// Executables of one graph, lowered in a way that an axis names. Threads: one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <reprise/reprise.hpp>

#include "profiled_graph.hpp"

namespace reprise::bench {

// CUDA instantiates some graphs in two speeds, whoever made them: so many executables are measured in turns.
inline constexpr std::uint32_t kSeveralExecutables = 3;

struct LoweredGraphsDesc {
  std::string lowering;  // as lowering_of() takes it
  std::uint32_t several = kSeveralExecutables;
  CompileDesc compile = {};
  TuneDesc tune = {};    // where lowering is "tuned"
};

struct LoweredGraphs {
  std::vector<CapturedGraph> graphs;
  std::string chosen;  // by tune(); empty: it was not asked
};

// "tuned": the first is, and the others are compiled with what it was tuned to. Each was launched once.
[[nodiscard]] LoweredGraphs lowered_graphs(const LoweredGraphsDesc& desc, const std::function<CapturedGraph(const CompileDesc&)>& compile,
                                           const Queue& queue, const TimedStream& stream);

}  // namespace reprise::bench

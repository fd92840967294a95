// What cuda.lowering measures, from its axes. Threads: values and pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <reprise/types.hpp>

#include "bench.hpp"

namespace reprise::bench {

// What every node of a graph runs: a kernel that takes so long, in one block of one warp or in
// blocks that fill the GPU.
struct TaskKernel {
  std::string name;  // "10us-full"
  std::uint32_t spin_ns = 0;
  bool fills_gpu = false;
};

struct LoweringPoint {
  std::string shape;
  TaskKernel kernel;
  std::uint32_t nodes = 0;  // asked for
};

// Throws std::invalid_argument where an axis names what there is not. In turns through the shapes,
// each time with another kernel and size, so that the first of them are from all parts of the grid.
[[nodiscard]] std::vector<LoweringPoint> lowering_points(const LoweringAxes& axes);

// "auto", "tuned", "costs" and "traced" are Auto. Throws std::invalid_argument.
[[nodiscard]] Lowering lowering_of(const std::string& name);

}  // namespace reprise::bench

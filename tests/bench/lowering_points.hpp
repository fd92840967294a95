// The points that cuda.lowering measures, from its parameters. Threads: values and pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <reprise/types.hpp>

#include "bench.hpp"

namespace reprise::bench {

// The kernel of every node: its duration, and whether it runs in one single-warp block or in blocks
// that fill the GPU.
struct TaskKernel {
  std::string name;  // "10us-full"
  std::uint32_t spin_ns = 0;
  bool fills_gpu = false;
};

struct LoweringPoint {
  std::string shape;
  TaskKernel kernel;
  std::uint32_t nodes = 0;  // requested
};

// Throws std::invalid_argument for an unknown name. Cycles through the shapes, with another kernel
// and size each time, so any prefix covers the whole grid.
[[nodiscard]] std::vector<LoweringPoint> lowering_points(const LoweringAxes& axes);

// "auto", "tuned", "costs" and "traced" map to Auto. Throws std::invalid_argument.
[[nodiscard]] Lowering lowering_of(const std::string& name);

}  // namespace reprise::bench

// The points that cuda.lowering measures, from its parameters. Threads: values and pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <reprise/types.hpp>

#include "bench.hpp"

namespace reprise::bench {

// The kernel of every node: its duration and its blocks. One block has one warp; several have 128
// threads each, and blocks that fill the GPU 1,024.
struct TaskKernel {
  std::string name;  // "10us", "10us-16blocks", "10us-full", "mixed"
  std::uint32_t spin_ns = 0;
  bool fills_gpu = false;
  bool is_mixed = false;  // durations from 0.5 to 50 us, most of them short; spin_ns is the longest
  std::uint32_t blocks = 1;

  [[nodiscard]] std::uint32_t spin_of(std::uint32_t node) const;
};

// The kernel with this name. Throws std::invalid_argument.
[[nodiscard]] TaskKernel task_kernel(const std::string& name);

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

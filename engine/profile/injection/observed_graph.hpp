// ObservedGraph: a CUDA graph of a program that knows nothing of us, as plain values: what a trace
// can be told of it. Knows no driver, so that what is made of it can be tested anywhere. Threads:
// values.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/forward_order.hpp"
#include "trace/records.hpp"

namespace reprise::detail {

// Outermost first.
using ScopePath = std::vector<std::string>;

// A kernel as the driver knows it.
struct ObservedKernel {
  std::string full_name;  // mangled
  std::uint32_t registers = 0, static_shared_bytes = 0;
};

// Memory that a node reads or writes.
struct ObservedAccess {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;  // 0: to the end of the allocation that it points into
  trace::Access access = trace::Access::ReadWrite;
  // A word among a kernel's parameters that may be an address: it counts only where it points into
  // a known allocation.
  enum class Origin : std::uint8_t { Stated, Guessed } origin = Origin::Stated;
};

struct ObservedNode {
  trace::NodeKind kind = trace::NodeKind::Other;
  std::string name;                     // of what is no kernel
  std::uint32_t kernel = trace::kNone;  // in ObservedGraph::kernels
  std::uint32_t grid[3] = {0, 0, 0}, block[3] = {0, 0, 0};
  std::uint32_t shared_bytes = 0;
  std::uint64_t bytes = 0;
  std::vector<ObservedAccess> touches;
  std::uint64_t allocates = 0;             // the address of `bytes`; 0: nothing
  std::shared_ptr<const ScopePath> scope;  // that it was captured in; null: none
  std::uint64_t handle = 0;                // of the node that updates name; 0: none
  // The profiler's number of the node within its executable, where it is known beforehand.
  std::uint32_t number = trace::kNone;
  enum class Recorded : std::uint8_t {
    Never,
    EachReplay,
    Sometimes
  } recorded = Recorded::Never;  // by the profiler
  enum class Enabled : std::uint8_t { Yes, No } enabled = Enabled::Yes;
};

struct ObservedGraph {
  std::vector<ObservedKernel> kernels;
  std::vector<ObservedNode> nodes;  // topological; child graphs and bodies are opened
  std::vector<DirectedEdge> edges;  // from < to; by to, then from; each once
  std::string complaint;            // what could not be read; empty: nothing
};

}  // namespace reprise::detail

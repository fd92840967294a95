// ObservedGraph: a CUDA graph of an observed program as plain values, with the facts that a trace
// contains. Knows nothing about the driver, so its consumers can be tested without one. Threads:
// values.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/forward_order.hpp"
#include "injection/call_stack.hpp"
#include "injection/nccl_calls.hpp"
#include "trace/records.hpp"

namespace reprise::detail {

// Outermost scope first.
using ScopePath = std::vector<std::string>;
// The scopes of nodes in child graphs and bodies of conditional nodes: these and a number.
inline constexpr std::string_view kChildGraphScope = "child graph ", kBodyScope = "body ";

// The launches of a graph by threads with one call stack.
struct LaunchCount {
  const CallFrame* stack = nullptr;
  std::uint64_t launches = 0;
};

// The open NVTX ranges, NCCL calls and call stack of the creating thread when it created a node.
// Null: none.
struct NodeOrigin {
  std::shared_ptr<const ScopePath> scope = nullptr;
  std::shared_ptr<const NcclOperations> operations = nullptr;
  const CallFrame* stack = nullptr;  // the innermost frame, which lives until the process ends
  [[nodiscard]] bool is_known() const { return scope || operations || stack != nullptr; }
};

// A kernel as the driver describes it.
struct ObservedKernel {
  std::string full_name;  // mangled
  std::uint32_t registers = 0, static_shared_bytes = 0;
};

// Memory that a node reads or writes.
struct ObservedAccess {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;  // 0: to the end of the allocation that contains the address
  trace::Access access = trace::Access::ReadWrite;
  // Guessed: a word among a kernel's parameters that may be an address; it counts only if it is
  // inside a known allocation.
  enum class Origin : std::uint8_t { Stated, Guessed } origin = Origin::Stated;
};

struct ObservedNode {
  trace::NodeKind kind = trace::NodeKind::Other;
  std::string name;                     // of nodes other than kernels
  std::uint32_t kernel = trace::kNone;  // index in ObservedGraph::kernels
  std::uint32_t grid[3] = {0, 0, 0}, block[3] = {0, 0, 0};
  std::uint32_t shared_bytes = 0;
  std::uint64_t bytes = 0;
  std::vector<ObservedAccess> accesses;
  std::uint64_t allocates = 0;  // address of the allocated memory; 0: none
  NodeOrigin origin;
  std::uint64_t handle = 0;  // CUDA's node handle for updates; 0: none
  // The profiler's node number within the executable, if it is known in advance.
  std::uint32_t number = trace::kNone;
  enum class Recorded : std::uint8_t {
    Never,
    EachReplay,
    Sometimes
  } recorded = Recorded::Never;  // whether the profiler records the node
  enum class Enabled : std::uint8_t { Yes, No } enabled = Enabled::Yes;
};

// Every graph has one version: a CUDA executable keeps its nodes and their order.
inline constexpr std::uint32_t kObservedVersion = 1;

struct ObservedGraph {
  std::vector<ObservedKernel> kernels;
  std::vector<ObservedNode> nodes;  // topological; child graphs and bodies are inlined
  std::vector<DirectedEdge> edges;  // from < to; sorted by to, then from; distinct
  std::string error;                // first failed call; empty: none
};

}  // namespace reprise::detail

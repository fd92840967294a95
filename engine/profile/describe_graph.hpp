// describe_graph: converts a plan to a self-contained trace record. Knows nothing about devices and
// files. Threads: a pure function.
#pragma once

#include <cstdint>
#include <span>

#include "plan/plan.hpp"
#include "trace/records.hpp"

namespace reprise::detail {

// The session's ids of a buffer of the recording.
struct BufferIdentity {
  std::uint32_t buffer = trace::kNone, pool = trace::kNone;
  enum class Memory : std::uint8_t { Ours, Adopted } memory = Memory::Ours;
};

struct GraphIdentity {
  std::uint32_t graph = 0, version = 1, device = 0;
  trace::Time compiled = 0, compile_time = 0, instantiate_time = 0;
  std::span<const BufferIdentity> buffers = {};  // one per element of recording.buffers
};

// Nodes are in lowered order. Edges: first every required edge with its cause, including those that
// the lane order implies, then the edges that the lowering added.
[[nodiscard]] trace::GraphVersion describe_graph(const Plan& plan, const GraphIdentity& identity);

}  // namespace reprise::detail

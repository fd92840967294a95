// describe_graph: a plan as the trace tells it, so that a viewer needs nothing else. Knows no
// device and no file. Threads: a pure function.
#pragma once

#include <cstdint>
#include <span>

#include "plan/plan.hpp"
#include "trace/records.hpp"

namespace reprise::detail {

// Who a buffer of the recording is in the session.
struct BufferIdentity {
  std::uint32_t buffer = trace::kNone, pool = trace::kNone;
  enum class Memory : std::uint8_t { Ours, Adopted } memory = Memory::Ours;
};

struct GraphIdentity {
  std::uint32_t graph = 0, version = 1, device = 0;
  trace::Time compiled = 0, compile_time = 0, instantiate_time = 0;
  std::span<const BufferIdentity> buffers = {};  // one for each of recording.buffers
};

// Nodes in lowered order. Edges: every needed one with its cause, also where the order of lanes
// implies it, then those that the lowering added.
[[nodiscard]] trace::GraphVersion describe_graph(const Plan& plan, const GraphIdentity& identity);

}  // namespace reprise::detail

// Writes a CUDA graph of the program as text (format: tests/injection/recorded_program.hpp). Calls
// the driver; the caller must hold no lock. Threads: any, while no thread changes the graph.
#pragma once

#include <cupti.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "injection/driver_calls.hpp"
#include "injection/recorder/call_log.hpp"
#include "profile/activity/cupti_library.hpp"

namespace reprise::test {

class NodeText {
 public:
  using Bodies = std::function<std::vector<CUgraph>(CUgraphNode)>;  // of a conditional node
  NodeText(const detail::DriverCalls& driver, const detail::CuptiLibrary& cupti, CallLog& log,
           Bodies bodies)
      : driver_(driver), cupti_(cupti), log_(log), bodies_(std::move(bodies)) {}

  // Lines of child graphs and bodies first, then of the graph, its nodes and its edges; each starts
  // with `thread`.
  [[nodiscard]] std::string graph(CUgraph graph, const std::string& thread) const;
  [[nodiscard]] std::string kernel(const CUDA_KERNEL_NODE_PARAMS& parameters) const;
  [[nodiscard]] static std::string copy(const CUDA_MEMCPY3D& parameters);
  [[nodiscard]] static std::string fill(const CUDA_MEMSET_NODE_PARAMS& parameters);

 private:
  [[nodiscard]] std::string node(CUgraphNode node, const std::string& thread,
                                 std::string& before) const;

  const detail::DriverCalls& driver_;
  const detail::CuptiLibrary& cupti_;
  CallLog& log_;
  const Bodies bodies_;
};

}  // namespace reprise::test

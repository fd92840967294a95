// PlayedProgram: a program with simulated calls, which ProgramCallbacks observes. Threads: one.
#pragma once

#include <doctest/doctest.h>

#include "injection/hand_made_cupti.hpp"
#include "injection/hand_made_driver.hpp"
#include "injection/played_calls.hpp"
#include "injection/program_callbacks.hpp"
#include "injection/traced.hpp"

namespace reprise::test {

class PlayedProgram : public PlayedCalls {
 public:
  enum class LaunchStacks : std::uint8_t { Unread, Read };
  explicit PlayedProgram(LaunchStacks reads_launches = LaunchStacks::Unread)
      : PlayedCalls([this](CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
          callbacks_.take(domain, id, data);
        }),
        driver_(hand_made_driver()),
        callbacks_(program, {&cupti_.library(), [this] { return load(); }, [this] { ++contexts; },
                             [this] { return stack; }, reads_launches == LaunchStacks::Read}) {}

  void instantiate(HandMadeGraph& graph) const { PlayedCalls::instantiate(graph, exec); }
  void launch(Outcome outcome = {}) const {
    call(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, launch_parameters(), outcome);
  }
  [[nodiscard]] cuGraphLaunch_params launch_parameters() const {
    return {exec, reinterpret_cast<CUstream>(0x7000000)};
  }
  // A conditional node is added, which has this body.
  void make_body(HandMadeNode& node, HandMadeGraph& body) const {
    CUgraphNode made = handle_of<CUgraphNode>(node);
    CUgraph bodies[] = {handle_of<CUgraph>(body)};
    CUgraphNodeParams parameters = {};
    parameters.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    parameters.conditional.size = 1;
    parameters.conditional.phGraph_out = bodies;
    call(CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode_v2,
         cuGraphAddNode_v2_params{&made, nullptr, nullptr, nullptr, 0, &parameters});
  }
  trace::GraphVersion only_version() {
    const auto versions = all<trace::GraphVersion>(collected(program));
    REQUIRE(versions.size() == 1);
    return versions[0];
  }
  // As it is described when the program ends.
  trace::GraphVersion last_version() {
    const auto versions =
        all<trace::GraphVersion>(collected(program, detail::ObservedExec::Outstanding::Complete));
    REQUIRE(versions.size() == 1);
    return versions[0];
  }

  detail::ObservedProgram program;
  CUgraphExec exec = reinterpret_cast<CUgraphExec>(0xe0e0e0);
  int contexts = 0;
  const detail::CallFrame* stack = nullptr;  // of the calling thread
  const char* no_driver = nullptr;
  detail::ProgramCallbacks& callbacks() { return callbacks_; }

 private:
  detail::DriverCalls::Loaded load() const {
    if (no_driver != nullptr) return {nullptr, no_driver};
    return {&driver_, {}};
  }
  HandMadeCupti cupti_;
  const detail::DriverCalls driver_;
  detail::ProgramCallbacks callbacks_;
};

inline HandMadeNode kernel_node(HandMadeKernel& kernel, std::uint64_t id,
                                void** parameters = nullptr) {
  HandMadeNode node;
  node.type = CU_GRAPH_NODE_TYPE_KERNEL;
  node.kernel.func = handle_of<CUfunction>(kernel);
  node.kernel.gridDimX = 4, node.kernel.gridDimY = node.kernel.gridDimZ = 1;
  node.kernel.blockDimX = 128, node.kernel.blockDimY = node.kernel.blockDimZ = 1;
  node.kernel.kernelParams = parameters;
  node.profiler_id = id;
  return node;
}

inline std::string name_of(const trace::GraphVersion& version, std::size_t node) {
  return version.strings[version.nodes[node].name];
}
inline std::string label_of(const trace::GraphVersion& version, std::size_t node) {
  return version.strings[version.labels[version.nodes[node].label].name];
}

}  // namespace reprise::test

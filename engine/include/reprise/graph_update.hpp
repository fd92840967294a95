// Updates of a compiled graph between replays: methods, options, reports and scalar slots. An
// update never affects queued replays. Must not depend on native headers. Threads: values;
// GraphScalar is safe from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <reprise/buffer.hpp>
#include <reprise/fwd.hpp>

namespace reprise::inline REPRISE_ABI {

// Result of an update in place. The enumerators are those of cudaGraphExecUpdateResult; the host
// device applies CUDA's documented rules.
enum class GraphExecUpdateOutcome : std::uint8_t {
  Success,
  Error,                      // another failure; see UpdateReport::native_code
  TopologyChanged,            // different nodes or edges
  NodeTypeChanged,            // a command has a different kind, or a copy another node
  FunctionChanged,            // a different kernel, with drivers before CUDA 11.2
  ParametersChanged,          // parameters that are fixed: pitched copies, kind of memory
  NotSupported,               // the node cannot be updated
  UnsupportedFunctionChange,  // a different kernel that cannot replace the previous one
  AttributesChanged           // cooperative launch or cluster
};
[[nodiscard]] REPRISE_API std::string_view to_string(GraphExecUpdateOutcome outcome) noexcept;

// Methods of an update, in increasing order of cost.
enum class UpdateMethod : std::uint8_t {
  Unchanged,      // no difference, or no method was allowed to apply it
  Nodes,          // each differing node is set (cudaGraphExec*NodeSetParams)
  WholeGraph,     // all nodes are set at once (cudaGraphExecUpdate)
  Reinstantiated  // a new executable replaces the old one (cudaGraphInstantiateWithParams)
};
[[nodiscard]] REPRISE_API std::string_view to_string(UpdateMethod method) noexcept;

// The methods that an update may use, from the cheapest to the most expensive. If `last` does not
// suffice, the graph is unchanged and the report gives the reason.
struct UpdateDesc {
  UpdateMethod first = UpdateMethod::Nodes;
  UpdateMethod last = UpdateMethod::Reinstantiated;
};

// The result of an update. An update can fail without an exception: check done() if UpdateDesc
// excludes methods.
struct [[nodiscard]] UpdateReport {
  UpdateMethod method = UpdateMethod::Unchanged;
  GraphExecUpdateOutcome outcome = GraphExecUpdateOutcome::Success;  // of the last update in place
  std::uint32_t nodes = 0;                                           // set by this update
  std::chrono::nanoseconds time{0};                                  // duration of the update
  std::int64_t native_code = 0;  // result of the native call that refused; 0: none
  std::string native_name = {};  // its name, "cudaErrorGraphExecUpdateFailure"
  // Why a cheaper method did not suffice: a command of the new recording and, if the difference is
  // an edge, the source of that edge.
  std::optional<std::uint32_t> command = {}, edge_from = {};
  std::string reason = {};  // as text

  // True if the graph has the requested state.
  [[nodiscard]] bool done() const noexcept {
    return outcome == GraphExecUpdateOutcome::Success || method == UpdateMethod::Reinstantiated;
  }
};

// A whole persistent buffer of a recording, and its replacement in a graph.
struct BufferBinding {
  BufferView recorded;  // as recorded, regardless of earlier bindings
  BufferView buffer;    // same kind, at least as large, aligned as the recorded one
};

}  // namespace reprise::inline REPRISE_ABI

namespace reprise::detail {
class CompiledGraph;
REPRISE_API void check_scalar(const std::shared_ptr<CompiledGraph>& graph, std::uint32_t scalar,
                              const ValueType& type);
REPRISE_API std::uint32_t set_scalar(const std::shared_ptr<CompiledGraph>& graph,
                                     std::uint32_t scalar, const void* value);
}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

// A scalar slot of one graph, from CapturedGraph::scalar. Keeps the graph alive. Sets of one graph
// take its mutex.
template <class T>
class GraphScalar {
 public:
  GraphScalar() = default;
  [[nodiscard]] explicit operator bool() const noexcept { return graph_ != nullptr; }

  // Sets the value for launches after the call; queued replays keep their value. Returns the number
  // of nodes that were set, 0 if the value is unchanged. Throws NotInitialized for an empty handle,
  // InvalidState if an update of the graph removed the slot and in a host callback, StaleHandle,
  // DeviceLost.
  std::uint32_t set(const T& value) { return detail::set_scalar(graph_, scalar_, &value); }

 private:
  friend class CapturedGraph;
  GraphScalar(std::shared_ptr<detail::CompiledGraph> graph, std::uint32_t scalar)
      : graph_(std::move(graph)), scalar_(scalar) {
    detail::check_scalar(graph_, scalar_, detail::value_type<T>);
  }

  std::shared_ptr<detail::CompiledGraph> graph_;
  std::uint32_t scalar_ = 0;
};

}  // namespace reprise::inline REPRISE_ABI

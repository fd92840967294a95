// Changing a compiled graph between replays: the ladder of ways to do it, cheapest first, and the
// report of what was done. Replays that are queued already are never touched by an update. Knows no
// native header. Threads: values.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <reprise/buffer.hpp>

namespace reprise {

class CapturedGraph;
class CommandBuffer;

// What an update in place came to. CUDA's own words (cudaGraphExecUpdateResult); the host device
// means the same by them.
enum class GraphExecUpdateOutcome : std::uint8_t {
  Success,
  Error,              // another failure: see the native code
  TopologyChanged,    // other nodes, or other edges
  NodeTypeChanged,    // a command became one of another kind
  FunctionChanged,    // another kernel, which drivers before CUDA 11.2 do not take
  ParametersChanged,  // parameters that can't change in place: pitched copies, other kinds of
                      // memory
  NotSupported,       // something about the node can't be updated at all
  UnsupportedFunctionChange,  // another kernel of a kind that can't take the place of the one
                              // before
  AttributesChanged           // cooperative, cluster
};
[[nodiscard]] std::string_view to_string(GraphExecUpdateOutcome outcome) noexcept;

// How far an update went. Each rung costs more than the one before.
enum class UpdateMethod : std::uint8_t {
  Unchanged,      // nothing was different, or nothing was done
  Nodes,          // the nodes that are different, one by one
  WholeGraph,     // all nodes of the executable at once (cudaGraphExecUpdate)
  Reinstantiated  // a new executable in the place of the old one
};
[[nodiscard]] std::string_view to_string(UpdateMethod method) noexcept;

// Which rungs an update may take. Where `last` does not do, nothing is changed and the report says
// what stood in the way.
struct UpdateDesc {
  UpdateMethod first = UpdateMethod::Nodes;
  UpdateMethod last = UpdateMethod::Reinstantiated;
};

struct UpdateReport {
  static constexpr std::uint32_t kNone = 0xffffffffu;

  UpdateMethod method = UpdateMethod::Unchanged;
  GraphExecUpdateOutcome outcome = GraphExecUpdateOutcome::Success;  // of the last try in place
  std::uint32_t nodes = 0;                                           // that were set anew
  std::chrono::nanoseconds time{0};                                  // of all of it
  std::int64_t native_code = 0;  // of the call that refused; 0: none did
  std::string native_name = {};
  // What kept the update from a cheaper rung: a command of the new recording, and where it is an
  // edge into it, the command that this is from.
  std::uint32_t command = kNone, edge_from = kNone;
  std::string reason = {};  // in plain words; empty where nothing did

  // The graph is now as was asked for.
  [[nodiscard]] bool done() const noexcept {
    return outcome == GraphExecUpdateOutcome::Success || method == UpdateMethod::Reinstantiated;
  }
};

// One persistent buffer of a recording, whole, and what a graph is to use in its place.
struct BufferBinding {
  BufferView recorded;  // as the commands name it, whatever is bound to it now
  BufferView buffer;    // of the same kind, at least as long, aligned as the recorded one
};

namespace detail {
class CompiledGraph;
void check_scalar(const CompiledGraph& graph, std::uint32_t scalar, std::uint64_t bytes);
std::uint32_t set_scalar(CompiledGraph& graph, std::uint32_t scalar, const void* value);
}  // namespace detail

// One scalar slot of one graph, found once by its name. Keeps the graph alive. Threads: any; sets
// of one graph take its mutex.
template <class T>
class GraphScalar {
 public:
  GraphScalar() = default;
  GraphScalar(std::shared_ptr<detail::CompiledGraph> graph, std::uint32_t scalar)
      : graph_(std::move(graph)), scalar_(scalar) {
    detail::check_scalar(*graph_, scalar_, sizeof(T));
  }
  [[nodiscard]] explicit operator bool() const noexcept { return graph_ != nullptr; }

  // From the next launch on; replays that are queued keep the value that they were launched with.
  // Returns how many nodes were set: none where the value is the same. Throws StaleHandle,
  // DeviceLost, InvalidState where an update of the whole graph took the slot away.
  std::uint32_t set(const T& value) const { return detail::set_scalar(*graph_, scalar_, &value); }

 private:
  std::shared_ptr<detail::CompiledGraph> graph_;
  std::uint32_t scalar_ = 0;
};

// CapturedGraph::exec_update, as a free function.
UpdateReport exec_update(CapturedGraph& graph, const CommandBuffer& commands);

}  // namespace reprise

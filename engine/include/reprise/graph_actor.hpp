// GraphActor: a thread that records scripts of ops into graphs and launches graphs, for as many
// clients as there are: messages in, futures out. GraphHandle: a graph with everything that it
// needs, in a value that threads may pass around. Threads: every call may come from any thread.
#pragma once

#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <reprise/captured_graph.hpp>
#include <reprise/device.hpp>
#include <reprise/graph_op.hpp>
#include <reprise/queue.hpp>

namespace reprise {

namespace detail {
class GraphActorCore;
}

// A graph that several threads share; its own calls are safe from any of them.
using SendGraph = std::shared_ptr<CapturedGraph>;

class GraphHandle {
 public:
  GraphHandle() = default;
  // Of any graph: compiled, captured or adopted. Throws InvalidArgument for an empty one.
  [[nodiscard]] static GraphHandle from_graph(CapturedGraph graph);

  [[nodiscard]] explicit operator bool() const noexcept { return graph_ != nullptr; }
  [[nodiscard]] const SendGraph& graph() const noexcept { return graph_; }  // null: an empty handle
  [[nodiscard]] std::uint32_t generation() const noexcept {
    return generation_;
  }  // the device's, when the graph was made

 private:
  GraphHandle(SendGraph graph, std::uint32_t generation) noexcept
      : graph_(std::move(graph)), generation_(generation) {}
  SendGraph graph_;
  std::uint32_t generation_ = 0;
};

// Ops in the order in which they are recorded; what they declare orders them when they run.
using GraphScript = std::vector<std::shared_ptr<const GraphOp>>;

struct GraphScriptDesc {
  std::string label = "script";
  Ordering ordering = Ordering::Inferred;
  Lowering lowering = Lowering::Auto;
  std::shared_ptr<CapturePool> pool = nullptr;  // held by the graph
};

// What an actor is asked. The reply is what the future gives, or the error that it throws.
struct GraphMsg {
  struct Record {
    GraphScript script;
    GraphScriptDesc desc = {};
    std::promise<GraphHandle> reply = {};
  };
  struct Launch {
    GraphHandle handle;
    std::promise<std::uint64_t> reply = {};  // the number of the replay, once the queue has done it
  };
  GraphMsg(Record record)
      : what(std::move(record)) {
  }  // NOLINT(google-explicit-constructor): a message is one or the other
  GraphMsg(Launch launch) : what(std::move(launch)) {}  // NOLINT(google-explicit-constructor)

  std::variant<Record, Launch> what;
};

// Messages are handled one after another in the order in which they came; a launch does not hold up
// those behind it. A message that fails leaves the actor as it was.
class GraphActor {
 public:
  // Launches go to `queue`. Throws NotInitialized for an empty device or queue, WrongDevice for a
  // queue of another device.
  GraphActor(const Device& device, const Queue& queue);
  GraphActor(const GraphActor&) = delete;
  GraphActor& operator=(const GraphActor&) = delete;
  ~GraphActor();  // shuts down

  // Throws InvalidState after shutdown().
  void send(GraphMsg message);
  // The future throws what an op throws, what Recorder::add and Device::compile do, InvalidArgument
  // for a null op.
  [[nodiscard]] std::future<GraphHandle> record(GraphScript script,
                                                const GraphScriptDesc& desc = {});
  // The future is there when the queue has done the replay, and throws what CapturedGraph::launch
  // and Fence::wait do: StaleHandle for a handle of an earlier generation of its device.
  [[nodiscard]] std::future<std::uint64_t> launch(GraphHandle handle);
  // Refuses messages from now on and returns when those that came before are done, their launches
  // too. Again does nothing.
  void shutdown();

 private:
  std::unique_ptr<detail::GraphActorCore> core_;
};

}  // namespace reprise

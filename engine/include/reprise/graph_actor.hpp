// GraphActor: a thread that records scripts of ops into graphs and launches graphs for any number
// of clients, by messages and futures. GraphHandle: a shared graph that threads can pass around.
// Threads: all calls are safe from any thread.
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

namespace reprise::detail {
class GraphActorCore;
}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

// A graph that several threads share.
using SendGraph = std::shared_ptr<CapturedGraph>;

class REPRISE_API GraphHandle {
 public:
  GraphHandle() = default;
  // Wraps a compiled, captured or adopted graph. Throws NotInitialized for an empty one.
  [[nodiscard]] static GraphHandle from_graph(CapturedGraph graph);

  [[nodiscard]] explicit operator bool() const noexcept { return graph_ != nullptr; }
  [[nodiscard]] const SendGraph& graph() const noexcept { return graph_; }  // null: an empty handle
  // The device's generation when the graph was created.
  [[nodiscard]] std::uint32_t generation() const noexcept { return generation_; }

 private:
  GraphHandle(SendGraph graph, std::uint32_t generation) noexcept
      : graph_(std::move(graph)), generation_(generation) {}
  SendGraph graph_;
  std::uint32_t generation_ = 0;
};

// Ops in recorded order. Their declared accesses determine the order of execution.
using GraphScript = std::vector<std::shared_ptr<const GraphOp>>;

struct GraphScriptDesc {
  std::string label = "script";
  Ordering ordering = Ordering::Inferred;
  Lowering lowering = Lowering::Auto;
  std::shared_ptr<CapturePool> pool = nullptr;  // held by the graph
};

// A request to an actor. The actor sets each promise to the result or to the exception.
struct GraphMsg {
  struct Record {
    GraphScript script;
    GraphScriptDesc desc = {};
    std::promise<GraphHandle> reply = {};
  };
  struct Launch {
    GraphHandle handle;
    std::promise<std::uint64_t> reply = {};  // number of the replay, set after its completion
  };
  GraphMsg(Record record)
      : what(std::move(record)) {}  // NOLINT(google-explicit-constructor): a message is one of both
  GraphMsg(Launch launch) : what(std::move(launch)) {}  // NOLINT(google-explicit-constructor)

  std::variant<Record, Launch> what;
};

// Handles messages one at a time, in the order of their arrival. A launch does not delay later
// messages until its completion. A failed message leaves the actor unchanged.
class REPRISE_API GraphActor {
 public:
  // Launches go to `queue`. Throws NotInitialized for an empty device or queue, WrongDevice for a
  // queue of another device.
  GraphActor(const Device& device, const Queue& queue);
  GraphActor(const GraphActor&) = delete;
  GraphActor& operator=(const GraphActor&) = delete;
  ~GraphActor();  // waits as shutdown(); not in a host callback

  // Throws InvalidState after shutdown().
  void send(GraphMsg message);
  // Records and compiles a script. The future throws what the ops, Recorder::add and
  // Device::compile throw, InvalidArgument for a null op.
  [[nodiscard]] std::future<GraphHandle> record(GraphScript script,
                                                const GraphScriptDesc& desc = {});
  // Launches a graph. The future becomes ready after the replay has completed, with its number, and
  // throws what CapturedGraph::launch and Fence::wait throw: NotInitialized for an empty handle,
  // StaleHandle for a handle of an earlier generation of its device.
  [[nodiscard]] std::future<std::uint64_t> launch(GraphHandle handle);
  // Refuses new messages, and returns after all earlier messages and their launches have completed.
  // Repeated calls have no effect. Throws InvalidState in a host callback.
  void shutdown();

 private:
  std::shared_ptr<detail::GraphActorCore> core_;
};

}  // namespace reprise::inline REPRISE_ABI

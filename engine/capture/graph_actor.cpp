#include <reprise/graph_actor.hpp>

#include <exception>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

#include "base/background_thread.hpp"
#include "base/creator_process.hpp"
#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "capture/mailbox.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/graph/compiled_graph.hpp"
#include "runtime/queue/queue_core.hpp"

namespace reprise::detail {

class GraphActorCore {
 public:
  GraphActorCore(const Device& device, const Queue& queue) : device_(device), queue_(queue) {
    completer_ = start_background_thread("reprise-wait", [this] { complete(); });
    try {
      worker_ = start_background_thread("reprise-actor", [this] { work(); });
    } catch (...) {
      launched_.close();
      completer_.join();
      throw;
    }
  }
  GraphActorCore(const GraphActorCore&) = delete;
  GraphActorCore& operator=(const GraphActorCore&) = delete;
  ~GraphActorCore() { shutdown(); }

  [[nodiscard]] bool put(GraphMsg&& message) { return inbox_.put(std::move(message)); }

  void shutdown() {
    const std::lock_guard lock(joining_);
    if (!worker_.joinable()) return;
    inbox_.close();
    worker_.join();
    launched_.close();
    completer_.join();
  }

 private:
  struct Launched {
    Fence fence;
    GraphMsg::Launch launch;  // retains the graph until its replay has completed
  };

  // Runs `action` and passes its exception to `reply`. No reference to the exception remains here.
  template <class Reply, class Act>
  static void reply_with(Reply& reply, Act&& action) {
    if (std::exception_ptr thrown = exception_of(action)) reply.set_exception(std::move(thrown));
  }

  void work() {
    while (std::optional<GraphMsg> message = inbox_.take()) {
      std::visit([this](auto& request) { reply_with(request.reply, [&] { handle(request); }); },
                 message->what);
    }
  }

  void handle(GraphMsg::Record& record) {
    CommandBuffer commands = device_.create_command_buffer(
        {.label = record.desc.label, .ordering = record.desc.ordering});
    commands.begin();
    for (const auto& op : record.script) commands.add(op);
    commands.end();
    record.reply.set_value(GraphHandle::from_graph(device_.compile(
        commands,
        {.pool = record.desc.pool, .lowering = record.desc.lowering, .label = record.desc.label})));
  }

  void handle(GraphMsg::Launch& launch) {
    if (!launch.handle) fail_empty("GraphHandle", "GraphActor::launch", Stage::Launch);
    const CompiledGraph& graph = *detail::core_of(*launch.handle.graph());
    if (launch.handle.generation() != graph.device()->generation()) {
      fail(ErrorCode::StaleHandle, Stage::Launch, graph.label(),
           concat("the handle of graph ", graph.label(), " has generation ",
                  launch.handle.generation(), " of its device, whose current generation is ",
                  graph.device()->generation(), "; record the graph again"));
    }
    std::list<Launched> launched(1);  // allocated while nothing has been launched yet
    launched.front().fence = launch.handle.graph()->launch(queue_);
    launched.front().launch = std::move(launch);
    static_cast<void>(launched_.put(launched));  // open until the worker thread has ended
  }

  void complete() {
    while (std::optional<Launched> launched = launched_.take()) {
      std::promise<std::uint64_t>& reply = launched->launch.reply;
      reply_with(reply, [&] {
        launched->fence.wait();
        reply.set_value(launched->fence.replay().value());
      });
    }
  }

  const Device device_;
  const Queue queue_;
  Mailbox<GraphMsg> inbox_;
  Mailbox<Launched> launched_;
  std::mutex joining_;
  std::thread worker_, completer_;
};

}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

GraphHandle GraphHandle::from_graph(CapturedGraph graph) {
  if (!graph)
    detail::fail(ErrorCode::NotInitialized, Stage::Launch, "",
                 "GraphHandle::from_graph got an empty CapturedGraph");
  const std::uint32_t generation = detail::core_of(graph)->current_plan()->recording->generation;
  return {std::make_shared<CapturedGraph>(std::move(graph)), generation};
}

GraphActor::GraphActor(const Device& device, const Queue& queue) {
  if (!device) detail::fail_empty("Device", "GraphActor", Stage::Open);
  if (!queue) detail::fail_empty("Queue", "GraphActor", Stage::Open);
  if (detail::core_of(queue)->device() != detail::core_of(device)) {
    detail::fail(ErrorCode::WrongDevice, Stage::Open, queue.label(),
                 detail::concat("a GraphActor of ", device.info().selector, " got queue ",
                                queue.label(), " of ",
                                name_beside(*detail::core_of(queue)->device()->status(),
                                            *detail::core_of(device)->status())));
  }
  core_ = detail::make_thread_owner<detail::GraphActorCore>(device, queue);
}

GraphActor::~GraphActor() = default;

void GraphActor::send(GraphMsg message) {
  if (core_->put(std::move(message))) return;
  detail::fail(ErrorCode::InvalidState, Stage::Launch, "",
               "the GraphActor was shut down; create a new one");
}

std::future<GraphHandle> GraphActor::record(GraphScript script, const GraphScriptDesc& desc) {
  GraphMsg::Record message{std::move(script), desc};
  std::future<GraphHandle> reply = message.reply.get_future();
  send(std::move(message));
  return reply;
}

std::future<std::uint64_t> GraphActor::launch(GraphHandle handle) {
  GraphMsg::Launch message{std::move(handle)};
  std::future<std::uint64_t> reply = message.reply.get_future();
  send(std::move(message));
  return reply;
}

void GraphActor::shutdown() {
  detail::require_outside_callback("GraphActor", "shutdown", Stage::Wait, "");
  core_->shutdown();
}

}  // namespace reprise::inline REPRISE_ABI

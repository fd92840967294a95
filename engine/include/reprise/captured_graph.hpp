// CapturedGraph: a compiled, instantiated command buffer that is replayed with launch().
// Threads: every call may come from any thread; launches of one graph take its mutex, uncontended
// in ordinary use.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/command_buffer.hpp>
#include <reprise/cost_profile.hpp>
#include <reprise/dot.hpp>
#include <reprise/graph_update.hpp>
#include <reprise/memory_goal.hpp>
#include <reprise/message.hpp>
#include <reprise/pool.hpp>
#include <reprise/queue.hpp>
#include <reprise/trace.hpp>
#include <reprise/tuning.hpp>
#include <reprise/types.hpp>

namespace reprise {

namespace detail {
class CompiledGraph;
}

struct CompileDesc {
  // Held by the graph. Transients of any pool are placed in the graph's slab, which
  // PoolDesc::sharing of this pool makes the graph's own or shared.
  std::shared_ptr<CapturePool> pool = nullptr;
  Lowering lowering = Lowering::Auto;
  std::string_view label = {};  // empty: the command buffer's
  // Replays of one recording that run at once, on several queues: so many executables, each with
  // transients, scalar slots, staged bytes and copies of PerReplica buffers of its own. A recording
  // that writes anything else that outlives a replay is refused (NotPerReplica).
  std::uint32_t replicas = 1;
  // What CapturedGraph::save_tuning() wrote: a graph with the same plan on a device of the same
  // name is lowered as it was tuned, which then counts more than `lowering`. A file that is not
  // there, or says nothing of this graph, is no error. Empty: none.
  std::filesystem::path tuning_file = {};
  // What an earlier run measured of a graph with this label, for Lowering::Auto:
  // load_cost_profile("run.reprise"). Counts more than hints of dispatches. Commands are found by
  // label path, kernel or name, and work; those that are not there are told of ("costs-unmatched").
  // Throws InvalidArgument where there is no graph of this label, or none of its commands is of
  // this recording. An update goes by them too. Null: none.
  std::shared_ptr<const CostProfile> costs = nullptr;
  // Fewer bytes of transients for less concurrency: report().memory_price says what that cost.
  // Another than Speed adds edges, which Lowering::Faithful refuses (InvalidArgument).
  MemoryGoal memory_goal = MemoryGoal::Speed;
  // Time for a search, where quick ways have not placed transients in slab_lower_bound bytes. 0:
  // none, and the same plan on every run.
  std::chrono::nanoseconds memory_search_budget = std::chrono::nanoseconds(0);
};

struct LaunchDesc {
  static constexpr std::uint32_t kAny = 0xffffffffu;
  // Which instance replays. kAny: the one that the queue's last launch of the graph took; else one
  // that has nothing to do; else the one that was launched longest ago, whose replay this one waits
  // for.
  std::uint32_t instance = kAny;
};

// What compiling found and decided.
struct CompileReport {
  std::vector<Message> messages;   // warnings and infos, in command order
  std::uint32_t commands = 0;      // recorded
  std::uint32_t nodes = 0;         // of the graph, frame included
  std::uint32_t needed_edges = 0;  // after transitive reduction
  std::uint32_t redundant_edges_left =
      0;                          // needed edges that others imply (only above 20,000 commands)
  std::uint32_t added_edges = 0;  // lane and frame edges
  std::uint32_t replicas = 1;     // compiled
  std::uint32_t lanes = 0;        // 0: Faithful
  bool entry_exit = false;        // a kernel before several roots, one after many leaves, or both
  std::uint64_t transient_bytes = 0;   // sum of transient buffers
  std::uint64_t slab_bytes = 0;        // planned, for each instance
  std::uint64_t slab_lower_bound = 0;  // no placement can be smaller
  CostsReport costs;                   // what was known of how long commands take
  MemoryTradeoff
      memory_tradeoff;  // what the memory goal gave up, and for how much; of Speed only its name
  std::uint64_t plan_hash = 0;  // the same for the same recording on every run
  std::uint64_t lowering_hash = 0;
};

// What a loop of the graph did in the replay that ran last.
struct LoopReport {
  std::string name;              // "while go: iteration"
  std::uint32_t command = 0;     // of the command buffer: the loop, or what it is inside of
  std::uint64_t iterations = 0;  // of a loop inside another: of all its runs together
  bool reached_limit = false;    // it ran as often as .max_iterations allows
};

class CapturedGraph {
 public:
  CapturedGraph() = default;
  explicit CapturedGraph(std::shared_ptr<detail::CompiledGraph> core) noexcept
      : core_(std::move(core)) {}
  CapturedGraph(const CapturedGraph&) = delete;
  CapturedGraph& operator=(const CapturedGraph&) = delete;
  CapturedGraph(CapturedGraph&&) noexcept = default;
  CapturedGraph& operator=(CapturedGraph&&) noexcept = default;
  // Dropping a graph never blocks: what its pending launches use is freed after they have
  // completed.

  [[nodiscard]] explicit operator bool() const noexcept { return core_ != nullptr; }

  // Starts one replay on `queue`, after everything launched there before. Throws WrongDevice,
  // StaleHandle, CapturingStream, DeviceLost; OutOfRange for an instance that there is not,
  // InvalidState for one that was taken out of use.
  Fence launch(const Queue& queue, const LaunchDesc& desc = {});
  // Moves what a first launch would have to move; again is a no-op.
  void upload(const Queue& queue);
  // How closely replays of this graph are looked at, until Instance::set_profile says otherwise.
  // Nothing where there is no trace.
  void set_profile(ProfileMode mode);

  // Updates. Each holds from the next launch on, of whatever executable the graph has; replays that
  // are queued already keep what they were launched with. They wait for no replay. They reach every
  // instance; one that can't follow the first is taken out of use, with a warning
  // ("instance-left-out"), and instances() is one less.
  // The slot that dispatches were given with slot(name, value). Throws InvalidArgument where there
  // is none, ArgumentSize.
  template <class T>
  [[nodiscard]] GraphScalar<T> scalar(std::string_view name) {
    return GraphScalar<T>(core_, find_scalar(name));
  }
  // Other buffers in the place of recorded ones; sets only the nodes of those that are not bound so
  // already. All or none. Throws Overlap where two buffers would share bytes that are written,
  // Unsupported where a host callback uses the buffer, OutOfRange, StaleHandle...
  UpdateReport rebind(std::span<const BufferBinding> bindings, const UpdateDesc& desc = {});
  UpdateReport rebind(const BufferView& recorded, const BufferView& buffer,
                      const UpdateDesc& desc = {});
  // A disabled command does nothing in later replays; what was ordered by it stays ordered.
  // Dispatches, copies, fills and updates (else Unsupported), of the recording that the graph has
  // now, or of what its commands run, wherever that runs (else InvalidArgument).
  void disable(CommandRef command);
  void enable(CommandRef command);
  [[nodiscard]] bool is_enabled(CommandRef command) const;
  // Makes this the graph of another recording, or of the same command buffer recorded anew: by the
  // cheapest rung that does. Slots have the new recording's first values, buffers are as it names
  // them, all commands are enabled. Throws what compile() throws; then nothing changed.
  UpdateReport update(const CommandBuffer& commands, const UpdateDesc& desc = {});
  // update() by cudaGraphExecUpdate or not at all: where the outcome is not Success, nothing has
  // changed.
  UpdateReport exec_update(const CommandBuffer& commands);

  // Measures other lowerings of the graph on `queue`, beside replays of it as it is, and makes it
  // the fastest one where that is faster beyond doubt. Replays that are queued, num_replays() and
  // traces are not touched; launches may go on meanwhile and wait their turn. With
  // Contents::Restored nobody else may use the graph's buffers meanwhile. Throws Unsupported for
  // host callbacks, whose effects can't be undone, and for graphs of the application; OutOfMemory
  // where contents can't be saved; a lowering that lacks memory, or needs more of it for transients
  // than a MemoryGoal other than Speed left, is passed over.
  TuneReport tune(const Queue& queue, const TuneDesc& desc = {});
  // Adds what this graph was tuned to to a file, which CompileDesc::tuning_file reads, in the place
  // of what was there for its plan. Throws InvalidState where it was not tuned, or stayed what it
  // was; InvalidArgument for a file that is none of these; NativeFailure.
  void save_tuning(const std::filesystem::path& path) const;

  [[nodiscard]] std::uint64_t num_replays()
      const noexcept;  // successful launches, of all instances
  [[nodiscard]] std::uint32_t replicas()
      const noexcept;  // that launches may take; 0 for an empty graph
  [[nodiscard]] bool is_uploaded() const noexcept;
  [[nodiscard]] std::size_t pool_buffer_count()
      const noexcept;  // buffers that this graph keeps alive
  [[nodiscard]] bool has_pool() const noexcept;
  [[nodiscard]] std::shared_ptr<CapturePool> pool() const noexcept;  // null without
  // Every loop, in recorded order, each before those inside it. Wait for the replay's fence first:
  // of one that runs, it tells how far it is.
  [[nodiscard]] std::vector<LoopReport> loops() const;
  [[nodiscard]] std::uint32_t node_count() const noexcept;
  [[nodiscard]] std::string_view label() const noexcept;
  // Of the compile or of the last update, which another thread may replace meanwhile; empty for an
  // empty graph.
  [[nodiscard]] CompileReport report() const;

  [[nodiscard]] std::string to_dot(const DotOptions& options = {}) const;
  // Writes to_dot() to a file; throws Error naming the path.
  void export_dot(const std::filesystem::path& path, const DotOptions& options = {}) const;
  // The plan as stable text: nodes, edges with causes, placements.
  [[nodiscard]] std::string to_text() const;

  [[nodiscard]] const std::shared_ptr<detail::CompiledGraph>& core() const noexcept {
    return core_;
  }

 private:
  [[nodiscard]] std::uint32_t find_scalar(std::string_view name) const;
  std::shared_ptr<detail::CompiledGraph> core_;
};

}  // namespace reprise

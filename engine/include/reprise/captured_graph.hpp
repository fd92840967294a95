// CapturedGraph: a compiled and instantiated command buffer, which launch() replays. Threads: all
// calls are safe from any thread. Launches of one graph take its mutex, because a CUDA executable
// graph is not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
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
#include <reprise/inspection.hpp>
#include <reprise/memory_goal.hpp>
#include <reprise/message.hpp>
#include <reprise/pool.hpp>
#include <reprise/queue.hpp>
#include <reprise/trace.hpp>
#include <reprise/tuning.hpp>
#include <reprise/types.hpp>

namespace reprise::detail {
class CompiledGraph;
}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

struct CompileDesc {
  // A pool that the graph holds, and whose budget limits its slab. PoolDesc::sharing of this pool
  // decides whether graphs share the slab. Transients may come from any pool.
  std::shared_ptr<CapturePool> pool = nullptr;
  Lowering lowering = Lowering::Auto;
  std::string_view label = {};  // empty: the label of the command buffer
  // Number of executables, whose replays can run at once on several queues. Each replica has its
  // own transients, scalar slots, staged bytes and copies of PerReplica buffers. A recording that
  // writes other memory that outlives a replay is refused (NotPerReplica).
  std::uint32_t replicas = 1;  // 1 to 1024
  // A file that CapturedGraph::save_tuning() wrote. If it has an entry for this plan on a device
  // of this name, that lowering overrides `lowering`, except for its fault markers. Updates that
  // need another lowering read the file again. A missing file or entry is not an error; an entry
  // with segments is one without Lowering::segments (InvalidArgument). Empty: no file.
  std::filesystem::path tuning_file = {};
  // Costs that an earlier run measured for a graph with this label, for Lowering::Auto: for
  // example load_cost_profile("run.reprise"). Overrides DispatchDesc::cost. Commands are matched by
  // label path, kernel or name, and work; the message "costs-unmatched" reports others. Updates use
  // the profile as well. InvalidArgument is thrown if the profile has no graph with this label, or
  // if no command of it matches. Null: none.
  std::shared_ptr<const CostProfile> costs = nullptr;
  // Trades concurrency for a smaller slab; CompileReport::memory_tradeoff reports the result. Goals
  // other than Speed add edges, which Lowering::Faithful and Persistent refuse (InvalidArgument).
  MemoryGoal memory_goal = MemoryGoal::Speed;
  // Time limit of a search that runs if the fast placements exceed slab_lower_bound. 0: no search;
  // the plan is then the same in every run.
  std::chrono::nanoseconds memory_search_budget = std::chrono::nanoseconds(0);
};

struct LaunchDesc {
  // Index of the replica to launch. Default: the replica of the queue's previous launch of this
  // graph, otherwise an idle one, otherwise the one launched longest ago, whose replay the launch
  // then waits for. Of a graph with collectives: the one launched longest ago, as on all ranks.
  std::optional<std::uint32_t> replica = {};
};

// The segments of Lowering::Persistent, or those that Auto or tune() chose.
struct SegmentsReport {
  std::uint32_t segments = 0;  // kernels that run the commands below
  std::uint32_t commands = 0;  // in segments
  std::uint32_t items = 0;     // parts of commands
  std::uint32_t lists = 0;     // resident blocks of the largest segment
  struct LeftOut {
    std::uint32_t command = 0;  // index in the command buffer
    std::string reason;
  };
  std::vector<LeftOut> left_out;  // commands that stay nodes
  // Dispatches of several blocks in segments, and what their kernels' PTX shows.
  struct Footprint {
    std::uint32_t command = 0;
    // Why blocks wait for all blocks of this command, and its blocks for all of others; empty: the
    // bytes that each block accesses are known.
    std::string problem;
  };
  std::vector<Footprint> footprints;
  // Pairs of commands of which a block of the later one waits for some blocks of the earlier one.
  std::uint32_t relations = 0;
};

// The results of compiling.
struct CompileReport {
  std::vector<Message> messages;   // warnings and remarks, in command order
  std::uint32_t commands = 0;      // recorded
  std::uint32_t nodes = 0;         // including entry and exit kernels
  std::uint32_t needed_edges = 0;  // after transitive reduction
  // Needed edges that others imply. The reduction is exact up to 20,000 commands.
  std::uint32_t redundant_edges_left = 0;
  std::uint32_t added_edges = 0;      // by lanes, entry and exit kernels and the memory goal
  std::uint32_t replicas = 1;         // compiled
  std::uint32_t lanes = 0;            // 0: unlimited
  bool entry_exit = false;            // has an entry kernel, an exit kernel, or both
  SegmentsReport segments;            // empty without segments
  std::uint64_t transient_bytes = 0;  // sum of the sizes of transients
  std::uint64_t slab_bytes = 0;       // size of the slab of one replica
  // No placement for these edges is smaller. More edges, from fewer lanes or another MemoryGoal,
  // can lower the bound.
  std::uint64_t slab_lower_bound = 0;
  CostsReport costs;               // sources of the command costs
  MemoryTradeoff memory_tradeoff;  // effect of CompileDesc::memory_goal
  std::uint64_t plan_hash = 0;     // of everything before lowering; equal recordings, equal hash
  std::uint64_t lowering_hash = 0;
};

// A loop of the graph in the most recent replay.
struct LoopReport {
  std::string name;              // "while go: iteration"
  std::uint32_t command = 0;     // index in the command buffer of the loop or its outermost parent
  std::uint64_t iterations = 0;  // of a nested loop: the total of all its executions
  bool reached_limit = false;    // WhileDesc::max_iterations ended the loop
};

// A move-only handle to a graph. Members of an empty handle throw NotInitialized, unless they are
// noexcept. Members that use the device throw StaleHandle after it was lost or shut down, and
// InvalidState in a host callback: launch, upload, tune, loops and all updates. Destroying a graph
// never blocks: objects that its pending launches use are freed after these launches have
// completed.
class REPRISE_API CapturedGraph {
 public:
  CapturedGraph() = default;
  CapturedGraph(const CapturedGraph&) = delete;
  CapturedGraph& operator=(const CapturedGraph&) = delete;
  CapturedGraph(CapturedGraph&&) noexcept = default;
  CapturedGraph& operator=(CapturedGraph&&) noexcept = default;
  [[nodiscard]] explicit operator bool() const noexcept { return core_ != nullptr; }

  // Starts one replay on `queue`, after all earlier launches there. Returns without waiting;
  // allocates nothing. Throws WrongDevice, StaleHandle, CapturingStream, DeviceLost, OutOfRange for
  // a replica that does not exist, InvalidState for one that was retired.
  Fence launch(const Queue& queue, const LaunchDesc& desc = {});
  // Transfers the executable to the device, which the first launch would otherwise do, and waits
  // until it is there (cudaGraphUpload). Further calls have no effect. Throws as launch().
  void upload(const Queue& queue);
  // Sets the profile mode of this graph, until the next Instance::set_profile. No effect without a
  // trace.
  void set_profile(ProfileMode mode);

  // Updates affect launches after the call; queued replays keep their values. They wait for no
  // replay. They apply to all replicas. A replica that cannot follow replica 0 is retired with the
  // warning "replica-left-out", and replicas() decreases. With collectives, update() then throws
  // InvalidState instead of the warning.

  // The scalar slot that dispatches declare with slot(name, value). Throws InvalidArgument if no
  // command has such a slot, ArgumentType if its type is not T.
  template <class T>
  [[nodiscard]] GraphScalar<T> scalar(std::string_view name) {
    return GraphScalar<T>(core_, find_scalar(name));
  }
  // Replaces buffers of the recording by others. Sets only nodes whose buffer changes. Applies all
  // bindings or none. Throws Overlap if two buffers would share bytes that are written, Unsupported
  // if a host callback uses the buffer, InvalidArgument if no command uses it, OutOfRange if the
  // new buffer is smaller, NotPerReplica, WrongDevice, StaleHandle.
  UpdateReport rebind(std::span<const BufferBinding> bindings, const UpdateDesc& desc = {});
  UpdateReport rebind(std::initializer_list<BufferBinding> bindings, const UpdateDesc& desc = {}) {
    return rebind(std::span(bindings.begin(), bindings.size()), desc);
  }
  UpdateReport rebind(const BufferView& recorded, const BufferView& buffer,
                      const UpdateDesc& desc = {});
  // A disabled command has no effect in later replays; commands that were ordered through it stay
  // ordered. `command` is a dispatch, copy, fill or update (otherwise Unsupported) of the graph's
  // current recording or of a secondary that it executes (otherwise InvalidArgument); of a
  // secondary that is executed several times, inlined or not, all copies are disabled and enabled.
  void disable(CommandRef command);
  void enable(CommandRef command);
  [[nodiscard]] bool is_enabled(CommandRef command) const;
  // Changes the graph to another recording, or to the same command buffer recorded again, by the
  // cheapest method that suffices. Scalar slots get the values of the new recording, bindings are
  // reset, and all commands are enabled. Throws as Device::compile, and then changes nothing; only
  // if another rank failed (RankLost), this rank's graph may have changed.
  UpdateReport update(const CommandBuffer& commands, const UpdateDesc& desc = {});
  // update() by UpdateMethod::WholeGraph (cudaGraphExecUpdate) only, or Unchanged if nothing
  // differs. The graph is unchanged unless the outcome is Success.
  UpdateReport exec_update(const CommandBuffer& commands);

  // Measures other lowerings in alternation with the current one on `queue`, and replaces the
  // lowering by the fastest if it is significantly faster. Does not affect queued replays,
  // replay_count() or traces. Concurrent launches are allowed and wait. With Contents::Restored,
  // nothing else may use the graph's buffers during the call. Candidates that need more memory than
  // is available, or more than a memory goal other than Speed achieved, are skipped. Throws
  // Unsupported for host callbacks, whose effects cannot be undone, for adopted graphs, and for
  // more than one replica: tune a graph of the same recording with one, save_tuning() it, and
  // compile with that CompileDesc::tuning_file. Throws OutOfMemory if contents cannot be saved. Of
  // a graph with collectives, a collective call: all ranks measure the same candidates, and the
  // first rank decides by the times of the slowest. Throws RankMismatch for different `desc`,
  // RankLost if a rank fails.
  TuneReport tune(const Queue& queue, const TuneDesc& desc = {});
  // Adds the tuned lowering to a file for CompileDesc::tuning_file; replaces an entry for the same
  // plan and device. Throws InvalidState if tune() did not change the lowering, InvalidArgument if
  // the file exists and is not a tuning file, NativeFailure if it cannot be written.
  void save_tuning(const std::filesystem::path& path) const;

  // Runs one replay on `queue`, after all earlier launches there, by an inspection clone: the
  // commands one after another, each followed by a kernel that computes statistics of the values
  // that it wrote and by a copy of them. Waits for it. The commands, bindings, scalars and disabled
  // commands are those of a launch at this moment; replay_count(), queued replays and the graph do
  // not change. With a trace, the inspection is added to it, and the trace then contains data of
  // the program. Of a graph with collectives, a collective call: all ranks inspect. Throws as
  // launch(), Unsupported for adopted graphs and for Effect::Restored of what cannot be repeated,
  // OutOfMemory, and the exceptions of host callbacks.
  Inspection inspect(const Queue& queue, const InspectDesc& desc = {});

  // Successful launches of all replicas.
  [[nodiscard]] std::uint64_t replay_count() const noexcept;
  // Replicas that can be launched; 0 for an empty handle.
  [[nodiscard]] std::uint32_t replicas() const noexcept;
  [[nodiscard]] bool is_uploaded() const noexcept;
  // Buffers that this graph keeps alive.
  [[nodiscard]] std::size_t pool_buffer_count() const noexcept;
  [[nodiscard]] bool has_pool() const noexcept;
  [[nodiscard]] std::shared_ptr<CapturePool> pool() const noexcept;  // CompileDesc::pool
  // All loops of the most recent replay in recorded order, parents before nested loops. Wait for
  // the fence of the replay first: during a replay the counts are its progress.
  [[nodiscard]] std::vector<LoopReport> loops() const;
  [[nodiscard]] std::uint32_t node_count() const noexcept;
  [[nodiscard]] std::string_view label() const noexcept;
  // The report of compile() or of the last update, by value, since another thread may update the
  // graph. Empty for an empty graph.
  [[nodiscard]] CompileReport report() const;

  // The plan in Graphviz's DOT language. Throws InvalidArgument for a bit that is none of DotFlags.
  [[nodiscard]] std::string to_dot(DotFlags flags = DotFlags::Default) const;
  // Writes to_dot() to a file. Throws NativeFailure with the path.
  void export_dot(const std::filesystem::path& path, DotFlags flags = DotFlags::Default) const;
  // The plan as text: nodes, edges with causes, placements. Equal plans give equal text.
  [[nodiscard]] std::string to_text() const;

  // --- Names of other capture APIs; see engine/docs/reference.md ---
  [[nodiscard]] std::uint64_t num_replays() const noexcept { return replay_count(); }

 private:
  friend struct detail::HandleAccess;
  explicit CapturedGraph(std::shared_ptr<detail::CompiledGraph> core) noexcept
      : core_(std::move(core)) {}
  [[nodiscard]] std::uint32_t find_scalar(std::string_view name) const;
  std::shared_ptr<detail::CompiledGraph> core_;
};

}  // namespace reprise::inline REPRISE_ABI

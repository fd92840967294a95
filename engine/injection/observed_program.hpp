// ObservedProgram: the state of the CUDA graphs of an observed program, and the resulting trace
// records. Its callers report the program's calls; it knows nothing about the driver, the profiler
// and files. Threads: any; makes no callbacks.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "injection/describe_observed_graph.hpp"
#include "injection/node_scopes.hpp"
#include "injection/observed_exec.hpp"
#include "injection/program_memory.hpp"
#include "injection/program_waits.hpp"
#include "profile/overhead_meter.hpp"

namespace reprise::detail {

struct ObservedProgramLimits {
  std::uint64_t nodes = 4'000'000;  // of all described graphs
  std::size_t waiting_records = 1'000'000;
  // Each change of nodes whose kernel or label contains this text is recorded. Empty: of none.
  std::string followed = {};
};

class ObservedProgram {
 public:
  using Limits = ObservedProgramLimits;
  // `waits` is informed of replays; it may be null, and must outlive the program.
  explicit ObservedProgram(Limits limits = {}, ProgramWaits* waits = nullptr)
      : limits_(std::move(limits)), waits_(waits) {}

  // --- Memory, devices, queues ---
  void allocated(const ProgramMemory::Allocation& allocation, trace::Time at);
  void freed(std::uint64_t address, trace::Time at);
  void unmapped(std::uint64_t address, std::uint64_t bytes, trace::Time at);
  void add_device(const trace::Device& device);  // ignores known devices
  [[nodiscard]] bool has_device(std::uint32_t id) const;
  void name_queue(std::uint64_t stream, std::uint32_t device,
                  std::string label);  // ignores known streams
  [[nodiscard]] bool has_queue(std::uint64_t stream) const;
  void remove_queue(std::uint64_t stream);

  // --- Graphs ---
  void node_created(std::uint64_t graph, std::uint64_t node, NodeOrigin origin);
  void node_copied(std::uint64_t from, std::uint64_t graph, std::uint64_t node);
  void node_destroyed(std::uint64_t node);
  void graph_destroyed(std::uint64_t graph);
  [[nodiscard]] NodeOrigin origin_of(std::uint64_t node) const;
  // The bodies of a conditional node; observable only at its creation.
  void bodies_created(std::uint64_t node, std::vector<std::uint64_t> graphs);
  [[nodiscard]] std::vector<std::uint64_t> bodies_of(std::uint64_t node) const;

  void communicator_created(const NcclCommunicator& communicator);

  // A stream capture. `used`: device memory in use, in bytes; 0: unknown. `graph` 0: it failed.
  void capture_began(std::uint64_t stream, std::uint64_t used, trace::Time at);
  void capture_ended(std::uint64_t stream, std::uint64_t graph, trace::Time at);

  // --- Executables, by handle; handles are reused after destruction ---
  struct Instantiation {
    std::uint64_t exec = 0, graph = 0;
    std::uint32_t profiler_id = 0, device = 0;
    std::string scope = {};  // see OpenScopes::creator(); may be empty
    const CallFrame* stack = nullptr;  // of the instantiating thread, as in NodeOrigin
    trace::Time started = 0, at = 0;
    std::uint64_t used_before = 0;  // device memory, in bytes; 0: unknown
    // Launches by kernels are invisible: they are not counted as replays.
    enum class Launchers : std::uint8_t { Host, HostAndKernels } launchers = Launchers::Host;
  };
  void instantiated(const Instantiation& made, ObservedGraph graph);
  // The call that instantiated it returned. `used` as for capture_began().
  void instantiation_ended(std::uint64_t exec, std::uint64_t used);
  // Also true of an executable that is not described.
  [[nodiscard]] bool is_launched(std::uint64_t exec) const;
  // Device memory in use before and after a call. 0: unknown.
  struct MemoryUse {
    std::uint64_t before = 0, after = 0;
  };
  // An upload before the first launch.
  void uploaded(std::uint64_t exec, trace::Time duration, MemoryUse used, trace::Time at);
  // An update of the whole graph. Its parameters need be read only if reads_update(): reading them
  // takes at most a twentieth of the time between two updates.
  [[nodiscard]] bool reads_update(std::uint64_t exec, trace::Time at) const;
  void replaced(std::uint64_t exec, ObservedGraph graph, trace::Time began, trace::Time at);
  void replaced_unread(std::uint64_t exec, trace::Time at);
  void refused(std::uint64_t exec, const std::string& why, trace::Time at);
  // As for ObservedExec::change().
  void changed(std::uint64_t exec, std::uint64_t node, const ObservedNode& now,
               const ObservedKernel* kernel, trace::Time at);
  void enabled(std::uint64_t exec, std::uint64_t node, ObservedNode::Enabled enabled,
               trace::Time at);
  void destroyed(std::uint64_t exec, trace::Time at);
  [[nodiscard]] std::uint32_t device_of(std::uint64_t exec) const;  // 0: unknown

  // --- Replays ---
  struct Launch {
    std::uint64_t exec = 0, stream = 0;
    std::uint32_t thread = 0;
    trace::Time started = 0, returned = 0;
    std::uint32_t correlation = 0;  // also that of the launch's runs
    const CallFrame* stack = nullptr;  // as in NodeOrigin
  };
  enum class Nodes : std::uint8_t { Unrecorded, Recorded };
  enum class Order : std::uint8_t { First, Later };
  // Returns whether this was the first launch of a described executable; the caller then reports
  // first_launch_ended().
  [[nodiscard]] Order launched(const Launch& launch, Nodes nodes);
  void first_launch_ended(std::uint64_t exec, trace::Time duration, MemoryUse used, trace::Time at);
  void ran(const std::vector<ObservedRun>& runs, trace::Time now);

  // Appends the records that are complete since the last call. A graph is described here, with the
  // latest parameters of its nodes: at the first call after its instantiation, again at most four
  // times a second while they change, then less and less often, and at its end.
  void collect(trace::Time now, ObservedExec::Outstanding rest,
               std::vector<trace::Record>& records);
  [[nodiscard]] HookCounts take_hooks();

 private:
  using Exec = std::shared_ptr<ObservedExec>;
  [[nodiscard]] Exec find(std::uint64_t exec) const;
  void identify(std::vector<trace::Collective>& collectives, std::uint32_t device);
  void mark_changed(const Exec& exec, std::uint32_t node, trace::Time at);
  void mark_replaced(const Exec& exec, trace::Time at);
  [[nodiscard]] std::vector<std::uint32_t> followed_nodes(const ObservedGraph& graph) const;
  enum class Which : std::uint8_t { New, Due, All };
  void take_pictures(Which which, trace::Time now);
  // What a description needs, so that it is made without the lock.
  struct Picture {
    Exec exec;
    std::shared_ptr<const ObservedGraph> graph;
    AccessLocations locations;
    std::vector<trace::NodeChanges> changes;
    std::vector<LaunchCount> launches;
  };
  [[nodiscard]] trace::GraphVersion describe(const Picture& picture);
  void collect_losses(trace::Time now);
  void erase(std::uint64_t exec, trace::Time at);
  void add_launch_cost(ObservedExec& exec, trace::Time duration, MemoryUse used, trace::Time at);
  // The records that the program's calls make. Much smaller than a trace::Record, which can be a
  // graph version.
  using Event = std::variant<trace::Device, trace::Queue, trace::Replay, trace::Update,
                             trace::Ended, trace::CreationCost, trace::Message, trace::Loss>;
  void push(Event event);
  static void move_to(std::vector<trace::Record>& records, std::vector<Event>& events);
  struct Capture {
    trace::Time at = 0;  // of its begin
    trace::Time duration = 0;
    std::uint64_t used_before = 0;
  };
  struct PendingReplay {
    Exec exec;
    std::uint64_t replay = 0;
  };
  struct UnmatchedRun {
    ObservedRun run;
    std::string kernel;
  };
  void take_run(const ObservedRun& run, trace::Time now);
  void deliver_unmatched(const PendingReplay& pending, std::uint32_t correlation, trace::Time now);

  const Limits limits_;
  ProgramWaits* const waits_;
  std::unordered_map<std::string, std::uint32_t> label_counts_;  // graphs by label; of collect()
  std::vector<Event> taken_;  // of collect(); swapped with events_, so that both keep their memory
  // A node had an origin or bodies. Programs without both create nodes without the lock.
  std::atomic<bool> has_origins_{false};
  mutable std::mutex mutex_;  // guards the members below
  ProgramMemory memory_;
  NodeScopes scopes_;
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> bodies_;
  std::unordered_map<std::uint64_t, Capture> captures_;  // in progress, by stream
  std::unordered_map<std::uint64_t, Capture> captured_;  // not instantiated yet, by graph
  std::unordered_map<std::uint32_t, trace::Device> devices_;
  std::unordered_map<std::uint64_t, std::uint32_t> queues_;
  std::uint32_t next_queue_ = 0, next_graph_ = 0;
  std::unordered_map<std::uint64_t, Exec> execs_;
  std::vector<Exec> undescribed_;  // changed since their last description, each once
  std::size_t new_execs_ = 0;      // part of undescribed_ that was never described
  std::vector<Picture> pictures_;
  std::vector<Exec> pending_execs_;  // executables with outstanding runs, each once
  std::unordered_map<std::uint32_t, PendingReplay> by_correlation_;  // outstanding launches
  std::vector<UnmatchedRun> unmatched_runs_;  // runs that arrived before their launch returned
  std::uint64_t described_nodes_ = 0;
  // By communicator and device: graph versions with its collectives; and how NCCL created it.
  using OnDevice = std::pair<std::uint64_t, std::uint32_t>;
  std::map<OnDevice, std::uint64_t> collective_graphs_;
  std::map<OnDevice, NcclCommunicator> communicators_;
  bool limit_reported_ = false;
  std::vector<Event> events_;
  std::uint64_t lost_replays_ = 0, lost_events_ = 0, lost_times_ = 0;
  HookCounts hooks_;
};

}  // namespace reprise::detail

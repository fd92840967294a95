// The records of a trace: plain values that the writer accepts and the reader returns. The codec
// maps them to bytes (schema.fbs). Knows nothing about the engine and the viewer. Threads: values.
//
// Times are nanoseconds of the session's host clock, a steady clock; Clock relates it to UTC and to
// the clocks of GPUs. GPU times are converted once, before they become records, with the error
// bound that Clock states. A time of 0 means unknown. Ids count from 0 within one session (host,
// process, rank); ids of different sessions are unrelated.
//
// The trace of one process has one session. A merged trace has one per rank: its ids are unique
// over all sessions, `session` in a record is the index of its session among the Session records,
// and all times are on the clock of the reference rank (ClockAlignment).
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <variant>
#include <vector>

namespace reprise::trace {

using Time = std::int64_t;
inline constexpr std::uint32_t kNone = 0xffffffffu;

// --- Session, clocks and devices ---

struct Session {
  std::string host;
  std::uint32_t pid = 0;
  Time process_start_utc = 0;  // UTC, ns since 1970
  std::uint32_t rank = kNone;  // of a distributed job; kNone: not distributed
  std::string application, command_line, engine_version;
  std::uint32_t ranks = 0;  // size of the distributed job; 0: not distributed
  std::string job;          // identifies the job among those of its launcher; the same on all ranks
  std::string clock;        // sessions with equal texts share one host clock; empty: unknown
  friend bool operator==(const Session&, const Session&) = default;
};

struct Clock {
  std::uint32_t device = kNone;  // kNone: relates UTC to the host clock
  Time host = 0,
       other = 0;  // the same moment on the host clock and on the device's clock or UTC
  Time error = 0;  // error bound, ns
  friend bool operator==(const Clock&, const Clock&) = default;
};

// One exchange of clocks with another rank: its clock showed `other` at some moment between `sent`
// and `received` of the own host clock.
struct ClockExchange {
  std::uint32_t rank = 0;  // the other rank
  Time sent = 0, received = 0, other = 0;
  friend bool operator==(const ClockExchange&, const ClockExchange&) = default;
};

// How a merge converted the times of a session to those of the reference rank:
//   reference = own + offset + drift * (own - at)
struct ClockAlignment {
  std::uint32_t session = 0, reference = 0;  // reference: session
  Time at = 0, offset = 0;                   // on the session's own clock; ns
  double drift = 0;
  Time error = 0;  // bound of the error of converted times, ns; kUnknownError: there is none
  // What the conversion was computed from. Both 0: the sessions share one clock.
  std::uint64_t exchanges = 0, collectives = 0;
  friend bool operator==(const ClockAlignment&, const ClockAlignment&) = default;
};
inline constexpr Time kUnknownError = 3'000'000'000'000'000'000;

struct Device {
  std::uint32_t id = 0;
  std::string name, selector;  // for example "NVIDIA H200", "cuda:0"
  std::array<std::uint8_t, 16> uuid{};
  std::uint64_t memory_bytes = 0;
  std::uint32_t multiprocessors = 0;
  std::uint32_t session = 0;
  friend bool operator==(const Device&, const Device&) = default;
};

struct Queue {
  std::uint32_t id = 0, device = 0;
  std::string label;
  friend bool operator==(const Queue&, const Queue&) = default;
};

// --- Structure: one version of a graph ---

enum class NodeKind : std::uint8_t {
  Dispatch,
  Copy,
  Fill,
  Update,
  Host,
  Join,
  Entry,
  Exit,
  Child,
  Conditional,
  Other
};
enum class Hazard : std::uint8_t { None, ReadAfterWrite, WriteAfterRead, WriteAfterWrite };
enum class EdgeCause : std::uint8_t { Hazard, Barrier, User, Linear, Lane, EntryExit, Captured };
enum class Access : std::uint8_t { None, Read, Write, ReadWrite };

struct Node {
  NodeKind kind = NodeKind::Other;
  std::uint32_t name = 0;        // index in strings
  std::uint32_t label = 0;       // index in labels
  std::uint32_t kernel = kNone;  // index in kernels
  std::uint32_t lane = 0;
  std::uint32_t command = kNone;     // index in the command buffer
  std::uint32_t file = 0, line = 0;  // file: index in strings; line 0: unknown
  std::uint32_t first_access = 0, access_count = 0;
  std::uint32_t grid[3] = {0, 0, 0}, block[3] = {0, 0, 0};
  std::uint32_t shared_bytes = 0;
  std::uint64_t bytes = 0;  // copied or written by copies, fills and updates
  friend bool operator==(const Node&, const Node&) = default;
};

struct NodeAccess {
  std::uint32_t buffer = 0;  // index in buffers
  Access access = Access::Read;
  std::uint8_t inferred = 0;         // 1: derived from a pointer among the kernel's parameters
  std::uint64_t begin = 0, end = 0;  // byte range
  friend bool operator==(const NodeAccess&, const NodeAccess&) = default;
};

struct Edge {
  std::uint32_t from = 0, to = 0;  // nodes
  EdgeCause cause = EdgeCause::Hazard;
  Hazard hazard = Hazard::None;
  std::uint32_t buffer = kNone;      // of a hazard, or of a barrier on one buffer
  std::uint32_t barrier = kNone;     // index in barriers
  std::uint64_t begin = 0, end = 0;  // conflicting byte range
  friend bool operator==(const Edge&, const Edge&) = default;
};

// Programmatic: orders only kernels that wait for programmatic dependencies themselves.
enum class Dependency : std::uint8_t { Full, Programmatic };

struct Barrier {
  std::uint32_t command = 0, label = 0, file = 0, line = 0;
  std::uint32_t buffer = kNone;  // kNone: all memory
  std::uint64_t begin = 0, end = 0;
  Access before = Access::ReadWrite, after = Access::ReadWrite;
  std::uint32_t edges = 0;  // number of edges that it causes; 0: it orders nothing
  Dependency dependency = Dependency::Full;
  friend bool operator==(const Barrier&, const Barrier&) = default;
};

struct Label {
  std::uint32_t parent = 0;  // labels[0] is the root and its own parent
  std::uint32_t name = 0;    // index in strings
  std::uint32_t color = 0;   // 0xrrggbb; 0: the viewer selects one
  friend bool operator==(const Label&, const Label&) = default;
};

struct Kernel {
  std::uint32_t name = 0,
                full_name = 0;  // indices in strings: demangled and short; as in the binary
  std::uint32_t registers = 0, static_shared_bytes = 0;
  friend bool operator==(const Kernel&, const Kernel&) = default;
};

enum class BufferKind : std::uint8_t { Device, Transient, PinnedHost, Foreign };

struct Buffer {
  std::uint32_t name = 0;  // index in strings
  BufferKind kind = BufferKind::Device;
  std::uint32_t id = kNone;  // of a buffer in a pool; kNone: transient
  std::uint32_t pool = kNone;
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;  // of a transient, in the slab
  friend bool operator==(const Buffer&, const Buffer&) = default;
};

// A subgraph that one node runs. Its edges stay within it. Bodies are sorted by first_node;
// together they cover all nodes after those of the outermost graph.
enum class BodyKind : std::uint8_t { Nested, Then, Else, Loop, Case };

struct Body {
  std::uint32_t parent = 0;  // node that runs the body; precedes first_node
  std::uint32_t branch = 0;  // index among that node's bodies
  std::uint32_t first_node = 0, nodes = 0;
  BodyKind kind = BodyKind::Nested;
  friend bool operator==(const Body&, const Body&) = default;
};

// Nodes of the outermost graph that one kernel runs, in `lists` resident blocks. Sorted and
// disjoint.
struct Segment {
  std::uint32_t first_node = 0, nodes = 0;
  std::uint32_t lists = 0, items = 0;  // at least one list per segment and one item per node
  friend bool operator==(const Segment&, const Segment&) = default;
};

// A node that is a collective between ranks. The executions that belong together have the same
// communicator, number, index, replay and occurrence on all ranks.
enum class CollectiveKind : std::uint8_t {
  AllReduce,
  Reduce,
  Broadcast,
  AllGather,
  ReduceScatter,
  AllToAll,
  Send,
  Receive,
  Group  // several operations, or one of an unknown kind
};
struct Collective {
  std::uint32_t node = 0;
  CollectiveKind kind = CollectiveKind::Group;
  std::uint32_t ranks = 0;         // of the communicator
  std::uint32_t rank = 0;          // the own one in the communicator
  std::uint32_t peer = kNone;      // root, or the other rank of Send and Receive
  std::uint64_t communicator = 0;  // the same on all its ranks, and only there
  std::uint64_t number =
      0;                    // of the graph version among those with collectives of the communicator
  std::uint32_t index = 0;  // of the collective among those of the graph and communicator
  std::uint64_t bytes = 0;  // that this rank contributes
  friend bool operator==(const Collective&, const Collective&) = default;
};

// One compiled version of a graph. Immutable: an update creates a new version.
struct GraphVersion {
  std::uint32_t graph = 0, version = 0;
  std::uint32_t device = 0;
  std::string label;
  std::uint64_t plan_hash = 0, lowering_hash = 0;
  std::uint32_t lanes = 0;      // 0: faithful lowering
  std::uint8_t entry_exit = 0;  // 0 none, 1 entry and exit, 2 entry only, 3 exit only
  std::uint8_t ordering = 0;    // 0 inferred, 1 explicit, 2 linear, 3 captured
  std::uint64_t naive_bytes = 0, slab_bytes = 0, lower_bound_bytes = 0;
  Time compiled = 0, compile_time = 0, instantiate_time = 0;
  std::vector<std::string> strings;  // [0] is empty
  std::vector<Label> labels;
  std::vector<Kernel> kernels;
  std::vector<Buffer> buffers;
  std::vector<NodeAccess> accesses;
  std::vector<Barrier> barriers;
  // In creation order, which is topological; nodes of bodies follow those of the outermost graph.
  std::vector<Node> nodes;
  std::vector<Edge> edges;  // sorted by `to`, then by `from`
  std::vector<Body> bodies;
  std::vector<Segment> segments;
  std::vector<Collective> collectives;  // sorted by node
  friend bool operator==(const GraphVersion&, const GraphVersion&) = default;
};

// --- Events ---

struct Replay {
  std::uint32_t graph = 0, version = 0, exec = 0, queue = 0;
  std::uint64_t replay = 0;                // index among the graph's replays, from 1
  Time launched = 0, launch_returned = 0;  // on the launching thread
  Time started = 0, ended = 0;             // on the device; 0: unknown
  std::uint32_t thread = 0;                // the launching thread
  std::uint8_t sampled = 0;                // 1: node samples exist
  friend bool operator==(const Replay&, const Replay&) = default;
};

enum class SampleSource : std::uint8_t { Host, Timestamp, Cupti };

// The time of one node in one replay. started == 0: unknown.
struct Sample {
  std::uint32_t node = 0;
  // Index of the execution, for nodes that run repeatedly in a replay; from 0.
  std::uint32_t occurrence = 0;
  Time started = 0;
  std::uint32_t duration = 0;  // ns, saturates
  // Where it ran: thread of the host device, stream that CUPTI reports, or, of a command of a
  // segment that timestamps timed, the multiprocessor of its first block plus one. 0: unknown.
  std::uint16_t worker = 0;
  friend bool operator==(const Sample&, const Sample&) = default;
};

// All samples of one replay of one executable.
struct SampleBlock {
  std::uint32_t graph = 0, version = 0, exec = 0;
  std::uint64_t replay = 0;
  SampleSource source = SampleSource::Host;
  std::vector<Sample> samples;  // sorted by start
  friend bool operator==(const SampleBlock&, const SampleBlock&) = default;
};

// The iteration count of a loop in one replay.
struct LoopRun {
  std::uint32_t graph = 0, version = 0;
  std::uint32_t body = 0;  // index in bodies
  std::uint64_t replay = 0;
  std::uint64_t iterations = 0, timed = 0;  // executed; with node samples
  friend bool operator==(const LoopRun&, const LoopRun&) = default;
};

struct HostRange {
  std::uint32_t thread = 0;
  std::uint16_t depth = 0;  // nesting depth on its thread
  Time started = 0, ended = 0;
  std::string name;
  std::uint32_t graph = kNone;
  std::uint64_t replay = 0;
  friend bool operator==(const HostRange&, const HostRange&) = default;
};

struct ThreadName {
  std::uint32_t thread = 0;
  std::string name;
  std::uint32_t session = 0;
  friend bool operator==(const ThreadName&, const ThreadName&) = default;
};

struct PoolState {
  std::uint32_t pool = 0, device = 0;
  Time at = 0;
  std::string label;
  std::uint32_t buffers = 0;
  std::uint64_t device_bytes = 0, host_bytes = 0;  // of buffers
  // Device memory, in bytes, of the pool's buffers and of the slabs of graphs compiled with the
  // pool. peak 0: unknown or none.
  std::uint64_t budget = 0;            // limit; 0: none
  std::uint64_t reserved = 0;          // address space, mapped or not
  std::uint64_t mapped = 0, peak = 0;  // mapped memory: current and maximum
  std::uint64_t slabs = 0;             // count
  std::uint64_t trims = 0,
                // Cumulative count of slabs unmapped by trimming, and of slabs mapped again.
      remaps = 0;
  std::uint64_t shared_slabs = 0;  // count of slabs that transients of several graphs share
  std::uint64_t freed = 0, freed_bytes = 0;  // cumulative: buffers that were freed
  friend bool operator==(const PoolState&, const PoolState&) = default;
};

// A graph that references a pool (Holder), or whose transients share a slab of it (Sharer). to 0:
// it still does.
enum class PoolRole : std::uint8_t { Holder, Sharer };
struct PoolUse {
  std::uint32_t pool = 0, graph = 0;
  PoolRole role = PoolRole::Holder;
  Time from = 0, to = 0;
  friend bool operator==(const PoolUse&, const PoolUse&) = default;
};

// The cost of creating a graph of an observed program. Times are in ns; 0: unknown, or not yet.
// Bytes are changes of the device memory that all programs use. They include what other threads and
// programs allocate meanwhile, and are negative if more is freed. A later record of the graph
// replaces an earlier one. GraphVersion has the time of the instantiation.
inline constexpr std::int64_t kUnknownBytes = std::numeric_limits<std::int64_t>::min();
struct CreationCost {
  std::uint32_t graph = 0;
  Time at = 0;  // of the last step so far
  Time capture_time = 0;
  Time launch_time = 0;                        // of the first launch, with the uploads before it
  std::int64_t capture_bytes = kUnknownBytes;  // from before the capture to after instantiation
  std::int64_t launch_bytes = kUnknownBytes;   // during the uploads and the first launch
  friend bool operator==(const CreationCost&, const CreationCost&) = default;
};

// Device memory that the engine uses outside and inside pools, in bytes. The fields are those of
// PoolState.
struct DeviceTotals {
  std::uint32_t device = 0;
  Time at = 0;
  std::uint64_t budget = 0, reserved = 0, mapped = 0, peak = 0;
  std::uint64_t buffers = 0;  // part of mapped that buffers use
  std::uint64_t slabs = 0, shared_slabs = 0, trims = 0, remaps = 0;
  friend bool operator==(const DeviceTotals&, const DeviceTotals&) = default;
};

// Lifetime of a persistent buffer. freed 0: not freed. Buffers of programs that allocate and free
// them rapidly have no record; their pool counts them.
struct BufferLifetime {
  std::uint32_t buffer = 0, pool = 0, device = 0;
  BufferKind kind = BufferKind::Device;
  std::uint64_t bytes = 0, address = 0;
  Time allocated = 0, freed = 0;
  std::string name;
  friend bool operator==(const BufferLifetime&, const BufferLifetime&) = default;
};

enum class Severity : std::uint8_t { Info, Warning, Error };

struct Message {
  Time at = 0;
  Severity severity = Severity::Info;
  std::string id, text;
  std::uint32_t graph = kNone, version = 0, command = kNone, other_command = kNone;
  std::uint32_t session = 0;
  friend bool operator==(const Message&, const Message&) = default;
};

struct Update {
  Time at = 0;
  std::uint32_t graph = 0, from_version = 0, to_version = 0;
  std::string description;
  friend bool operator==(const Update&, const Update&) = default;
};

// The end of an object: no later record refers to it.
enum class ObjectKind : std::uint8_t { Queue, Graph, Pool };
struct Ended {
  Time at = 0;
  ObjectKind kind = ObjectKind::Queue;
  std::uint32_t id = 0;
  friend bool operator==(const Ended&, const Ended&) = default;
};

// Data that is missing from the trace, up to the time of the record. NodeRuns: executions of nodes
// in loops beyond the number that can be timed.
enum class LossKind : std::uint8_t {
  Replays,
  Samples,
  Events,
  DeviceRecords,
  ZeroTimestamps,
  NodeRuns
};
struct Loss {
  Time at = 0;
  LossKind kind = LossKind::Samples;
  std::uint64_t count = 0;
  std::string reason;
  std::uint32_t session = 0;
  friend bool operator==(const Loss&, const Loss&) = default;
};

// The cost of profiling in [from, to].
struct ProfilingOverhead {
  Time from = 0, to = 0;
  std::uint8_t mode = 0;      // 0 off, 1 replays, 2 sampled, 3 every
  Time host = 0, device = 0;  // ns
  friend bool operator==(const ProfilingOverhead&, const ProfilingOverhead&) = default;
};

using Record = std::variant<Session, Clock, Device, Queue, GraphVersion, Replay, SampleBlock,
                            HostRange, ThreadName, PoolState, BufferLifetime, Message, Update, Loss,
                            ProfilingOverhead, LoopRun, DeviceTotals, PoolUse, Ended, CreationCost,
                            ClockExchange, ClockAlignment>;

}  // namespace reprise::trace

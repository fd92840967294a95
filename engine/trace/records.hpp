// The vocabulary of a trace: plain records, as the writer takes them and the reader gives them; the
// codec makes bytes of them (schema.fbs). Knows no engine and no viewer. Threads: values.
//
// Times are nanoseconds of the session's host clock (a steady clock; Clock relates it to UTC and to
// GPUs). A GPU's time is converted before it gets here, in one place, with the error that Clock
// states. 0 means unknown. Ids count from 0 within one session (host, process, rank); two sessions
// never share the meaning of an id.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace reprise::trace {

using Time = std::int64_t;
inline constexpr std::uint32_t kNone = 0xffffffffu;

// --- who speaks
// -------------------------------------------------------------------------------------------------------------

struct Session {
  std::string host;  // host name
  std::uint32_t pid = 0;
  Time process_start_utc = 0;  // ns since 1970
  std::uint32_t rank = kNone;  // of a distributed job; kNone: none
  std::string application, command_line, engine_version;
  friend bool operator==(const Session&, const Session&) = default;
};

struct Clock {
  std::uint32_t device = kNone;  // whose clock; kNone: the host's
  Time host = 0,
       other = 0;  // one moment on the host clock and on the other one (device kNone: UTC)
  Time error = 0;  // at most so far off
  friend bool operator==(const Clock&, const Clock&) = default;
};

struct Device {
  std::uint32_t id = 0;
  std::string name, selector;  // "NVIDIA H200", "cuda:0"
  std::array<std::uint8_t, 16> uuid{};
  std::uint64_t memory_bytes = 0;
  std::uint32_t multiprocessors = 0;
  friend bool operator==(const Device&, const Device&) = default;
};

struct Queue {
  std::uint32_t id = 0, device = 0;
  std::string label;
  friend bool operator==(const Queue&, const Queue&) = default;
};

// --- what runs: one version of a graph
// ----------------------------------------------------------------------------------------

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
  std::uint32_t name = 0;        // in strings
  std::uint32_t label = 0;       // in labels
  std::uint32_t kernel = kNone;  // in kernels
  std::uint32_t lane = 0;
  std::uint32_t command = kNone;     // index in the command buffer
  std::uint32_t file = 0, line = 0;  // in strings; line 0: unknown
  std::uint32_t first_access = 0, access_count = 0;
  std::uint32_t grid[3] = {0, 0, 0}, block[3] = {0, 0, 0};
  std::uint32_t shared_bytes = 0;
  std::uint64_t bytes = 0;  // moved or set, of copies, fills and updates
  friend bool operator==(const Node&, const Node&) = default;
};

struct NodeAccess {
  std::uint32_t buffer = 0;  // in buffers
  Access access = Access::Read;
  std::uint8_t inferred = 0;         // 1: guessed from a pointer among kernel parameters
  std::uint64_t begin = 0, end = 0;  // bytes
  friend bool operator==(const NodeAccess&, const NodeAccess&) = default;
};

struct Edge {
  std::uint32_t from = 0, to = 0;  // nodes
  EdgeCause cause = EdgeCause::Hazard;
  Hazard hazard = Hazard::None;
  std::uint32_t buffer = kNone;      // of a hazard, or of a barrier on one buffer
  std::uint32_t barrier = kNone;     // in barriers
  std::uint64_t begin = 0, end = 0;  // bytes that conflict
  friend bool operator==(const Edge&, const Edge&) = default;
};

// Programmatic: only kernels that wait themselves are ordered by it.
enum class Dependency : std::uint8_t { Full, Programmatic };

struct Barrier {
  std::uint32_t command = 0, label = 0, file = 0, line = 0;
  std::uint32_t buffer = kNone;  // kNone: global
  std::uint64_t begin = 0, end = 0;
  Access before = Access::ReadWrite, after = Access::ReadWrite;
  std::uint32_t edges = 0;  // that exist because of it; 0: it orders nothing
  Dependency dependency = Dependency::Full;
  friend bool operator==(const Barrier&, const Barrier&) = default;
};

struct Label {
  std::uint32_t parent = 0;  // labels[0] is the root, its own parent
  std::uint32_t name = 0;    // in strings
  std::uint32_t color = 0;   // 0xrrggbb; 0: the viewer picks one
  friend bool operator==(const Label&, const Label&) = default;
};

struct Kernel {
  std::uint32_t name = 0, full_name = 0;  // in strings: short; as the binary has it
  std::uint32_t registers = 0, static_shared_bytes = 0;
  friend bool operator==(const Kernel&, const Kernel&) = default;
};

enum class BufferKind : std::uint8_t { Device, Transient, PinnedHost, Foreign };

struct Buffer {
  std::uint32_t name = 0;  // in strings
  BufferKind kind = BufferKind::Device;
  std::uint32_t id = kNone;  // the buffer in the session's pools; kNone for a transient
  std::uint32_t pool = kNone;
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;  // in the slab, of a transient
  friend bool operator==(const Buffer&, const Buffer&) = default;
};

// What a node runs as a whole: nodes of its own, which have edges among themselves alone.
// `first_node` and `nodes` say which; bodies stand in that order, and together they are all nodes
// behind the graph's own.
enum class BodyKind : std::uint8_t { Nested, Then, Else, Loop, Case };

struct Body {
  std::uint32_t parent = 0;  // the node that runs it, before first_node
  std::uint32_t branch = 0;  // which of that node's bodies
  std::uint32_t first_node = 0, nodes = 0;
  BodyKind kind = BodyKind::Nested;
  friend bool operator==(const Body&, const Body&) = default;
};

// A version of a graph: what was compiled. Changes never edit one: an update makes the next
// version.
struct GraphVersion {
  std::uint32_t graph = 0, version = 0;
  std::uint32_t device = 0;
  std::string label;
  std::uint64_t plan_hash = 0, lowering_hash = 0;
  std::uint32_t lanes = 0;      // 0: faithful
  std::uint8_t entry_exit = 0;  // 0 none, 1 begin and end, 2 begin alone, 3 end alone
  std::uint8_t ordering = 0;    // 0 inferred, 1 explicit, 2 linear, 3 captured
  std::uint64_t naive_bytes = 0, slab_bytes = 0, bound_bytes = 0;
  Time compiled = 0, compile_time = 0, instantiate_time = 0;
  std::vector<std::string> strings;  // [0] is empty
  std::vector<Label> labels;
  std::vector<Kernel> kernels;
  std::vector<Buffer> buffers;
  std::vector<NodeAccess> accesses;
  std::vector<Barrier> barriers;
  std::vector<Node>
      nodes;  // in creation order, topological; those of bodies behind the graph's own
  std::vector<Edge> edges;  // sorted by to, then from
  std::vector<Body> bodies;
  friend bool operator==(const GraphVersion&, const GraphVersion&) = default;
};

// --- what happened
// ------------------------------------------------------------------------------------------------------------

struct Replay {
  std::uint32_t graph = 0, version = 0, exec = 0, queue = 0;
  std::uint64_t replay = 0;                // of the graph, from 1
  Time launched = 0, launch_returned = 0;  // on the launching thread
  Time started = 0, ended = 0;             // on the device; 0: unknown
  std::uint32_t thread = 0;                // that launched
  std::uint8_t sampled = 0;                // 1: node samples exist
  friend bool operator==(const Replay&, const Replay&) = default;
};

enum class SampleSource : std::uint8_t { Host, Timestamp, Cupti };

// One node's timing in one replay. started == 0: the timing was lost.
struct Sample {
  std::uint32_t node = 0;
  std::uint32_t occurrence = 0;  // of a node that runs several times in a replay, from 0
  Time started = 0;
  std::uint32_t duration = 0;  // ns, saturates
  std::uint16_t worker = 0;    // thread of the host device, SM-side stream of CUPTI; 0 if unknown
  friend bool operator==(const Sample&, const Sample&) = default;
};

// All samples of one replay of one exec.
struct SampleBlock {
  std::uint32_t graph = 0, version = 0, exec = 0;
  std::uint64_t replay = 0;
  SampleSource source = SampleSource::Host;
  std::vector<Sample> samples;  // by start
  friend bool operator==(const SampleBlock&, const SampleBlock&) = default;
};

// How often a loop went round in one replay.
struct LoopRun {
  std::uint32_t graph = 0, version = 0;
  std::uint32_t body = 0;  // in bodies
  std::uint64_t replay = 0;
  std::uint64_t iterations = 0, timed = 0;  // of all of them; of those whose nodes have samples
  friend bool operator==(const LoopRun&, const LoopRun&) = default;
};

struct HostRange {
  std::uint32_t thread = 0;
  std::uint16_t depth = 0;  // nesting on its thread
  Time started = 0, ended = 0;
  std::string name;
  std::uint32_t graph = kNone;
  std::uint64_t replay = 0;
  friend bool operator==(const HostRange&, const HostRange&) = default;
};

struct ThreadName {
  std::uint32_t thread = 0;
  std::string name;
  friend bool operator==(const ThreadName&, const ThreadName&) = default;
};

struct PoolState {
  std::uint32_t pool = 0, device = 0;
  Time at = 0;
  std::string label;
  std::uint32_t buffers = 0;
  std::uint64_t device_bytes = 0, host_bytes = 0;  // of buffers
  std::vector<std::uint32_t> holders;              // graphs that hold it
  // Device memory of buffers and of the slabs of graphs that were compiled with it, bytes; peak 0:
  // not told, or none ever.
  std::uint64_t budget = 0;            // that it is bound to; 0: none
  std::uint64_t reserved = 0;          // addresses, with pages behind them or without
  std::uint64_t mapped = 0, peak = 0;  // with pages: now, and the most so far
  std::uint64_t slabs = 0;             // how many
  std::uint64_t trims = 0,
                remaps = 0;  // slabs that gave their pages back, and that took pages again, so far
  std::uint64_t shared_slabs =
      0;  // of the slabs: where transients of several graphs lie, which are its sharers
  std::vector<std::uint32_t> sharers = {};  // graphs, each once
  friend bool operator==(const PoolState&, const PoolState&) = default;
};

// Memory that the engine takes of a device, of all pools and of none, in bytes; as in PoolState.
struct DeviceTotals {
  std::uint32_t device = 0;
  Time at = 0;
  std::uint64_t budget = 0, reserved = 0, mapped = 0, peak = 0;
  std::uint64_t buffers = 0;  // of mapped: of buffers
  std::uint64_t slabs = 0, shared_slabs = 0, trims = 0, remaps = 0;
  friend bool operator==(const DeviceTotals&, const DeviceTotals&) = default;
};

// A persistent buffer's life. freed 0: alive.
struct BufferLife {
  std::uint32_t buffer = 0, pool = 0, device = 0;
  BufferKind kind = BufferKind::Device;
  std::uint64_t bytes = 0, address = 0;
  Time allocated = 0, freed = 0;
  std::string name;
  friend bool operator==(const BufferLife&, const BufferLife&) = default;
};

enum class Severity : std::uint8_t { Info, Warning, Error };

struct Message {
  Time at = 0;
  Severity severity = Severity::Info;
  std::string id, text;
  std::uint32_t graph = kNone, version = 0, command = kNone, other_command = kNone;
  friend bool operator==(const Message&, const Message&) = default;
};

struct Update {
  Time at = 0;
  std::uint32_t graph = 0, from_version = 0, to_version = 0;
  std::string what;
  friend bool operator==(const Update&, const Update&) = default;
};

// What did not get into the trace, and since when.
// NodeRuns: of nodes in loops that ran more often than could be timed.
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
  std::string why;
  friend bool operator==(const Loss&, const Loss&) = default;
};

// What profiling itself cost in [from, to].
struct ProfileCost {
  Time from = 0, to = 0;
  std::uint8_t mode = 0;      // 0 off, 1 replays, 2 sampled, 3 every
  Time host = 0, device = 0;  // ns spent
  friend bool operator==(const ProfileCost&, const ProfileCost&) = default;
};

using Record = std::variant<Session, Clock, Device, Queue, GraphVersion, Replay, SampleBlock,
                            HostRange, ThreadName, PoolState, BufferLife, Message, Update, Loss,
                            ProfileCost, LoopRun, DeviceTotals>;

}  // namespace reprise::trace

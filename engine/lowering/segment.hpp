// Segment: a convex subset of a graph's dispatches and small transfers that one persistent kernel
// runs. Its resident blocks process fixed lists of work items, wait for the completion counters of
// nodes of other lists and increment those of their own. Knows no device. Threads: values and pure
// functions.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "dependencies/dependency_graph.hpp"
#include "record/recording.hpp"

namespace reprise::detail {

struct LoweredGraph;
struct NodeHints;

inline constexpr std::uint32_t kMinSegmentThreads = 128;  // of a persistent block
// Resident threads of segments per multiprocessor, with 128 registers each.
inline constexpr std::uint32_t kSegmentThreads = 512;
// As many times these threads if all kernels have few registers and one has more blocks than lists.
inline constexpr std::uint32_t kLightSegments = 2;

// Max bytes of a fill, copy or update in a segment, which one block of kMinSegmentThreads threads
// transfers. Larger transfers are faster as nodes; see engine/docs/design/segments.md.
inline constexpr std::uint32_t kMaxSegmentTransfer = 16 << 10;

// Block b of a command depends at most on the blocks floor((factor * b + low) / divisor) to
// floor((factor * b + high) / divisor) of an earlier one, in linear order.
struct BlockRelation {
  std::uint32_t from = 0, to = 0;        // in LoweredGraph::nodes
  std::int64_t factor = 0, divisor = 0;  // divisor 0: on all blocks
  std::int64_t low = 0, high = 0;

  [[nodiscard]] bool is_of_all_blocks() const noexcept { return divisor == 0; }
  [[nodiscard]] bool is_of_same_block() const noexcept {
    return factor == 1 && divisor == 1 && low == 0 && high == 0;
  }
  struct Blocks {
    std::uint32_t first = 0, last = 0;  // none if last < first
  };
  // The blocks, of `count`, that blocks [first, first + blocks) of `to` depend on.
  [[nodiscard]] Blocks needed(std::uint32_t first, std::uint32_t blocks,
                              std::uint32_t count) const noexcept;
  friend bool operator==(const BlockRelation&, const BlockRelation&) = default;
};

// Some blocks of a command, in linear order.
struct SegmentItem {
  std::uint32_t node = 0;  // in LoweredGraph::nodes
  std::uint32_t first_block = 0, blocks = 0;
  std::uint32_t first_wait = 0, waits = 0;  // in Segment::waits: before the first block
  bool publishes = false;                   // increments its node's counter after the last block

  friend bool operator==(const SegmentItem&, const SegmentItem&) = default;
};

struct Segment {
  // Adjacent in LoweredGraph::nodes.
  std::uint32_t first_node = 0, nodes = 0;
  // List l processes items[first_item[l]] to items[first_item[l + 1] - 1], in this order.
  std::vector<std::uint32_t> first_item = {};
  std::vector<SegmentItem> items = {};
  // Nodes. A wait ends when all items of the node have been published.
  std::vector<std::uint32_t> waits = {};
  std::vector<std::uint32_t> item_counts = {};  // by node, from first_node
  // Sorted by target, then source. If not empty, they take the place of the needed edges between
  // the nodes; see find_block_relations().
  std::vector<BlockRelation> relations = {};

  [[nodiscard]] bool contains(std::uint32_t node) const noexcept {
    return node - first_node < nodes;
  }
  [[nodiscard]] std::uint32_t lists() const noexcept {
    return static_cast<std::uint32_t>(first_item.size()) - 1;
  }
  [[nodiscard]] std::span<const std::uint32_t> waits_of(const SegmentItem& item) const noexcept {
    return {waits.data() + item.first_wait, item.waits};
  }
  friend bool operator==(const Segment&, const Segment&) = default;
};

// The relations of a segment by target.
class RelationsByTarget {
 public:
  // The segment outlives this object and keeps its relations.
  explicit RelationsByTarget(const Segment& segment);
  [[nodiscard]] std::span<const BlockRelation> into(std::uint32_t node) const noexcept;

 private:
  const Segment& segment_;
  std::vector<std::uint32_t> first_;  // by node, from first_node; empty without relations
};

// Why a command that is in a recording cannot be in a segment; empty: it can. `loop_condition`: the
// buffer of the condition of the loop whose body the recording is, if the loop may run in a
// segment (see LoweredGraph::loop_condition); kNone: no command of a segment sets a condition.
[[nodiscard]] std::string_view segment_exclusion(const Recording& recording, std::uint32_t command,
                                                 std::uint32_t loop_condition = kNone);
// The blocks of a command that can be in a segment.
[[nodiscard]] std::uint32_t segment_blocks_of(const Recording& recording, std::uint32_t command);

// By dependency node: the blocks of a command that can be in a segment; 0 for all other nodes.
[[nodiscard]] std::vector<std::uint32_t> segment_blocks(const Recording& recording,
                                                        const DependencyGraph& dependencies,
                                                        std::uint32_t loop_condition = kNone);

// Sets hints.segment_blocks, and hints.segment_lists and hints.undisturbed_lists for a device with
// this DeviceLimits::max_segment_blocks. `may_fill`: light kernels get kLightSegments times the
// lists, which leave no room for other work on the device.
void add_segment_hints(const Recording& recording, const DependencyGraph& dependencies,
                       std::uint32_t max_blocks, bool may_fill, NodeHints& hints,
                       std::uint32_t loop_condition = kNone);

// Minimum number of commands for which Lowering::Auto makes a segment; measured at most 1.02 times
// the time of the nodes, for every shape of engine/docs/design/segments.md. A dispatch of several
// blocks may be faster as a node, because several blocks of a segment wait for each other or run in
// sequence.
inline constexpr std::uint32_t kMinAutoCommands = 100;
// True if no list of the segment waits for another one, and no item has several blocks.
[[nodiscard]] bool runs_at_once(const Segment& segment);

// Divides the nodes with blocks into segments of at least two nodes. Every path between two nodes
// of a segment stays inside it.
struct SegmentPartition {
  struct Range {
    std::uint32_t first = 0, nodes = 0;  // in `order`
  };
  std::vector<std::uint32_t> order;  // dependency nodes, topological
  std::vector<Range> segments;
};
[[nodiscard]] SegmentPartition partition_into_segments(const DependencyGraph& dependencies,
                                                       std::span<const std::uint32_t> blocks);

// Lists, at most hints.segment_lists, for the nodes `first_node` to `first_node` + `nodes` - 1 of a
// graph whose nodes and edges are complete. Nodes on long paths come first. With `relations`, an
// item waits only for the blocks that it depends on: blocks that depend on one another are in one
// list if possible, where no wait is needed. Deterministic.
[[nodiscard]] Segment schedule_segment(const LoweredGraph& lowered, const NodeHints& hints,
                                       std::uint32_t first_node, std::uint32_t nodes,
                                       std::vector<BlockRelation> relations = {});

// Throws Internal (Stage::Lowering) unless the items are the blocks of all nodes, every needed edge
// between nodes of a segment is implied, and no list can wait forever.
void check_segments(const DependencyGraph& dependencies, const LoweredGraph& lowered);

}  // namespace reprise::detail

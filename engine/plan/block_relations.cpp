#include "plan/block_relations.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/aligned_up.hpp"
#include "dependencies/hazards.hpp"
#include "plan/dispatch_footprint.hpp"

namespace reprise::detail {

namespace {

// Where each buffer is: transients share the memory of the first one, at their offsets in the slab.
std::vector<MemoryPlace> places_of(const Recording& recording, const Placement& placement) {
  std::vector<MemoryPlace> places = recording.places;
  for (auto i = static_cast<std::uint32_t>(places.size()); i < recording.buffers.size(); ++i)
    places.push_back({.memory = i});
  for (const PlacedBuffer& placed : placement.buffers)
    places[placed.buffer] = {placement.buffers.front().buffer, placed.offset};
  return places;
}

// The relations of the blocks of commands, with buffers at given places.
class CommandRelations {
 public:
  CommandRelations(const Recording& recording, std::vector<MemoryPlace> places)
      : recording_(recording), places_(std::move(places)) {
    for (const BufferAccess& access : recording.accesses)
      accesses_.push_back(moved_to(places_[access.buffer], access));
  }

  // Of the recording, in terms of memory.
  [[nodiscard]] const std::vector<BufferAccess>& accesses() const noexcept { return accesses_; }
  [[nodiscard]] std::uint32_t blocks(std::uint32_t command) const {
    return segment_blocks_of(recording_, command);
  }

  // Block i of `from` and block j of `to` share bytes only if
  //   from.step * i + from.begin < to.step * j + to.end and to.step * j + to.begin < from.step * i
  //   + from.end.
  // With tiles of one matrix, only if i is j. The relation names the commands, not nodes.
  BlockRelation between(std::uint32_t from, std::uint32_t to) {
    const BlockRelation all{.from = from, .to = to};
    if (blocks(from) <= 1) return all;
    std::optional<BlockRelation> found;
    bool has_tiles = false;
    for (const BlockAccess& a : accesses_of(from)) {
      for (const BlockAccess& b : accesses_of(to)) {
        if (a.access.buffer != b.access.buffer || a.access.begin >= b.access.end ||
            b.access.begin >= a.access.end ||
            (!writes(a.access.access) && !writes(b.access.access)))
          continue;
        if (a.tiles && a.tiles == b.tiles) {
          has_tiles = true;
          continue;
        }
        if (a.bytes.empty() || b.bytes.empty()) return all;
        for (const BlockAccess::Bytes& x : a.bytes) {
          for (const BlockAccess::Bytes& y : b.bytes) {
            if (x.lowest >= y.highest || y.lowest >= x.highest) continue;
            if (x.step == 0 || (found && (x.step != found->divisor || y.step != found->factor)))
              return all;
            const std::int64_t low = y.begin - x.end + x.step, high = y.end - x.begin - 1;
            if (!found) found = {from, to, y.step, x.step, low, high};
            found->low = std::min(found->low, low);
            found->high = std::max(found->high, high);
          }
        }
      }
    }
    if (!found) return has_tiles ? BlockRelation{from, to, 1, 1, 0, 0} : all;
    const std::int64_t common = std::gcd(found->factor, found->divisor);
    found->low = floor_divide(found->low, common);
    found->high = floor_divide(found->high, common);
    found->factor /= common;
    found->divisor /= common;
    if (!has_tiles) return *found;
    if (found->factor != 1 || found->divisor != 1) return all;
    found->low = std::min<std::int64_t>(found->low, 0);
    found->high = std::max<std::int64_t>(found->high, 0);
    return *found;
  }

 private:
  const std::vector<BlockAccess>& accesses_of(std::uint32_t command) {
    const auto [known, is_new] = by_command_.try_emplace(command);
    if (is_new) {
      const Command& of = recording_.commands[command];
      known->second =
          block_accesses(recording_, command,
                         std::span(accesses_).subspan(of.first_access, of.access_count), places_);
    }
    return known->second;
  }

  const Recording& recording_;
  const std::vector<MemoryPlace> places_;  // by buffer
  std::vector<BufferAccess> accesses_;
  std::unordered_map<std::uint32_t, std::vector<BlockAccess>> by_command_;
};

class RelationFinder {
 public:
  // Of a segment with relations, whose reduction takes two bits for each pair of nodes.
  static constexpr std::uint32_t kMaxNodes = 16'384;

  RelationFinder(const Recording& recording, const DependencyGraph& dependencies,
                 const LoweredGraph& lowered, const Placement& placement)
      : recording_(recording),
        dependencies_(dependencies),
        lowered_(lowered),
        commands_(recording, places_of(recording, placement)) {}

  std::vector<std::vector<BlockRelation>> run() {
    std::vector<std::vector<BlockRelation>> relations(lowered_.segments.size());
    HazardTracker hazards(recording_, commands_.accesses());
    for (std::uint32_t node = 0; node < lowered_.nodes.size(); ++node) {
      const std::uint32_t command = command_of(node);
      if (command == kNone) continue;
      const std::uint32_t segment = lowered_.segment_of(node);
      for (const Conflict& conflict : hazards.visit(command)) {
        const std::uint32_t from = node_of_[conflict.from];
        if (segment == kNone || !lowered_.segments[segment].contains(from)) continue;
        BlockRelation& relation =
            relations[segment].emplace_back(commands_.between(conflict.from, command));
        relation.from = from;
        relation.to = node;
      }
      node_of_[command] = node;
    }
    for (std::size_t i = 0; i < relations.size(); ++i) {
      std::vector<BlockRelation>& of = relations[i];
      const bool is_by_block = std::any_of(
          of.begin(), of.end(), [](const BlockRelation& one) { return !one.is_of_all_blocks(); });
      if (!is_by_block || lowered_.segments[i].nodes > kMaxNodes) of.clear();
      std::sort(of.begin(), of.end(), [](const BlockRelation& a, const BlockRelation& b) {
        return a.to != b.to ? a.to < b.to : a.from < b.from;
      });
      reduce(lowered_.segments[i], of);
    }
    return relations;
  }

 private:
  [[nodiscard]] std::uint32_t command_of(std::uint32_t node) const {
    const std::uint32_t dependency_node = lowered_.nodes[node].dependency_node;
    return dependency_node == kNone ? kNone : dependencies_.node_command[dependency_node];
  }
  [[nodiscard]] std::uint32_t blocks(std::uint32_t node) const {
    return commands_.blocks(command_of(node));
  }
  [[nodiscard]] bool is_one_to_one(const BlockRelation& relation) const {
    return relation.is_of_same_block() && blocks(relation.from) == blocks(relation.to);
  }
  // Each block of the later command needs a block of the earlier one.
  [[nodiscard]] bool binds_all(const BlockRelation& relation) const {
    if (is_one_to_one(relation)) return true;
    for (std::uint32_t block = 0; block < blocks(relation.to); ++block) {
      const auto needed = relation.needed(block, 1, blocks(relation.from));
      if (needed.last < needed.first) return false;
    }
    return true;
  }
  // The blocks of the later command together need all blocks of the earlier one.
  [[nodiscard]] bool needs_all(const BlockRelation& relation) const {
    if (is_one_to_one(relation)) return true;
    std::uint32_t next = 0;
    for (std::uint32_t block = 0; block < blocks(relation.to); ++block) {
      const auto needed = relation.needed(block, 1, blocks(relation.from));
      if (needed.last < needed.first) continue;
      if (needed.first > next) return false;
      next = std::max(next, needed.last + 1);
    }
    return next == blocks(relation.from);
  }

  // Removes relations to commands all of whose blocks precede every block anyway. By node of the
  // segment: `whole`, the commands that precede each of its blocks; `together`, those that have
  // ended when all its blocks have.
  void reduce(const Segment& segment, std::vector<BlockRelation>& relations) const {
    if (relations.empty()) return;
    const std::size_t words = (segment.nodes + 63) / 64;
    std::vector<std::uint64_t> whole(segment.nodes * words, 0), together(segment.nodes * words, 0);
    const auto has = [&](const std::vector<std::uint64_t>& set, std::uint32_t of,
                         std::uint32_t node) {
      return (set[of * words + node / 64] >> (node % 64) & 1) != 0;
    };
    const auto add = [&](std::vector<std::uint64_t>& set, std::uint32_t of, std::uint32_t node) {
      set[of * words + node / 64] |= std::uint64_t{1} << (node % 64);
    };
    const auto add_all = [&](std::vector<std::uint64_t>& to, std::uint32_t of,
                             const std::vector<std::uint64_t>& set, std::uint32_t node) {
      for (std::size_t i = 0; i < words; ++i) to[of * words + i] |= set[node * words + i];
    };
    std::vector<BlockRelation> kept;
    for (auto first = relations.begin(); first != relations.end();) {
      const auto end = std::find_if(first, relations.end(),
                                    [&](const BlockRelation& one) { return one.to != first->to; });
      const std::uint32_t to = first->to - segment.first_node;
      // The latest first: it can imply others.
      for (auto relation = end; relation != first;) {
        --relation;
        const std::uint32_t from = relation->from - segment.first_node;
        if (has(whole, to, from)) continue;
        kept.push_back(*relation);
        if (relation->is_of_all_blocks()) {
          add(whole, to, from);
          add_all(whole, to, together, from);
        } else if (binds_all(*relation)) {
          add_all(whole, to, whole, from);
        }
        if (relation->is_of_all_blocks() || needs_all(*relation)) {
          add(together, to, from);
          add_all(together, to, together, from);
        }
      }
      add_all(together, to, whole, to);
      first = end;
    }
    std::sort(kept.begin(), kept.end(), [](const BlockRelation& a, const BlockRelation& b) {
      return a.to != b.to ? a.to < b.to : a.from < b.from;
    });
    relations = std::move(kept);
  }

  const Recording& recording_;
  const DependencyGraph& dependencies_;
  const LoweredGraph& lowered_;
  CommandRelations commands_;
  std::unordered_map<std::uint32_t, std::uint32_t> node_of_;  // by command
};

}  // namespace

bool may_relate_blocks(const Recording& recording) {
  return recording.ordering == Ordering::Inferred && recording.edges.empty() &&
         std::none_of(recording.commands.begin(), recording.commands.end(),
                      [](const Command& command) { return command.kind == CommandKind::Barrier; });
}

std::vector<std::vector<BlockRelation>> find_block_relations(const Recording& recording,
                                                             const DependencyGraph& dependencies,
                                                             const LoweredGraph& lowered,
                                                             const Placement& placement) {
  const bool has_blocks = std::any_of(lowered.segment_blocks.begin(), lowered.segment_blocks.end(),
                                      [](std::uint32_t blocks) { return blocks > 1; });
  if (lowered.segments.empty() || !has_blocks || !may_relate_blocks(recording))
    return std::vector<std::vector<BlockRelation>>(lowered.segments.size());
  return RelationFinder(recording, dependencies, lowered, placement).run();
}

bool keeps_blocks_apart(const Recording& recording) {
  if (!may_relate_blocks(recording)) return false;
  CommandRelations commands(recording, places_of(recording, {}));
  HazardTracker hazards(recording, commands.accesses());
  for (std::uint32_t command = 0; command < recording.commands.size(); ++command) {
    for (const Conflict& conflict : hazards.visit(command)) {
      const std::uint32_t before = commands.blocks(conflict.from), after = commands.blocks(command);
      if (before == 1 && after == 1) continue;
      if (before != after || !commands.between(conflict.from, command).is_of_same_block())
        return false;
    }
  }
  return true;
}

std::vector<std::string> footprint_problems(const Recording& recording,
                                            std::span<const std::uint32_t> commands) {
  if (!may_relate_blocks(recording))
    return {commands.size(), "barriers, edges or another order than the inferred one"};
  const std::vector<MemoryPlace> places = places_of(recording, {});
  std::vector<std::string> problems;
  for (const std::uint32_t command : commands) {
    const Command& of = recording.commands[command];
    std::vector<BufferAccess> accesses;
    for (std::uint32_t i = of.first_access; i < of.first_access + of.access_count; ++i)
      accesses.push_back(recording.in_memory(recording.accesses[i]));
    static_cast<void>(
        block_accesses(recording, command, accesses, places, &problems.emplace_back()));
  }
  return problems;
}

}  // namespace reprise::detail

// find_races(): searches for commands whose order matters but is not declared, and for reads of
// bytes that no command wrote.
#include <reprise/find_races.hpp>

#include <algorithm>
#include <functional>
#include <utility>

#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "race/reordered_replay.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/graph/compile_graph.hpp"
#include "runtime/graph/rank_comparison.hpp"
#include "runtime/memory/pool_core.hpp"
#include "runtime/queue/queue_core.hpp"

namespace reprise::detail {

namespace {

using Image = MemoryCheckpoint::Image;

// Bisects [0, end] for an i with !differs(i) and differs(i + 1). `differs` is false at 0 and true
// at `end`; if it changes more than once, any of the changes is returned.
std::uint64_t last_same(std::uint64_t end, const std::function<bool(std::uint64_t)>& differs) {
  std::uint64_t same = 0;
  while (end - same > 1) {
    const std::uint64_t middle = same + (end - same) / 2;
    (differs(middle) ? end : same) = middle;
  }
  return same;
}

class RaceFinder {
 public:
  RaceFinder(Device device, Queue queue, std::shared_ptr<const Recording> recording,
             const RaceDesc& desc)
      : desc_(desc), replay_(std::move(device), std::move(queue), std::move(recording), desc) {
    poison_.pattern = desc.pattern;
    poison_.alternate = desc.alternate;
    linear_.resize(replay_.dependencies().node_count());
    for (std::uint32_t node = 0; node < linear_.size(); ++node) linear_[node] = node;
    report_.label = replay_.recording().label;
    report_.commands = static_cast<std::uint32_t>(replay_.recording().commands.size());
    report_.seed = desc.seed;
  }

  RaceReport run() {
    expected_ = replay_.run(linear_, poison_);
    exclude_unstable(replay_.run(linear_, poison_));
    if (replay_.has_transients()) find_undefined();
    find_undeclared();
    find_races();
    replay_.memory().finish();
    report_.replays = replay_.replays();
    return std::move(report_);
  }

 private:
  [[nodiscard]] std::vector<AreaDifference> differences(const NodeOrder& order,
                                                        const Poison& poison) {
    return replay_.memory().differences(expected_, replay_.run(order, poison));
  }

  // `again` is the result of the same replay as expected_.
  void exclude_unstable(const Image& again) {
    for (const AreaDifference& difference : replay_.memory().differences(expected_, again)) {
      report_.excluded.push_back(bytes_of(difference));
      replay_.memory().exclude(difference.area);
    }
  }

  // The differences that a second replay shows again, without areas that differ between two replays
  // of the recorded order.
  [[nodiscard]] std::vector<AreaDifference> confirmed(const NodeOrder& order,
                                                      const Poison& poison) {
    if (differences(order, poison).empty()) return {};
    exclude_unstable(replay_.run(linear_, poison_));
    return differences(order, poison);
  }

  // --- Undefined reads: other poison in the same order ---
  void find_undefined() {
    Poison poison = poison_;
    poison.pattern_from = static_cast<std::uint32_t>(linear_.size());
    const std::vector<AreaDifference> found = confirmed(linear_, poison);
    if (found.empty()) return;
    const auto reader =
        static_cast<std::uint32_t>(last_same(linear_.size(), [&](std::uint64_t position) {
          poison.pattern_from = static_cast<std::uint32_t>(position);
          return !differences(linear_, poison).empty();
        }));
    RaceFinding finding;
    finding.kind = RaceFinding::Kind::Undefined;
    finding.first = command_of(reader);
    finding.transient = owner_of_undefined_bytes(reader);
    for (const AreaDifference& difference : found) finding.at_end.push_back(bytes_of(difference));
    report_.findings.push_back(std::move(finding));
  }

  // Bisects the free bytes at `position`, cut at the bounds of transients, for a piece that changes
  // the result.
  [[nodiscard]] std::string owner_of_undefined_bytes(std::uint32_t position) {
    const std::vector<PoisonedRecording::LiveRange> ranges =
        replay_.poisoned().live_ranges(linear_);
    std::vector<std::uint64_t> cuts;
    for (const auto& live : ranges) cuts.insert(cuts.end(), {live.bytes.begin, live.bytes.end});
    std::sort(cuts.begin(), cuts.end());
    std::vector<ByteRange> pieces;
    for (const ByteRange& range : replay_.poisoned().free_before(position, ranges)) {
      std::uint64_t begin = range.begin;
      for (auto cut = std::upper_bound(cuts.begin(), cuts.end(), begin);
           cut != cuts.end() && *cut < range.end; ++cut) {
        if (*cut > begin) pieces.push_back({std::exchange(begin, *cut), *cut});
      }
      pieces.push_back({begin, range.end});
    }
    std::span<const ByteRange> candidates = pieces;
    Poison poison = poison_;
    poison.position = position;
    while (candidates.size() > 1) {
      const std::span<const ByteRange> half = candidates.first(candidates.size() / 2);
      poison.ranges = half;
      candidates = differences(linear_, poison).empty() ? candidates.subspan(half.size()) : half;
    }
    return candidates.empty() ? std::string() : owner_of(candidates.front(), position, ranges);
  }

  // The transient at `piece` whose first use is at `position`; else the last one before; else the
  // next one.
  [[nodiscard]] std::string owner_of(const ByteRange& piece, std::uint32_t position,
                                     std::span<const PoisonedRecording::LiveRange> ranges) const {
    const PoisonedRecording::LiveRange* best = nullptr;
    const auto rank = [&](const PoisonedRecording::LiveRange& live) {
      if (live.first == position) return std::pair(2, std::uint32_t{0});
      return live.last < position ? std::pair(1, live.last) : std::pair(0, ~live.first);
    };
    for (const auto& live : ranges) {
      if (live.bytes.begin > piece.begin || live.bytes.end < piece.end) continue;
      if (best == nullptr || rank(live) > rank(*best)) best = &live;
    }
    return best == nullptr ? std::string()
                           : display_name(*replay_.recording().buffers[best->buffer]);
  }

  // --- Undeclared writes of ops, whose captured work recording cannot check ---
  void find_undeclared() {
    for (std::uint32_t node = 0; node < linear_.size(); ++node) {
      if (report_.findings.size() >= desc_.max_findings) return;
      const std::uint32_t command = replay_.dependencies().node_command[node];
      if (command == kNone || replay_.recording().commands[command].kind != CommandKind::Op)
        continue;
      std::vector<RaceBytes> changed = undeclared_changes(node);
      if (changed.empty()) continue;
      RaceFinding finding;
      finding.kind = RaceFinding::Kind::Undeclared;
      finding.first = command_of(node);
      finding.at_once = std::move(changed);
      report_.findings.push_back(std::move(finding));
    }
  }

  // The bytes that a replay up to `node` changes and one up to its predecessor does not, without
  // those that the node's command declares as written.
  [[nodiscard]] std::vector<RaceBytes> undeclared_changes(std::uint32_t node) {
    using Partial = ReorderedReplay::PartialResult;
    const Recording& recording = replay_.recording();
    const Command& command = recording.commands[replay_.dependencies().node_command[node]];
    const auto& areas = replay_.memory().areas();
    const auto transients = replay_.poisoned().live_ranges(linear_);
    const Partial before = replay_.run_until(linear_, node, poison_);
    Partial after = replay_.run_until(linear_, node + 1, poison_);
    const auto hide = [](const Image& from, Image& to, std::uint64_t at, std::uint64_t count) {
      const auto first = from.begin() + static_cast<std::ptrdiff_t>(at);
      std::copy(first, first + static_cast<std::ptrdiff_t>(count),
                to.begin() + static_cast<std::ptrdiff_t>(at));
    };
    for (std::uint32_t a = 0; a < command.access_count; ++a) {
      const BufferAccess& access = recording.accesses[command.first_access + a];
      if (!writes(access.access)) continue;
      const auto written =
          reinterpret_cast<std::uintptr_t>(recording.buffers[access.buffer]->address);
      for (const auto& area : areas) {
        const auto begin =
            reinterpret_cast<std::uintptr_t>(area.buffer ? area.buffer->address : area.host);
        const std::uintptr_t first = std::max(written + access.begin, begin);
        const std::uintptr_t last = std::min(written + access.end, begin + area.bytes);
        if (written != 0 && first < last)
          hide(before.memory, after.memory, replay_.memory().offset(area) + (first - begin),
               last - first);
      }
      for (const auto& live : transients) {
        if (live.buffer == access.buffer)
          hide(before.slab, after.slab, live.bytes.begin + access.begin, access.end - access.begin);
      }
    }
    auto found = replay_.memory().differences(before.memory, after.memory);
    if (!found.empty()) {  // bytes that differ in every replay prove nothing
      const Partial again = replay_.run_until(linear_, node, poison_);
      for (const AreaDifference& unstable :
           replay_.memory().differences(before.memory, again.memory))
        std::erase_if(found, [&](const auto& one) { return one.area == unstable.area; });
    }
    std::vector<RaceBytes> changed;
    for (const AreaDifference& difference : found) {
      changed.push_back(bytes_of(difference, {node, node}));
      changed.back().second_declares.clear();
    }
    for (const auto& live : transients) {
      if (live.first >= node || live.last <= node) continue;  // filled with garbage
      const AreaDifference difference =
          compare_bytes(before.slab.data() + live.bytes.begin, after.slab.data() + live.bytes.begin,
                        live.bytes.end - live.bytes.begin);
      if (difference.count == 0) continue;
      changed.push_back(bytes_of(live.buffer, difference, {node, node}));
      changed.back().second_declares.clear();
    }
    return changed;
  }

  // --- Races: the same poison in other orders ---
  void find_races() {
    const bool has_choice = topological_order(replay_.dependencies(), {}, 0) != linear_;
    report_.one_order_only = !has_choice;
    for (std::uint32_t run = 0; has_choice && run < desc_.runs; ++run) {
      while (report_.findings.size() < desc_.max_findings && find_race(desc_.seed + run)) {
      }
      if (report_.findings.size() >= desc_.max_findings) return;
      ++report_.orders;
      if (desc_.on_progress) desc_.on_progress(report_.orders, desc_.runs);
    }
  }

  bool find_race(std::uint64_t number) {
    NodeOrder order = topological_order(replay_.dependencies(), kept_, number);
    if (order == linear_) return false;
    const std::vector<AreaDifference> found = confirmed(order, poison_);
    if (found.empty()) return false;
    const AdjacentSwapPath path(std::move(order));
    const std::uint64_t swap = last_same(path.swaps(), [&](std::uint64_t swaps) {
      return !differences(path.order_after(swaps), poison_).empty();
    });
    const AdjacentSwapPath::Swap culprits = path.swap_at(swap);
    kept_.push_back(culprits.nodes);

    RaceFinding finding;
    finding.kind = RaceFinding::Kind::Order;
    finding.first = command_of(culprits.nodes.before);
    finding.second = command_of(culprits.nodes.after);
    finding.order = number;
    for (const AreaDifference& difference : found)
      finding.at_end.push_back(bytes_of(difference, culprits.nodes));
    finding.at_once = differences_at_once(path.order_after(swap), culprits);
    report_.findings.push_back(std::move(finding));
    return true;
  }

  // The bytes that differ between the two orders of the two commands, right after both have run.
  [[nodiscard]] std::vector<RaceBytes> differences_at_once(NodeOrder order,
                                                           const AdjacentSwapPath::Swap& swap) {
    std::vector<RaceBytes> found;
    const std::uint32_t count = swap.position + 2;
    const auto before = replay_.run_until(order, count, poison_);
    std::swap(order[swap.position], order[swap.position + 1]);
    const auto after = replay_.run_until(order, count, poison_);
    for (const AreaDifference& difference :
         replay_.memory().differences(before.memory, after.memory))
      found.push_back(bytes_of(difference, swap.nodes));
    for (const auto& live : replay_.poisoned().live_ranges(order)) {
      if (live.first >= count || live.last < count) continue;
      const AreaDifference difference =
          compare_bytes(before.slab.data() + live.bytes.begin, after.slab.data() + live.bytes.begin,
                        live.bytes.end - live.bytes.begin);
      if (difference.count != 0) found.push_back(bytes_of(live.buffer, difference, swap.nodes));
    }
    return found;
  }

  // --- Names ---
  [[nodiscard]] RaceCommand command_of(std::uint32_t node) const {
    const Recording& recording = replay_.recording();
    const std::uint32_t command = replay_.dependencies().node_command[node];
    return {command, recording.command_name(command),
            recording.label_path(recording.commands[command].label),
            recording.commands[command].where};
  }

  [[nodiscard]] RaceBytes bytes_of(const AreaDifference& difference) {
    return {.buffer = replay_.memory().areas()[difference.area].name,
            .first = difference.first,
            .count = difference.count};
  }
  [[nodiscard]] RaceBytes bytes_of(const AreaDifference& difference, const OrderedPair& nodes) {
    const auto& buffer = replay_.memory().areas()[difference.area].buffer;
    const auto& buffers = replay_.recording().buffers;
    const auto at = std::find(buffers.begin(), buffers.end(), buffer);
    if (buffer && at != buffers.end())
      return bytes_of(static_cast<std::uint32_t>(at - buffers.begin()), difference, nodes);
    RaceBytes bytes = bytes_of(difference);
    if (buffer) bytes.first_declares = bytes.second_declares = "nothing";
    return bytes;
  }
  [[nodiscard]] RaceBytes bytes_of(std::uint32_t buffer, const AreaDifference& difference,
                                   const OrderedPair& nodes) const {
    return {.buffer = display_name(*replay_.recording().buffers[buffer]),
            .first = difference.first,
            .count = difference.count,
            .first_declares = declared(nodes.before, buffer, difference.first),
            .second_declares = declared(nodes.after, buffer, difference.first)};
  }
  [[nodiscard]] std::string declared(std::uint32_t node, std::uint32_t buffer,
                                     std::uint64_t byte) const {
    const Recording& recording = replay_.recording();
    const Command& command = recording.commands[replay_.dependencies().node_command[node]];
    int access = 0;
    for (std::uint32_t a = 0; a < command.access_count; ++a) {
      const BufferAccess& one = recording.accesses[command.first_access + a];
      const BufferAccess asked{.buffer = buffer, .begin = byte, .end = byte + 1};
      if (overlaps(recording, recording.in_memory(one), recording.in_memory(asked)))
        access |= static_cast<int>(one.access);
    }
    static constexpr const char* kNames[] = {"nothing", "read", "write", "read and write"};
    return kNames[access];
  }

  const RaceDesc& desc_;
  ReorderedReplay replay_;
  Poison poison_;
  NodeOrder linear_;
  Image expected_;
  std::vector<OrderedPair> kept_;  // found pairs, which later orders keep in recorded order
  RaceReport report_;
};

std::shared_ptr<DeviceCore> device_of(const Recording& recording) {
  for (const auto& core : recording.buffers) {
    if (const auto buffer = PoolBuffer::of(core)) return buffer->pool()->device();
  }
  return nullptr;
}

void check_desc(const RaceDesc& desc, const CommandBuffer& commands) {
  const std::string_view label = commands.label();
  const auto refuse = [&](const std::string& text) {
    fail(ErrorCode::InvalidArgument, Stage::Validate, label,
         concat("find_races ", label, ": ", text));
  };
  require_enumerator("RaceDesc::compare", desc.compare, Stage::Validate, label);
  if (desc.runs == 0) refuse("runs is 0; use at least 1, better some tens");
  if (desc.max_findings == 0) refuse("max_findings is 0; use 1 to stop at the first");
  if (desc.pattern == desc.alternate)
    refuse(concat("pattern and alternate are both ", static_cast<unsigned>(desc.pattern),
                  ", so a read of either could not be detected; use different bytes"));
  for (const BufferView& view : desc.ignore) {
    if (!view) fail_empty("buffer to ignore", concat("find_races ", label), Stage::Validate, label);
  }
}

}  // namespace

}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

RaceReport find_races(const CommandBuffer& commands, const RaceDesc& desc) {
  using namespace detail;
  static_cast<void>(
      require_handle(core_of(commands), "CommandBuffer", "find_races", Stage::Validate));
  require_outside_callback("", "find_races", Stage::Validate, commands.label());
  check_desc(desc, commands);
  const auto any = detail::core_of(commands)->executable("find_races");
  const auto device = desc.queue ? detail::core_of(desc.queue)->device() : device_of(*any);
  if (!device) {
    fail(ErrorCode::InvalidArgument, Stage::Validate, any->label,
         concat("find_races ", any->label,
                ": no command has a buffer of a pool; name a queue to run on"));
  }
  auto recording = recording_to_compile(*device, commands, nullptr);
  require_no_collectives(*recording, "find_races", "it runs the commands in other orders");
  static_cast<void>(check(*device, *recording));
  const Device owner = make_handle<Device>(device);
  const Queue queue = desc.queue ? desc.queue : owner.create_queue({.label = "find_races"});
  return RaceFinder(owner, queue, std::move(recording), desc).run();
}

RaceReport find_races(const CommandBuffer& commands, std::uint32_t runs) {
  return find_races(commands, RaceDesc{.runs = runs});
}

}  // namespace reprise::inline REPRISE_ABI

#include "compile/plan_cache.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "dependencies/same_dependencies.hpp"
#include "plan/hash.hpp"
#include "record/payload.hpp"

namespace reprise::detail {

namespace {

// Whether lowering and placement of equal structures are the same.
bool same(const PlanOptions& a, const PlanOptions& b) {
  return a.lowering == b.lowering && a.alignment == b.alignment && a.memory_goal == b.memory_goal &&
         a.memory_search_budget == b.memory_search_budget &&
         a.may_have_segments == b.may_have_segments;
}
bool same(const NodeHints& a, const NodeHints& b) {
  return a.costs == b.costs && a.starts == b.starts && a.works == b.works;
}

// Represents every buffer of a kind whose size no stage reads.
const std::shared_ptr<BufferCore>& placeholder(BufferKind kind) {
  static const auto make = [](BufferKind of) {
    auto core = std::make_shared<BufferCore>();
    core->kind = of;
    return core;
  };
  static const std::shared_ptr<BufferCore> all[] = {
      make(BufferKind::Device), make(BufferKind::Transient), make(BufferKind::PinnedHost),
      make(BufferKind::Condition), make(BufferKind::BorrowedHost)};
  return all[static_cast<std::size_t>(kind)];
}

std::shared_ptr<BufferCore> transient_like(const BufferCore& buffer) {
  auto core = std::make_shared<BufferCore>();
  core->kind = BufferKind::Transient;
  core->bytes = buffer.bytes;
  core->alignment = buffer.alignment;
  return core;
}

// The parts of the recording that has_same_ordering() and the placement of transients read.
// has_same_ordering() reads payloads of dispatches only if dependencies are programmatic; such
// recordings are not cached (has_hints()).
std::shared_ptr<const Recording> structure_of(const Recording& recording) {
  auto structure = std::make_shared<Recording>();
  auto arena = std::make_shared<Arena>();
  structure->ordering = recording.ordering;
  structure->accesses = recording.accesses;
  structure->shapes = recording.shapes;
  structure->places = recording.places;
  structure->edges = recording.edges;
  structure->commands.reserve(recording.commands.size());
  for (const Command& command : recording.commands) {
    Command& kept = structure->commands.emplace_back();
    kept.kind = command.kind;
    kept.first_access = command.first_access;
    kept.access_count = command.access_count;
    if (command.kind == CommandKind::Barrier)
      kept.payload = clone_payload(command.kind, command.payload, *arena);
  }
  structure->buffers.reserve(recording.buffers.size());
  for (const auto& buffer : recording.buffers) {
    structure->buffers.push_back(buffer->kind == BufferKind::Transient ? transient_like(*buffer)
                                                                       : placeholder(buffer->kind));
  }
  structure->arenas.push_back(std::move(arena));
  return structure;
}

template <class T>
std::uint64_t bytes_of(const std::vector<T>& list) {
  return list.size() * sizeof(T);
}

std::uint64_t bytes_of(const Plan& plan) {
  const Recording& recording = *plan.recording;
  const auto transients = static_cast<std::uint64_t>(plan.placement.buffers.size());
  return sizeof(Plan) + sizeof(Recording) + bytes_of(recording.commands) +
         bytes_of(recording.accesses) + bytes_of(recording.shapes) + bytes_of(recording.edges) +
         bytes_of(recording.places) + bytes_of(recording.buffers) +
         transients * sizeof(BufferCore) + bytes_of(plan.dependencies.node_command) +
         bytes_of(plan.dependencies.is_join) + bytes_of(plan.dependencies.first_edge) +
         bytes_of(plan.dependencies.edges) + bytes_of(plan.lowered.nodes) +
         bytes_of(plan.lowered.edges) + bytes_of(plan.lowered.node_of) +
         bytes_of(plan.lowered.works) + bytes_of(plan.placement.buffers);
}

}  // namespace

std::uint64_t PlanCache::structure_hash(const Recording& recording, const PlanOptions& options) {
  Hash64 hash;
  hash.add(static_cast<std::uint32_t>(options.lowering.mode), options.lowering.lanes);
  hash.add(options.alignment,
           (options.lowering.fault_markers ? 1u : 0u) | (options.may_have_segments ? 2u : 0u));
  hash.add(std::uint64_t{static_cast<std::uint8_t>(options.memory_goal)});
  hash.add(static_cast<std::uint64_t>(options.memory_search_budget.count()));
  hash.add(static_cast<std::uint32_t>(recording.ordering),
           static_cast<std::uint32_t>(recording.commands.size()));
  for (std::uint32_t i = 0; i < recording.commands.size(); ++i) {
    const Command& command = recording.commands[i];
    if (command.kind != CommandKind::Barrier) {
      hash.add(command.access_count);
      continue;
    }
    const auto& barrier = recording.payload<BarrierPayload>(i);
    hash.add(barrier.buffer, 0xba0000u | static_cast<std::uint32_t>(barrier.before) << 8 |
                                 static_cast<std::uint32_t>(barrier.after));
    hash.add(barrier.begin);
    hash.add(barrier.end);
  }
  for (const BufferAccess& access : recording.accesses) {
    hash.add(access.buffer, access.shape << 2 | static_cast<std::uint32_t>(access.access));
    hash.add(access.begin);
    hash.add(access.end);
  }
  for (const MemoryPlace& place : recording.places) {
    hash.add(place.memory);
    hash.add(place.offset);
  }
  for (const UserEdge& edge : recording.edges) hash.add(edge.before, edge.after);
  for (std::uint32_t i = 0; i < recording.buffers.size(); ++i) {
    const BufferCore& buffer = *recording.buffers[i];
    if (buffer.kind != BufferKind::Transient) continue;
    hash.add(i, buffer.alignment);
    hash.add(buffer.bytes);
  }
  return hash.value();
}

std::shared_ptr<const Plan> PlanCache::find(std::uint64_t hash, const Recording& recording,
                                            const PlanOptions& options) {
  std::shared_ptr<const Plan> plan;
  NodeHints hints;
  {
    std::lock_guard lock(mutex_);
    const auto found = entries_.find(hash);
    if (found != entries_.end() && same(found->second.options, options)) {
      plan = found->second.plan;
      hints = found->second.hints;
    }
  }
  const bool is_hit = plan != nullptr && has_same_ordering(*plan->recording, recording) &&
                      same(hints, hints_of(recording, plan->dependencies));
  std::lock_guard lock(mutex_);
  if (!is_hit) {
    ++report_.misses;
    return nullptr;
  }
  ++report_.hits;
  if (const auto found = entries_.find(hash); found != entries_.end())
    found->second.used = ++clock_;
  return plan;
}

void PlanCache::insert(std::uint64_t hash, const Plan& plan, const PlanOptions& options) {
  {
    std::lock_guard lock(mutex_);
    if (report_.budget == 0 || !was_inserted(hash)) return;
  }
  auto kept = std::make_shared<Plan>();
  kept->recording = structure_of(*plan.recording);
  kept->dependencies = plan.dependencies;
  kept->lowered = plan.lowered;
  kept->placement = plan.placement;
  kept->memory_tradeoff = plan.memory_tradeoff;
  NodeHints hints = hints_of(*plan.recording, plan.dependencies);
  const std::uint64_t bytes =
      bytes_of(*kept) + bytes_of(hints.costs) + bytes_of(hints.starts) + bytes_of(hints.works);
  std::lock_guard lock(mutex_);
  if (bytes > report_.budget) return;
  Entry& entry = entries_[hash];
  report_.bytes += bytes - entry.bytes;
  entry = {std::move(kept), options, std::move(hints), bytes, ++clock_};
  evict();
}

bool PlanCache::was_inserted(std::uint64_t hash) {
  std::uint64_t& recent = recent_[hash % recent_.size()];
  return std::exchange(recent, hash) == hash;
}

void PlanCache::evict() {
  while (report_.bytes > report_.budget) {
    const auto oldest = std::min_element(
        entries_.begin(), entries_.end(),
        [](const auto& a, const auto& b) { return a.second.used < b.second.used; });
    report_.bytes -= oldest->second.bytes;
    ++report_.evictions;
    entries_.erase(oldest);
  }
}

void PlanCache::set_budget(std::uint64_t bytes) {
  std::lock_guard lock(mutex_);
  report_.budget = bytes;
  evict();
}

CompileCacheReport PlanCache::report() const {
  std::lock_guard lock(mutex_);
  CompileCacheReport now = report_;
  now.structures = entries_.size();
  return now;
}

const Plan* CacheLookup::find() {
  if (std::exchange(was_asked_, true)) return found_.get();
  if (options_.costs || options_.lowering.mode == Lowering::Mode::Persistent ||
      has_hints(recording_))
    return nullptr;
  hash_ = PlanCache::structure_hash(recording_, options_);
  found_ = cache_.find(*hash_, recording_, options_);
  return found_.get();
}

void CacheLookup::insert(const Plan& plan) {
  if (hash_ && !found_) cache_.insert(*hash_, plan, options_);
}

}  // namespace reprise::detail

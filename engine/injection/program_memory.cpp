#include "injection/program_memory.hpp"

#include <iterator>

#include "base/text.hpp"

namespace reprise::detail {
namespace {

const char* label_of(ProgramMemory::Source source) {
  switch (source) {
    case ProgramMemory::Source::Device: return "cudaMalloc";
    case ProgramMemory::Source::Stream: return "cudaMallocAsync";
    case ProgramMemory::Source::Mapped: return "cuMemMap";
    case ProgramMemory::Source::Managed: return "cudaMallocManaged";
    case ProgramMemory::Source::Graph: return "graph memory";
    case ProgramMemory::Source::PinnedHost: return "cudaHostAlloc";
  }
  return "";
}

trace::BufferKind kind_of(ProgramMemory::Source source) {
  return source == ProgramMemory::Source::PinnedHost ? trace::BufferKind::PinnedHost
                                                     : trace::BufferKind::Device;
}

trace::BufferLifetime lifetime_of(const ProgramMemory::Location& location, trace::Time since,
                                  trace::Time freed) {
  const ProgramMemory::Allocation& a = location.allocation;
  return {location.buffer,
          location.pool,
          a.device,
          kind_of(a.source),
          a.bytes,
          a.address,
          since,
          freed,
          ProgramMemory::name_of(location)};
}

}  // namespace

std::string ProgramMemory::name_of(const Location& location) {
  return concat(label_of(location.allocation.source), " ", location.buffer);
}

std::uint32_t ProgramMemory::pool_of(const Allocation& allocation) {
  const auto [at, is_new] = pool_of_.try_emplace({allocation.device, allocation.source},
                                                 static_cast<std::uint32_t>(pools_.size()));
  if (is_new) {
    Pool pool;
    pool.state.pool = at->second;
    pool.state.device = allocation.device;
    pool.state.label = label_of(allocation.source);
    pools_.push_back(std::move(pool));
  }
  return at->second;
}

void ProgramMemory::count(const Location& location, std::int64_t sign) {
  Pool& pool = pools_[location.pool];
  const auto bytes = static_cast<std::uint64_t>(sign) * location.allocation.bytes;
  pool.state.buffers += static_cast<std::uint32_t>(sign);
  (location.allocation.source == Source::PinnedHost ? pool.state.host_bytes
                                                    : pool.state.device_bytes) += bytes;
  pool.changed = true;
}

void ProgramMemory::add(const Allocation& allocation, trace::Time at) {
  if (allocation.address == 0 || allocation.bytes == 0) return;
  remove_range(allocation.address, allocation.bytes, at);
  const LiveAllocation live{{next_buffer_++, pool_of(allocation), allocation}, at};
  allocations_.emplace(allocation.address, live);
  count(live.location, 1);
  lifetimes_.add(lifetime_of(live.location, live.since, 0), changes_);
}

ProgramMemory::Allocations::iterator ProgramMemory::end(Allocations::iterator entry,
                                                        trace::Time at) {
  count(entry->second.location, -1);
  trace::PoolState& pool = pools_[entry->second.location.pool].state;
  ++pool.freed;
  pool.freed_bytes += entry->second.location.allocation.bytes;
  lifetimes_.remove(lifetime_of(entry->second.location, entry->second.since, at), changes_);
  return allocations_.erase(entry);
}

void ProgramMemory::remove(std::uint64_t address, trace::Time at) {
  if (const auto entry = allocations_.find(address); entry != allocations_.end()) end(entry, at);
}

void ProgramMemory::remove_range(std::uint64_t address, std::uint64_t bytes, trace::Time at) {
  for (auto entry = allocations_.lower_bound(address);
       entry != allocations_.end() && entry->first - address < bytes;)
    entry = end(entry, at);
}

std::optional<ProgramMemory::Location> ProgramMemory::find(std::uint64_t address) const {
  auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return std::nullopt;
  const Location& location = std::prev(after)->second.location;
  if (address - location.allocation.address >= location.allocation.bytes) return std::nullopt;
  return location;
}

void ProgramMemory::finish(trace::Time at, std::vector<trace::Record>& records) {
  lifetimes_.finish(changes_);
  collect(at, records);
}

void ProgramMemory::collect(trace::Time at, std::vector<trace::Record>& records) {
  lifetimes_.collect(at, changes_);
  for (trace::Record& change : changes_) records.push_back(std::move(change));
  changes_.clear();
  for (Pool& pool : pools_) {
    if (!pool.changed) continue;
    pool.changed = false;
    pool.state.at = at;
    records.emplace_back(pool.state);
  }
}

}  // namespace reprise::detail

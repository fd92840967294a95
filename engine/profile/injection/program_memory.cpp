#include "profile/injection/program_memory.hpp"

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

trace::BufferLife life_of(const ProgramMemory::Place& place, trace::Time since, trace::Time freed) {
  const ProgramMemory::Allocation& a = place.allocation;
  return {place.buffer,
          place.pool,
          a.device,
          kind_of(a.source),
          a.bytes,
          a.address,
          since,
          freed,
          ProgramMemory::name_of(place)};
}

}  // namespace

std::string ProgramMemory::name_of(const Place& place) {
  return concat(label_of(place.allocation.source), " ", place.buffer);
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

void ProgramMemory::count(const Place& place, std::int64_t sign) {
  Pool& pool = pools_[place.pool];
  const auto bytes = static_cast<std::uint64_t>(sign) * place.allocation.bytes;
  pool.state.buffers += static_cast<std::uint32_t>(sign);
  (place.allocation.source == Source::PinnedHost ? pool.state.host_bytes
                                                 : pool.state.device_bytes) += bytes;
  pool.changed = true;
}

void ProgramMemory::add(const Allocation& allocation, trace::Time at) {
  if (allocation.address == 0 || allocation.bytes == 0) return;
  remove_range(allocation.address, allocation.bytes, at);
  const Live live{{next_buffer_++, pool_of(allocation), allocation}, at};
  lives_.emplace(allocation.address, live);
  count(live.place, 1);
  changes_.push_back(life_of(live.place, live.since, 0));
}

ProgramMemory::Lives::iterator ProgramMemory::end_of(Lives::iterator life, trace::Time at) {
  count(life->second.place, -1);
  changes_.push_back(life_of(life->second.place, life->second.since, at));
  return lives_.erase(life);
}

void ProgramMemory::remove(std::uint64_t address, trace::Time at) {
  if (const auto life = lives_.find(address); life != lives_.end()) end_of(life, at);
}

void ProgramMemory::remove_range(std::uint64_t address, std::uint64_t bytes, trace::Time at) {
  for (auto life = lives_.lower_bound(address);
       life != lives_.end() && life->first - address < bytes;)
    life = end_of(life, at);
}

std::optional<ProgramMemory::Place> ProgramMemory::find(std::uint64_t address) const {
  auto after = lives_.upper_bound(address);
  if (after == lives_.begin()) return std::nullopt;
  const Place& place = std::prev(after)->second.place;
  if (address - place.allocation.address >= place.allocation.bytes) return std::nullopt;
  return place;
}

void ProgramMemory::collect(trace::Time at, std::vector<trace::Record>& records) {
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

// ProgramMemory: the allocations of a program, observed from its calls: maps addresses to
// allocations and produces their trace records. Knows nothing about the driver. Threads: one at a
// time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "profile/lifetime_recorder.hpp"
#include "trace/records.hpp"

namespace reprise::detail {

class ProgramMemory {
 public:
  enum class Source : std::uint8_t {
    Device,
    Stream,
    Mapped,
    Managed,
    Graph,
    PinnedHost
  };  // the family of allocation calls
  struct Allocation {
    std::uint64_t address = 0, bytes = 0;
    Source source = Source::Device;
    std::uint32_t device = 0;
  };
  struct Location {
    std::uint32_t buffer = 0, pool = 0;  // ids in the trace
    Allocation allocation;
  };

  // Ends allocations that overlap the new one: their release was not observed.
  void add(const Allocation& allocation, trace::Time at);
  // No effect if no allocation starts at the address.
  void remove(std::uint64_t address, trace::Time at);
  // Ends all allocations that start in [address, address + bytes).
  void remove_range(std::uint64_t address, std::uint64_t bytes, trace::Time at);
  [[nodiscard]] std::optional<Location> find(std::uint64_t address) const;
  // A name for users: the allocating call and a number.
  [[nodiscard]] static std::string name_of(const Location& location);

  // Appends the changes since the last call.
  void collect(trace::Time at, std::vector<trace::Record>& records);
  // The last call: also appends the lifetimes that wait.
  void finish(trace::Time at, std::vector<trace::Record>& records);

 private:
  struct LiveAllocation {
    Location location;
    trace::Time since = 0;
  };
  struct Pool {
    trace::PoolState state;
    bool changed = false;
  };
  using Allocations = std::map<std::uint64_t, LiveAllocation>;  // key: address
  Allocations::iterator end(Allocations::iterator entry, trace::Time at);
  [[nodiscard]] std::uint32_t pool_of(const Allocation& allocation);
  void count(const Location& location, std::int64_t sign);

  Allocations allocations_;
  std::map<std::pair<std::uint32_t, Source>, std::uint32_t> pool_of_;
  std::vector<Pool> pools_;
  std::vector<trace::Record> changes_;
  RateLimit lifetime_rate_{kLifetimeRate};
  LifetimeRecorder lifetimes_{lifetime_rate_};
  std::uint32_t next_buffer_ = 0;
};

}  // namespace reprise::detail

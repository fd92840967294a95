// ProgramMemory: the allocations of a program, as its calls tell: which one an address is in, and
// what a trace says of them. Knows no driver. Threads: one at a time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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
  };  // which family of calls it is from
  struct Allocation {
    std::uint64_t address = 0, bytes = 0;
    Source source = Source::Device;
    std::uint32_t device = 0;
  };
  struct Place {
    std::uint32_t buffer = 0, pool = 0;  // of the trace
    Allocation allocation;
  };

  // Where another one is at the address, that is over: its end was not seen.
  void add(const Allocation& allocation, trace::Time at);
  // Nothing where none begins at the address.
  void remove(std::uint64_t address, trace::Time at);
  // All that begin in [address, address + bytes).
  void remove_range(std::uint64_t address, std::uint64_t bytes, trace::Time at);
  [[nodiscard]] std::optional<Place> find(std::uint64_t address) const;
  // What people know it by: the call that made it, and a number.
  [[nodiscard]] static std::string name_of(const Place& place);

  // Appends what became of them since the last call.
  void collect(trace::Time at, std::vector<trace::Record>& records);

 private:
  struct Live {
    Place place;
    trace::Time since = 0;
  };
  struct Pool {
    trace::PoolState state;
    bool changed = false;
  };
  using Lives = std::map<std::uint64_t, Live>;  // by address
  Lives::iterator end_of(Lives::iterator life, trace::Time at);
  [[nodiscard]] std::uint32_t pool_of(const Allocation& allocation);
  void count(const Place& place, std::int64_t sign);

  Lives lives_;
  std::map<std::pair<std::uint32_t, Source>, std::uint32_t> pool_of_;
  std::vector<Pool> pools_;
  std::vector<trace::Record> changes_;
  std::uint32_t next_buffer_ = 0;
};

}  // namespace reprise::detail

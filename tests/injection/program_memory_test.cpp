#include "injection/program_memory.hpp"

#include <doctest/doctest.h>

#include "injection/traced.hpp"
#include "trace/chunk.hpp"

namespace reprise::test {
namespace {

using detail::ProgramMemory;
using Source = ProgramMemory::Source;

std::vector<trace::Record> collected(ProgramMemory& memory) {
  std::vector<trace::Record> records;
  memory.collect(99, records);
  return records;
}

}  // namespace

TEST_CASE(
    "program memory: an address belongs to the allocation that contains it until its release") {
  ProgramMemory memory;
  memory.add({0x1000, 0x100, Source::Device, 0}, 1);
  memory.add({0x2000, 0x100, Source::Stream, 0}, 2);
  CHECK_FALSE(memory.find(0xfff));
  CHECK(memory.find(0x1000)->buffer == 0);
  CHECK(memory.find(0x10ff)->buffer == 0);
  CHECK_FALSE(memory.find(0x1100));
  CHECK(memory.find(0x2001)->buffer == 1);
  memory.remove(0x1000, 3);
  memory.remove(0x5000, 3);  // no allocation starts there
  CHECK_FALSE(memory.find(0x1000));
}

TEST_CASE("program memory: the trace contains lifetimes and totals per allocation family") {
  ProgramMemory memory;
  memory.add({0x1000, 100, Source::Device, 0}, 1);
  memory.add({0x2000, 50, Source::PinnedHost, 0}, 2);
  auto records = collected(memory);
  CHECK(all<trace::BufferLifetime>(records).size() == 2);
  const auto pools = all<trace::PoolState>(records);
  REQUIRE(pools.size() == 2);
  CHECK(pools[0].label == "cudaMalloc");
  CHECK(pools[0].device_bytes == 100);
  CHECK(pools[1].host_bytes == 50);
  memory.remove(0x1000, 7);
  records = collected(memory);
  const auto lives = all<trace::BufferLifetime>(records);
  REQUIRE(lives.size() == 1);
  CHECK(lives[0].allocated == 1);
  CHECK(lives[0].freed == 7);
  CHECK(all<trace::PoolState>(records).at(0).device_bytes == 0);
  CHECK(collected(memory).empty());
}

TEST_CASE(
    "program memory: a reused address ends the earlier allocation, and unmapping ends all "
    "allocations in its range") {
  ProgramMemory memory;
  memory.add({0x1000, 0x100, Source::Graph, 0}, 1);
  memory.add({0x1000, 0x80, Source::Graph, 0}, 2);
  CHECK(memory.find(0x1000)->buffer == 1);
  memory.add({0x4000, 0x100, Source::Mapped, 0}, 3);
  memory.add({0x4100, 0x100, Source::Mapped, 0}, 3);
  memory.remove_range(0x4000, 0x200, 4);
  CHECK_FALSE(memory.find(0x4000));
  CHECK_FALSE(memory.find(0x4150));
  CHECK(memory.find(0x1000));
  memory.add({0, 16, Source::Device, 0}, 5);
  memory.add({0x9000, 0, Source::Device, 0}, 5);
  CHECK_FALSE(memory.find(0x9000));
}

TEST_CASE("program memory: rapid allocations become counts and add under 50 MB an hour") {
  // 10,000 allocations a second, of which each lasts a second.
  constexpr std::uint64_t kPerSecond = 10'000;
  constexpr trace::Time kSecond = 1'000'000'000, kStep = kSecond / kPerSecond;
  ProgramMemory memory;
  std::uint64_t bytes = 0, sequence = 0;
  std::size_t started = 0, stopped = 0;
  trace::PoolState last;
  const auto run = [&](std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t i = from; i < to; ++i) {
      const trace::Time at = kSecond + static_cast<trace::Time>(i) * kStep;
      const auto address_of = [](std::uint64_t n) {
        return 0x7f0000000000u + (n * 2'654'435'761u % (1u << 22) << 17);
      };
      memory.add({address_of(i), 4096 + i * 7919 % 100'000, Source::Stream, 0}, at);
      if (i >= kPerSecond) memory.remove(address_of(i - kPerSecond), at);
      if (i % (kPerSecond / 20) != 0) continue;  // the collector's rate
      std::vector<trace::Record> records;
      memory.collect(at, records);
      trace::Records chunk;
      for (trace::Record& record : records) {
        if (const auto* life = std::get_if<trace::BufferLifetime>(&record))
          ++(life->freed == 0 ? started : stopped);
        if (const auto* state = std::get_if<trace::PoolState>(&record)) last = *state;
        chunk.add(std::move(record));
      }
      bytes += trace::make_chunk(trace::ChunkKind::Topology, chunk, sequence++).size();
    }
  };
  run(0, 5 * kPerSecond);
  CHECK(started > kPerSecond);  // the start of a program is recorded completely
  const std::uint64_t before = bytes;
  const std::size_t started_before = started;
  run(5 * kPerSecond, 25 * kPerSecond);
  CHECK((bytes - before) * (3600 / 20) < 50'000'000);
  CHECK(started > started_before);
  CHECK(started - stopped <= kPerSecond);
  CHECK(last.buffers >= kPerSecond);
  CHECK(last.freed > 23 * kPerSecond);
  CHECK(last.freed_bytes > last.freed * 4096);
  std::vector<trace::Record> end;
  memory.finish(30 * kSecond, end);
  for (const trace::BufferLifetime& life : all<trace::BufferLifetime>(end))
    ++(life.freed == 0 ? started : stopped);
  CHECK(started - stopped == kPerSecond);  // every live buffer is recorded at the end
}

}  // namespace reprise::test

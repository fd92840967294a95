#include "profile/injection/program_memory.hpp"

#include <doctest/doctest.h>

#include "injection/traced.hpp"

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

}  // namespace reprise::test

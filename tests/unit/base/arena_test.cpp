#include "base/arena.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

using reprise::detail::Arena;

namespace {

bool is_aligned(const void* p, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(p) % alignment == 0;
}

}  // namespace

TEST_CASE("arena: allocations have the requested alignment and do not overlap") {
  Arena arena;
  std::vector<std::pair<std::byte*, std::size_t>> allocations;
  std::size_t size = 1;
  for (int i = 0; i < 400; ++i) {
    const std::size_t alignment = std::size_t{1} << (i % 7);
    size = (size * 31 + 7) % 997 + 1;
    auto* p = static_cast<std::byte*>(arena.allocate(size, alignment));
    REQUIRE(is_aligned(p, alignment));
    std::memset(p, i & 0xff, size);
    allocations.emplace_back(p, size);
  }
  for (std::size_t i = 0; i < allocations.size(); ++i) {
    for (std::size_t b = 0; b < allocations[i].second; ++b)
      REQUIRE(allocations[i].first[b] == std::byte(i & 0xff));
  }
}

TEST_CASE("arena: an allocation larger than a block gets its own block") {
  Arena arena;
  auto* p = static_cast<std::byte*>(arena.allocate(1 << 20, 64));
  std::memset(p, 1, 1 << 20);
  CHECK(arena.block_count() == 1);
  CHECK(is_aligned(p, 64));
}

TEST_CASE("arena: reset keeps one block, and refilling allocates no other") {
  Arena arena;
  const auto fill = [&arena] {
    for (int i = 0; i < 4000; ++i) static_cast<void>(arena.allocate(100, 16));
  };
  fill();
  REQUIRE(arena.block_count() > 1);
  arena.reset();
  CHECK(arena.block_count() == 1);
  fill();
  arena.reset();
  fill();
  CHECK(arena.block_count() == 1);
}

TEST_CASE("arena: only the end of the latest allocation can be given back") {
  Arena arena;
  auto* const first = static_cast<std::byte*>(arena.allocate(64, 16));
  arena.give_back(first + 16, first + 64);
  auto* const second = static_cast<std::byte*>(arena.allocate(16, 16));
  CHECK(second == first + 16);
  arena.give_back(first, first + 16);
  CHECK(arena.allocate(16, 16) == second + 16);
}

TEST_CASE("arena: an impossible size throws bad_alloc") {
  Arena arena;
  CHECK_THROWS_AS(static_cast<void>(arena.allocate(SIZE_MAX - 8, 16)), std::bad_alloc);
  CHECK(arena.allocate(8, 8) != nullptr);
}

TEST_CASE("arena: copy_bytes and make store their arguments") {
  Arena arena;
  const int values[3] = {1, 2, 3};
  const std::byte* copy = arena.copy_bytes(values, sizeof(values));
  CHECK(std::memcmp(copy, values, sizeof(values)) == 0);
  CHECK(*arena.make<int>(7) == 7);
}

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <vector>

#include "base/handle_access.hpp"
#include "record/chunk_list.hpp"
#include "record/held_buffers.hpp"
#include "record/pointer_map.hpp"
#include "unit/record/record_fixture.hpp"

using namespace reprise;
using namespace reprise::detail;
using namespace reprise::test;

TEST_CASE("chunk list: iteration returns exactly the committed items in order") {
  Arena arena;
  ChunkList<int> list;
  std::vector<int> expected;
  for (int i = 0; i < 3000; ++i) {
    const std::uint32_t count = static_cast<std::uint32_t>(i % 5);
    int* const items = list.reserve(arena, count + 2);  // reserves more than it commits
    for (std::uint32_t k = 0; k < count; ++k) {
      items[k] = i * 10 + static_cast<int>(k);
      expected.push_back(items[k]);
    }
    list.commit(count);
  }
  std::vector<int> found;
  for (auto at = list.cursor(); const int* item = at.next();) found.push_back(*item);
  CHECK(found == expected);
  CHECK(list.size() == expected.size());
  std::vector<int> copies = {-1};
  list.copy_to(copies);
  expected.insert(expected.begin(), -1);
  CHECK(copies == expected);
}

TEST_CASE("chunk list: an empty list has no items") {
  const ChunkList<int> list;
  CHECK(list.cursor().next() == nullptr);
  CHECK(list.size() == 0);
}

TEST_CASE("pointer map: it agrees with std::map over random inserts and erases") {
  const std::uint32_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  Arena arena;
  PointerMap map;
  std::map<const void*, std::uint32_t> expected;
  std::vector<std::uint64_t> keys(2000);
  for (std::uint32_t iteration = 0; iteration < 20000; ++iteration) {
    const void* const key = &keys[random() % keys.size()];
    const auto found = expected.find(key);
    REQUIRE(map.find(key) == (found == expected.end() ? kNone : found->second));
    if (found == expected.end()) {
      map.reserve_one(arena);
      map.insert(key, iteration);
      expected[key] = iteration;
    } else if (random() % 3 == 0) {
      map.erase(key);
      expected.erase(found);
    }
  }
  for (const auto& key : keys) {
    const auto found = expected.find(&key);
    REQUIRE(map.find(&key) == (found == expected.end() ? kNone : found->second));
  }
}

TEST_CASE("held buffers: each list counts its buffers once until it is destroyed") {
  RecordFixture f;
  const auto x = detail::core_of(f.buffer<int>(1, "x"));
  const auto y = detail::core_of(f.buffer<int>(1, "y"));
  {
    HeldBuffers list;
    list.add(x);
    list.add(y);
    const HeldBuffers other(list.list());
    CHECK(x->recorded.load() == 2);
    list.truncate(1);
    CHECK(x->recorded.load() == 2);
    CHECK(y->recorded.load() == 1);
    HeldBuffers moved = std::move(list);
    CHECK(x->recorded.load() == 2);
    moved = HeldBuffers();
    CHECK(x->recorded.load() == 1);
  }
  CHECK(x->recorded.load() == 0);
  CHECK(y->recorded.load() == 0);
}

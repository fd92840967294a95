#include <doctest/doctest.h>

#include <random>
#include <unordered_map>

#include "base/slot_map.hpp"

namespace {

struct Id {
  std::uint32_t slot = 0, version = 0;
  friend bool operator==(const Id&, const Id&) = default;
};

}  // namespace

TEST_CASE("slot map: an erased id finds nothing, and its slot is reused with another version") {
  reprise::detail::SlotMap<int, Id> map;
  const Id a = map.insert(1), b = map.insert(2);
  CHECK(*map.find(a) == 1);
  CHECK(map.erase(a));
  CHECK_FALSE(map.erase(a));
  CHECK(map.find(a) == nullptr);
  const Id c = map.insert(3);
  CHECK(c.slot == a.slot);
  CHECK(c.version != a.version);
  CHECK(map.find(a) == nullptr);
  CHECK(*map.find(b) == 2);
  CHECK(*map.find(c) == 3);
  CHECK(map.size() == 2);
  CHECK(map.find(Id{77, 0}) == nullptr);
}

TEST_CASE("slot map: it agrees with a plain map over random inserts and erases") {
  constexpr std::uint32_t kSeed = 20240611;
  INFO("seed ", kSeed);
  std::mt19937 random(kSeed);
  reprise::detail::SlotMap<int, Id> map;
  std::vector<std::pair<Id, int>> live;
  std::vector<Id> dead;
  for (int i = 0; i < 5000; ++i) {
    if (live.empty() || random() % 3 != 0) {
      live.emplace_back(map.insert(i), i);
    } else {
      const std::size_t at = random() % live.size();
      CHECK(map.erase(live[at].first));
      dead.push_back(live[at].first);
      live[at] = live.back();
      live.pop_back();
    }
  }
  CHECK(map.size() == live.size());
  for (const auto& [id, value] : live) CHECK(*map.find(id) == value);
  for (const Id& id : dead) CHECK(map.find(id) == nullptr);
  long sum = 0, expected = 0;
  map.for_each([&](int value) { sum += value; });
  for (const auto& [id, value] : live) expected += value;
  CHECK(sum == expected);
}

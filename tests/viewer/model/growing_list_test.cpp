#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "model/growing_list.hpp"

using namespace reprise;

TEST_CASE("growing list: views are unchanged by out-of-order insertions") {
  model::GrowingList<int> list;
  const auto before = [](int a, int b) { return a < b; };
  std::vector<model::ListView<int>> views;
  std::vector<std::vector<int>> expected;
  std::vector<int> all;
  std::mt19937_64 random(7);
  for (int i = 0; i < 2'000; ++i) {
    const int value = i * 10 - (random() % 10 == 0 ? static_cast<int>(random() % 8'000) : 0);
    list.insert_sorted(value, before);
    all.insert(std::upper_bound(all.begin(), all.end(), value), value);
    if (i % 97 == 0) {
      views.push_back(list.view());
      expected.push_back(all);
    }
  }
  for (std::size_t v = 0; v < views.size(); ++v) {
    REQUIRE(views[v].size() == expected[v].size());
    bool equal = true;
    std::size_t i = 0;
    for (const int value : views[v]) equal = equal && value == expected[v][i++];
    CHECK(equal);
  }
  const auto view = list.view();
  for (const int value : {-1, 0, 5'000, 5'005, 50'000}) {
    CHECK(view.lower_bound(value, before) ==
          static_cast<std::size_t>(std::lower_bound(all.begin(), all.end(), value) - all.begin()));
  }
}

TEST_CASE("growing list: views taken at any time stay unchanged under appends and insertions") {
  const auto before = [](int a, int b) { return a < b; };
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const std::uint64_t one_view_in = 1 + random() % 50, one_late_in = 1 + random() % 20;
    model::GrowingList<int> list;
    std::vector<int> all;
    std::vector<std::pair<model::ListView<int>, std::vector<int>>> seen;
    for (int i = 0; i < 1'500; ++i) {
      const int value = random() % one_late_in == 0
                            ? static_cast<int>(random() % (static_cast<std::uint64_t>(i) + 1))
                            : i;
      list.insert_sorted(value, before);
      all.insert(std::upper_bound(all.begin(), all.end(), value), value);
      if (random() % one_view_in == 0) seen.emplace_back(list.view(), all);
    }
    std::size_t wrong = 0;
    for (const auto& [view, expected] : seen) {
      std::vector<int> values;
      for (const int value : view) values.push_back(value);
      wrong += values == expected ? 0 : 1;
    }
    CHECK(wrong == 0);
    CHECK(list.size() == all.size());
  }
}

TEST_CASE("growing list: elements dropped from the front stay in existing views") {
  constexpr int kBlock = static_cast<int>(model::GrowingList<int>::kBlock);
  const auto before = [](int a, int b) { return a < b; };
  model::GrowingList<int> list;
  for (int i = 0; i < 10 * kBlock; ++i) list.push_back(2 * i);
  const auto all = list.view();
  CHECK(list.drop_front(20 * kBlock) == 0);
  CHECK(list.drop_front(3 * kBlock + 1) == 6 * kBlock);
  REQUIRE(list.size() == 4 * kBlock);
  const auto rest = list.view();
  CHECK(rest[0] == 2 * 6 * kBlock);
  CHECK(rest.back() == 2 * (10 * kBlock - 1));
  list.insert_sorted(2 * 7 * kBlock + 1, before);  // out of order
  list.insert_sorted(1, before);                   // older than all remaining elements
  CHECK(list[0] == 1);
  CHECK(list[static_cast<std::size_t>(kBlock) + 2] == 2 * 7 * kBlock + 1);
  CHECK(all.size() == 10 * kBlock);
  CHECK(rest.size() == 4 * kBlock);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < all.size(); ++i) wrong += all[i] == 2 * static_cast<int>(i) ? 0 : 1;
  for (std::size_t i = 0; i < rest.size(); ++i)
    wrong += rest[i] == 2 * (static_cast<int>(i) + 6 * kBlock) ? 0 : 1;
  CHECK(wrong == 0);
  CHECK(list.drop_front(0) == 4 * kBlock);
  CHECK(list.size() == 2);
}

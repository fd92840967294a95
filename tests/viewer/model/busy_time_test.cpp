#include "model/busy_time.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

using reprise::model::BusyTime;
using reprise::trace::Time;

TEST_CASE("busy time: every period has the time of the union of the spans") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    BusyTime busy;
    std::vector<int> covered(1200, 0);
    for (Time at = 10; at < 1000; at += random() % 30) {
      const auto length = static_cast<Time>(random() % 40);
      busy.add(at, at + length);
      std::fill_n(covered.begin() + at, length, 1);
    }
    for (int i = 0; i < 50; ++i) {
      const Time from = random() % 1100, to = from + random() % 100;
      CHECK(busy.between(from, to) == std::count(covered.begin() + from, covered.begin() + to, 1));
    }
    BusyTime::Reader reader(busy);
    for (const bool is_forward : {true, false}) {
      for (Time at = 0; at < 1100; at += random() % 20) {
        const Time from = is_forward ? at : 1100 - at, to = from + random() % 100;
        CHECK(reader.between(from, to) == busy.between(from, to));
      }
    }
    CHECK(busy.total() == std::count(covered.begin(), covered.end(), 1));
  }
}

TEST_CASE("busy time: of several rows, the number that is busy over time") {
  std::vector<BusyTime> rows(3);
  rows[0].add(100, 200);
  rows[1].add(150, 300);
  rows[2].add(150, 160);
  rows[2].add(200, 250);
  const BusyTime all = BusyTime::sum_of(rows);
  CHECK(all.max_active() == 3);
  CHECK(all.between(99, 100) == 0);
  CHECK(all.between(100, 101) == 1);
  CHECK(all.between(155, 156) == 3);
  CHECK(all.between(200, 201) == 2);  // one ends as another starts
  CHECK(all.between(300, 301) == 0);
  CHECK(all.total() == 100 + 150 + 10 + 50);
  CHECK(all.between(150, 170) == 2 * 20 + 10);
  CHECK(BusyTime::sum_of({}).total() == 0);
}

#include "panels/timeline/timeline_density.hpp"

#include <doctest/doctest.h>

#include "model/busy_time.hpp"

using namespace reprise;
using namespace reprise::viewer;

TEST_CASE("timeline density: only full columns have full height, and a busy one is never empty") {
  CHECK(density_height(0, 20) == 0);
  CHECK(density_height(0.0001, 20) == 1);
  CHECK(density_height(0.5, 20) == 10);
  CHECK(density_height(0.97, 20) == 19);
  CHECK(density_height(0.99, 20) == 19);
  CHECK(density_height(1, 20) == 20);
}

TEST_CASE("timeline density: the share of a column counts only its block") {
  model::BusyTime busy;
  busy.add(100, 200);
  busy.add(300, 400);
  model::BusyTime::Reader reader(busy);
  CHECK(busy_share(reader, {100, 400}, 100, 300) == doctest::Approx(0.5));
  CHECK(busy_share(reader, {100, 200}, 150, 350) == doctest::Approx(0.25));
  CHECK(busy_share(reader, {300, 400}, 0, 200) == 0);
}

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

#include "runtime/core/memory_budget.hpp"

using namespace reprise;
using Part = detail::MemoryBudget::Part;

TEST_CASE("memory budget: without a limit, reservations are counted and never refused") {
  detail::MemoryBudget budget("pool p", std::nullopt);
  CHECK(budget.reserve(Part::Buffer, 100));
  CHECK(budget.reserve(Part::Slab, 50));
  budget.add_slab(50);
  budget.release(Part::Slab, 50);
  budget.record_trim();
  const MemoryStatistics now = budget.statistics();
  CHECK_FALSE(now.budget.has_value());
  CHECK(now.mapped == 100);
  CHECK(now.reserved == 150);
  CHECK(now.peak == 150);
  CHECK(now.buffer_bytes == 100);
  CHECK(now.slabs == 1);
  CHECK(now.trims == 1);
  CHECK(now.remaps == 0);
  CHECK(budget.available() > (std::uint64_t{1} << 62));
}

TEST_CASE("memory budget: a refused reservation changes nothing and is explained") {
  detail::MemoryBudget budget("pool p", 1000);
  CHECK(budget.reserve(Part::Buffer, 700));
  CHECK_FALSE(budget.reserve(Part::Slab, 301));
  CHECK(budget.statistics().mapped == 700);
  CHECK(budget.available() == 300);
  CHECK(budget.describe() ==
        "of the 1000 bytes of the budget of pool p, 300 are left: buffers hold 700, slabs 0");
  CHECK(budget.reserve(Part::Slab, 300));
  budget.set_budget(10);  // existing reservations stay
  CHECK(budget.available() == 0);
  CHECK_FALSE(budget.reserve(Part::Buffer, 1));
  CHECK_FALSE(budget.reserve(Part::Buffer, ~std::uint64_t{0}));
}

TEST_CASE("memory budget: concurrent reservations never exceed the budget") {
  constexpr std::uint64_t kBudget = 64;
  detail::MemoryBudget budget("pool p", kBudget);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&budget] {
      for (int i = 0; i < 2000; ++i) {
        if (budget.reserve(Part::Slab, 20)) budget.release(Part::Slab, 20);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(budget.statistics().mapped == 0);
  CHECK(budget.statistics().peak <= kBudget);
}

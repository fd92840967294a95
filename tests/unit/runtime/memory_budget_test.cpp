#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

#include "runtime/core/memory_budget.hpp"

using namespace reprise;
using Part = detail::MemoryBudget::Part;

TEST_CASE("memory account: without a budget everything is counted and nothing refused") {
  detail::MemoryBudget account("pool p", std::nullopt);
  CHECK(account.take(Part::Buffer, 100));
  CHECK(account.take(Part::Slab, 50));
  account.add_slab(50);
  account.give_back(Part::Slab, 50);
  account.note_trim();
  const MemoryStatistics now = account.statistics();
  CHECK_FALSE(now.budget.has_value());
  CHECK(now.mapped == 100);
  CHECK(now.reserved == 150);
  CHECK(now.peak == 150);
  CHECK(now.buffer_bytes == 100);
  CHECK(now.slabs == 1);
  CHECK(now.trims == 1);
  CHECK(now.remaps == 0);
  CHECK(account.available() > (std::uint64_t{1} << 62));
}

TEST_CASE("memory account: what a budget has no room for changes nothing, and is explained") {
  detail::MemoryBudget account("pool p", 1000);
  CHECK(account.take(Part::Buffer, 700));
  CHECK_FALSE(account.take(Part::Slab, 301));
  CHECK(account.statistics().mapped == 700);
  CHECK(account.available() == 300);
  CHECK(account.why_not() ==
        "of the 1000 bytes of the budget of pool p 300 are left: 700 are taken by buffers, 0 by "
        "slabs");
  CHECK(account.take(Part::Slab, 300));
  account.set_budget(10);  // what is there stays
  CHECK(account.available() == 0);
  CHECK_FALSE(account.take(Part::Buffer, 1));
  CHECK_FALSE(account.take(Part::Buffer, ~std::uint64_t{0}));
}

TEST_CASE("memory account: many at once never take more than the budget") {
  constexpr std::uint64_t kBudget = 64;
  detail::MemoryBudget account("pool p", kBudget);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&account] {
      for (int i = 0; i < 2000; ++i) {
        if (account.take(Part::Slab, 20)) account.give_back(Part::Slab, 20);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(account.statistics().mapped == 0);
  CHECK(account.statistics().peak <= kBudget);
}

// CapturedGraph::tune() of graphs with collectives.
#include <doctest/doctest.h>

#include <chrono>
#include <mutex>
#include <vector>

#include "ranks/local_ranks.hpp"
#include "support/contains.hpp"

namespace reprise::test {

// Fills that can run at once, so that there are several lowerings; more of them on rank 1.
static void record_wide_step(CommandBuffer& cmd, const LocalRank& own, const GpuRef<int>& x) {
  const std::uint64_t fills = own.rank() == 1 ? 20 : 12;
  const auto parts = own.pool->allocate<int>(fills * 16, "parts");
  for (std::uint64_t i = 0; i < fills; ++i) cmd.fill(parts.slice(i * 16, 16), 1);
  cmd.add(all_reduce(own.world, x, x));
}

TEST_CASE("local ranks: tune measures and chooses the same on all ranks") {
  for (const std::uint32_t count : {1U, 3U}) {
    std::mutex mutex;
    std::vector<TuneReport> reports;
    Results results;
    check_all_succeed(count, [&](LocalRank& own) {
      const auto x = own.buffer(1);
      CapturedGraph graph = own.compile([&](CommandBuffer& cmd) { record_wide_step(cmd, own, x); });
      graph.launch(own.queue).wait();
      const TuneReport report =
          graph.tune(own.queue, {.pairs = 9, .budget = std::chrono::seconds(60)});
      const int sum = static_cast<int>(count);
      results.add(own.values(x)[0] == sum);  // restored
      graph.launch(own.queue).wait();
      results.add(own.values(x)[0] == sum * sum);
      const std::lock_guard lock(mutex);
      reports.push_back(report);
    });
    results.check(static_cast<int>(count) * 2);
    REQUIRE(reports.size() == count);
    CHECK(reports[0].candidates.size() > 3);
    CHECK(reports[0].candidates[0].pairs >= 9);
    for (const TuneReport& report : reports) {
      CHECK(report.chosen == reports[0].chosen);
      REQUIRE(report.candidates.size() == reports[0].candidates.size());
      for (std::size_t i = 0; i < report.candidates.size(); ++i) {
        CHECK(report.candidates[i].name == reports[0].candidates[i].name);
        CHECK(report.candidates[i].pairs == reports[0].candidates[i].pairs);
        CHECK(report.candidates[i].ratio == reports[0].candidates[i].ratio);
      }
    }
  }
}

TEST_CASE("local ranks: tune with other options, or of which one rank is incapable") {
  const auto differing = on_ranks(2, [](LocalRank& own) {
    const auto x = own.buffer(1);
    CapturedGraph graph = own.compile([&](CommandBuffer& cmd) { record_wide_step(cmd, own, x); });
    static_cast<void>(graph.tune(own.queue, {.pairs = own.rank() == 1 ? 11U : 9U}));
  });
  REQUIRE(differing.size() == 2);
  for (const auto& [rank, failure] : differing) {
    CHECK(failure.code == ErrorCode::RankMismatch);
    CHECK(contains(failure.text, "rank 0 passes 9 pairs, a budget of 5000 ms and Restored"));
    CHECK(contains(failure.text, "rank 1 passes 11 pairs"));
  }

  const auto incapable = on_ranks(2, [](LocalRank& own) {
    const auto x = own.buffer(1);
    CapturedGraph graph = own.compile([&](CommandBuffer& cmd) {
      record_wide_step(cmd, own, x);
      if (own.rank() == 1) cmd.host([] {});
    });
    static_cast<void>(graph.tune(own.queue, {.pairs = 9}));
  });
  REQUIRE(incapable.size() == 2);
  CHECK(incapable.at(0).code == ErrorCode::RankLost);
  CHECK(contains(incapable.at(0).text, "tune of graph step: rank 1 failed: tune: the effects of"));
  CHECK(incapable.at(1).code == ErrorCode::Unsupported);
}

TEST_CASE("local ranks: tune refuses communicators of which none has all ranks") {
  const auto failed = on_ranks(3, [](LocalRank& own) {
    const auto x = own.buffer(1);
    // Ranks 0 and 1, and ranks 1 and 2.
    const Communicator low = own.world.split(own.rank() < 2 ? 0 : 1),
                       high = own.world.split(own.rank() > 0 ? 0 : 1);
    CapturedGraph graph = own.compile([&](CommandBuffer& cmd) {
      if (own.rank() < 2) cmd.add(all_reduce(low, x, x));
      if (own.rank() > 0) cmd.add(all_reduce(high, x, x));
    });
    if (own.rank() == 1) static_cast<void>(graph.tune(own.queue));
  });
  REQUIRE(failed.size() == 1);
  CHECK(failed.at(1).code == ErrorCode::Unsupported);
  CHECK(contains(failed.at(1).text, "is not in its largest communicator"));
}

}  // namespace reprise::test

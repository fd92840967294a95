// The clocks of hand-made jobs, without files.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "merge/align_ranks.hpp"
#include "merge/rank_ids.hpp"
#include "viewer/hand_made_ranks.hpp"

using namespace reprise;
using namespace reprise::trace;
using test::HandMadeJob;
using test::HandMadeRanks;

namespace {

std::vector<ClockAlignment> align_job(const HandMadeJob& job, RankAligner& aligner) {
  const std::uint32_t ranks = job.options().ranks;
  std::vector<TimeRange> ranges;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const Time end =
        HandMadeJob::kBegin + job.options().period * static_cast<Time>(job.options().replays + 1);
    ranges.push_back({job.own_time(rank, HandMadeJob::kBegin), job.own_time(rank, end)});
  }
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    aligner.add_records(rank, job.topology(rank));
    aligner.add_records(rank, job.events(rank));
  }
  return aligner.align(ranges);
}

std::vector<RankTopology> described(const std::vector<Records>& topologies) {
  std::vector<RankTopology> sessions(topologies.size());
  for (std::size_t i = 0; i < sessions.size(); ++i) sessions[i].add(topologies[i]);
  return sessions;
}

std::vector<Records> topologies_of(const HandMadeJob& job) {
  std::vector<Records> topologies;
  for (std::uint32_t rank = 0; rank < job.options().ranks; ++rank)
    topologies.push_back(job.topology(rank));
  return topologies;
}

std::vector<RankTopology> sessions_of(const HandMadeJob& job) {
  return described(topologies_of(job));
}

std::vector<ClockAlignment> align_job(const HandMadeJob& job) {
  RankAligner aligner(sessions_of(job));
  return align_job(job, aligner);
}

// The maximum error of converted times, over the duration of the job.
Time true_error(const HandMadeJob& job, const ClockAlignment& alignment) {
  const std::uint32_t rank = alignment.session;
  Time worst = 0;
  for (std::uint64_t replay = 0; replay <= job.options().replays + 1; ++replay) {
    const Time at = HandMadeJob::kBegin + job.options().period * static_cast<Time>(replay);
    const Time error = aligned(alignment, job.own_time(rank, at)) - job.own_time(0, at);
    worst = std::max(worst, std::abs(error));
  }
  return worst;
}

void check_recovered(const HandMadeRanks& options, Time accuracy) {
  const HandMadeJob job(options);
  CAPTURE(options.seed);
  for (const ClockAlignment& a : align_job(job)) {
    CAPTURE(a.session);
    const Time error = true_error(job, a);
    CHECK(error <= a.error);
    CHECK(error <= accuracy);
    CHECK((a.exchanges + a.collectives == 0) == (job.host(a.session) == 0));
  }
}

constexpr std::uint64_t kSeeds = 60;
constexpr Time kMicrosecond = 1'000, kMillisecond = 1'000'000, kSecond = 1'000'000'000;

}  // namespace

TEST_CASE("merge: exchanges alone align clocks within the bound") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    check_recovered({.replays = 100,
                     .seed = seed,
                     .skew = seed % 2 ? 10 * kSecond : kMillisecond,
                     .has_collectives = false},
                    15 * kMicrosecond);
  }
}

TEST_CASE("merge: collectives alone align clocks to microseconds") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const HandMadeJob job(
        {.replays = 100, .seed = seed, .skew = 10 * kSecond, .has_exchanges = false});
    CAPTURE(seed);
    for (const ClockAlignment& a : align_job(job)) {
      CHECK(true_error(job, a) <= std::min(5 * kMicrosecond, a.error));
      CHECK(a.error < 200 * kMicrosecond);
      CHECK(a.exchanges == 0);
      CHECK(a.collectives == (job.host(a.session) == 0 ? 0 : 200));
    }
  }
}

TEST_CASE("merge: exchanges and collectives together align clocks to microseconds") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const HandMadeJob job({.ranks = 6, .replays = 100, .seed = seed});
    CAPTURE(seed);
    for (const ClockAlignment& a : align_job(job)) {
      CHECK(true_error(job, a) <= std::min(5 * kMicrosecond, a.error));
      CHECK(a.error < 50 * kMicrosecond);
    }
  }
}

TEST_CASE("merge: the bound includes the error of GPU times") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    // Collectives that are shorter than the error: their limits alone contradict each other.
    check_recovered({.replays = 100,
                     .seed = seed,
                     .overlapped = 2 * kMicrosecond,
                     .exposed = kMicrosecond,
                     .jitter = kMicrosecond,
                     .has_exchanges = false,
                     .gpu_clock_error = 40 * kMicrosecond},
                    20 * kMicrosecond);
  }
}

TEST_CASE("merge: the bound includes an error of GPU times that is always the same") {
  const HandMadeJob job({.overlapped = 2 * kMicrosecond, .exposed = 0, .has_exchanges = false});
  std::vector<Records> topologies = topologies_of(job);
  for (const std::uint32_t rank : {2, 3}) topologies[rank].add(Clock{0, 1, 1, 30 * kMicrosecond});
  RankAligner aligner(described(topologies));
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    Records events = job.events(rank);
    for (SampleBlock& block : events.sample_blocks) {
      for (Sample& sample : block.samples) {
        if (job.host(rank) == 1) sample.started += 30 * kMicrosecond;
      }
    }
    aligner.add_records(rank, topologies[rank]);
    aligner.add_records(rank, events);
  }
  const Time begin = job.own_time(2, HandMadeJob::kBegin);
  const auto a = aligner.align(std::vector<TimeRange>(4, {begin, begin + 410 * kMillisecond}));
  CHECK(true_error(job, a[2]) > 20 * kMicrosecond);
  CHECK(true_error(job, a[2]) <= a[2].error);
  CHECK(a[2].error < 100 * kMicrosecond);
}

TEST_CASE("merge: a straggler does not bias the clocks") {
  const HandMadeJob job(
      {.replays = 100,
       .stragglers = {{.rank = 2, .step = 1, .first = 20, .last = 70, .delay = 3 * kMillisecond}},
       .has_exchanges = false});
  for (const ClockAlignment& a : align_job(job))
    CHECK(true_error(job, a) <= std::min(5 * kMicrosecond, a.error));
}

TEST_CASE("merge: sessions of one clock are aligned exactly, and each session without one apart") {
  const HandMadeJob shared({.ranks = 4, .ranks_per_host = 4});
  RankAligner aligner(sessions_of(shared));
  CHECK(aligner.has_one_clock());
  for (const ClockAlignment& a : align_job(shared)) {
    CHECK(a == ClockAlignment{.session = a.session});
  }
  const HandMadeJob two_hosts({.ranks = 4, .ranks_per_host = 2});
  const auto a = align_job(two_hosts);
  CHECK(a[1].error == 0);
  CHECK(a[2].error > 0);
  CHECK(a[3].offset == a[2].offset);
  CHECK(a[3].drift == a[2].drift);

  const HandMadeJob unnamed({.ranks = 4, .ranks_per_host = 2, .share_clocks = false});
  const auto apart = align_job(unnamed);
  CHECK(apart[1].collectives > 0);
  CHECK(true_error(unnamed, apart[1]) <= apart[1].error);
}

TEST_CASE("merge: a clock is aligned through others, and the bounds add") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const HandMadeJob job({.ranks = 8,
                           .ranks_per_host = 2,
                           .replays = 100,
                           .seed = seed,
                           .has_collectives = false,
                           .chain_exchanges = true});
    const auto a = align_job(job);
    CAPTURE(seed);
    CHECK(a[2].error < a[4].error);
    CHECK(a[4].error < a[6].error);
    CHECK(a[6].exchanges > a[2].exchanges);
    for (const ClockAlignment& each : a) CHECK(true_error(job, each) <= each.error);
  }
}

TEST_CASE("merge: a clock with no relation to the others is aligned by UTC, with a warning") {
  const HandMadeJob job(
      {.ranks = 4, .ranks_per_host = 2, .has_collectives = false, .has_exchanges = false});
  RankAligner aligner(sessions_of(job));
  const auto a = align_job(job, aligner);
  CHECK(a[1].error == 0);
  CHECK(a[2].error == kUnknownError);
  CHECK(true_error(job, a[2]) < kMillisecond);  // the hand-made UTC is exact at the start
  REQUIRE(aligner.warnings().size() == 1);
  CHECK(aligner.warnings()[0].find("ranks 2 and 3 to rank 0") != std::string::npos);
}

TEST_CASE("merge: only collectives that wait for all ranks align clocks") {
  const HandMadeJob job({.has_exchanges = false});
  for (const CollectiveKind kind :
       {CollectiveKind::AllReduce, CollectiveKind::Reduce, CollectiveKind::Broadcast,
        CollectiveKind::AllGather, CollectiveKind::ReduceScatter, CollectiveKind::AllToAll,
        CollectiveKind::Send, CollectiveKind::Receive, CollectiveKind::Group}) {
    std::vector<Records> topologies = topologies_of(job);
    for (Records& topology : topologies) {
      for (Collective& c : topology.graph_versions[0].collectives) c.kind = kind;
    }
    RankAligner aligner(described(topologies));
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      aligner.add_records(rank, topologies[rank]);
      aligner.add_records(rank, job.events(rank));
    }
    const bool is_unknown = aligner.align(std::vector<TimeRange>(4))[2].error == kUnknownError;
    CHECK(is_unknown != waits_for_all(kind));
  }
}

TEST_CASE("merge: of a host, the latest start and the earliest end limit the clock") {
  const HandMadeJob job({.ranks = 16,
                         .ranks_per_host = 8,
                         .jitter = 2 * kMillisecond,
                         .end_jitter = 500 * kMicrosecond,
                         .has_exchanges = false});
  const auto a = align_job(job);
  CHECK(true_error(job, a[8]) <= a[8].error);
  CHECK(a[8].error < 150 * kMicrosecond);
}

TEST_CASE("merge: an exchange that the reference recorded aligns the other rank") {
  RankAligner aligner(sessions_of(HandMadeJob({.ranks = 2, .ranks_per_host = 1})));
  Records records;
  records.add(ClockExchange{1, 1'000, 1'100, 5'060});  // within 1,000 to 1,100 of the reference
  records.add(ClockExchange{1, 9'000, 9'040, 13'010});
  aligner.add_records(0, records);
  const auto a = aligner.align({{1'000, 9'040}, {5'000, 13'040}});
  CHECK(a[1].exchanges == 2);
  // From 9,000 - 13,010 to 9,040 - 13,010; drift is negligible.
  CHECK(a[1].offset >= -4'010);
  CHECK(a[1].offset <= -3'970);
  CHECK(a[1].error >= 20);
  CHECK(a[1].error <= 26);
}

TEST_CASE("merge: collectives without a communicator match only if the ranks have the same") {
  const HandMadeJob job({.has_exchanges = false, .communicator = 0});
  const auto align_with = [&](auto&& change) {
    std::vector<Records> topologies = topologies_of(job);
    change(topologies[3].graph_versions[0].collectives);
    RankAligner aligner(described(topologies));
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      aligner.add_records(rank, topologies[rank]);
      aligner.add_records(rank, job.events(rank));
    }
    const auto alignments = aligner.align(std::vector<TimeRange>(4));
    return std::pair(alignments, aligner.warnings());
  };
  const auto same = align_with([](auto&) {});
  CHECK(same.first[2].collectives == 80);
  CHECK(same.second.empty());
  const auto kinds = align_with([](auto& c) { c[1].kind = CollectiveKind::AllGather; });
  const auto counts = align_with([](auto& c) { c.pop_back(); });
  const auto sizes = align_with([](auto& c) { c[0].ranks = 2; });
  for (const auto& [alignments, warnings] : {kinds, counts, sizes}) {
    CHECK(alignments[2].collectives == 0);
    REQUIRE(warnings.size() == 2);
    CHECK(warnings[0].find("rank 0 and rank 3") != std::string::npos);
  }
}

TEST_CASE("merge: the topology of a rank may come in parts, the session last") {
  const HandMadeJob job({.has_exchanges = false, .communicator = 0});
  std::vector<RankTopology> sessions = sessions_of(job);
  Records graphs = job.topology(3), session;
  session.sessions = std::exchange(graphs.sessions, {});
  sessions[3] = {};
  sessions[3].add(graphs);
  sessions[3].add(session);
  RankAligner aligner(sessions);
  CHECK(align_job(job, aligner) == align_job(job));
  CHECK(aligner.warnings().empty());
}

TEST_CASE("merge: a sample of many collectives aligns clocks as well") {
  const HandMadeJob job({.replays = 400, .has_exchanges = false});
  RankAligner aligner(sessions_of(job), 300);  // of 1,600 executions
  for (const ClockAlignment& a : align_job(job, aligner)) {
    CHECK(true_error(job, a) <= std::min(5 * kMicrosecond, a.error));
    if (job.host(a.session) != 0) {
      CHECK(a.collectives > 50);
      CHECK(a.collectives <= 150);
    }
  }
}

TEST_CASE("merge: a collective whose duration saturates sets no limit") {
  const HandMadeJob job({.replays = 20, .has_exchanges = false});
  RankAligner aligner(sessions_of(job));
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    Records events = job.events(rank);
    if (rank == 3) {  // it starts 10 s before the end of the others
      Sample& sample = events.sample_blocks[5].samples[1];
      REQUIRE(sample.node == 1);
      sample.started -= 10 * kSecond;
      sample.duration = 0xffffffff;
    }
    aligner.add_records(rank, job.topology(rank));
    aligner.add_records(rank, events);
  }
  const auto a = aligner.align(std::vector<TimeRange>(
      4, {job.own_time(3, HandMadeJob::kBegin), job.own_time(3, HandMadeJob::kBegin + kSecond)}));
  CHECK(true_error(job, a[3]) <= a[3].error);
  CHECK(a[3].error < kMillisecond);
}

TEST_CASE("clock fit: the bound is the distance to the extreme lines") {
  ClockFit fit;
  fit.add_lower(0, -10);
  fit.add_upper(0, 10);
  fit.add_lower(1'000'000, 90);
  fit.add_upper(1'000'000, 110);
  fit.add_lower(500'000, -1'000);  // implied
  const ClockLine line = fit.line(0, 2'000'000);
  CHECK(line.offset == 0);
  CHECK(line.drift == doctest::Approx(100e-6));
  // At the end: from -10 and 110, and from 10 and 90, extrapolated to 210 +- 30.
  CHECK(line.error >= 30);
  CHECK(line.error <= 33);
}

TEST_CASE("clock fit: random clocks never exceed the bound, with and without estimates") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    std::mt19937_64 random(seed);
    const auto up_to = [&](Time max) { return static_cast<Time>(random() % (max + 1)); };
    const Time begin = 5 * kSecond, length = 1 + up_to(20 * kSecond);
    const Time skew = up_to(20 * kSecond) - 10 * kSecond;
    const double drift = static_cast<double>(up_to(200)) * 1e-6 - 100e-6;
    const auto offset = [&](Time at) {
      return skew + static_cast<Time>(drift * static_cast<double>(at - begin));
    };
    ClockFit fit;
    for (Time i = 0, n = 1 + up_to(3'000); i < n; ++i) {
      const Time at = begin + up_to(length);
      fit.add_lower(at, offset(at) - 1 - up_to(80'000));
      const Time other = begin + up_to(length);
      fit.add_upper(other, offset(other) + 1 + up_to(80'000));
      if (seed % 2 == 0)  // one in five is an outlier
        fit.add_estimate(at, offset(at) + (i % 5 == 0 ? up_to(kSecond) : up_to(2'000)));
    }
    const ClockLine line = fit.line(begin, begin + length);
    CAPTURE(seed);
    for (const Time at : {begin, begin + length / 2, begin + length}) {
      const Time error =
          line.offset +
          static_cast<Time>(std::llround(line.drift * static_cast<double>(at - line.at))) -
          offset(at);
      CHECK(std::abs(error) <= line.error);
    }
  }
}

TEST_CASE("clock fit: bounds that contradict each other widen the error") {
  ClockFit fit;
  for (Time at = 0; at <= 10; ++at) {
    fit.add_lower(at * kSecond, -kMicrosecond);
    fit.add_upper(at * kSecond, kMicrosecond);
  }
  CHECK(fit.line(0, 10 * kSecond).error <= kMicrosecond + 2);
  fit.add_lower(5 * kSecond, 50 * kMicrosecond);  // a wrong one
  const ClockLine line = fit.line(0, 10 * kSecond);
  CHECK(std::abs(line.offset) <= line.error);
  CHECK(line.error >= 98 * kMicrosecond);  // 49 of them by the contradiction
  CHECK(line.error <= 200 * kMicrosecond);
}

TEST_CASE("clock fit: outliers of estimates do not matter, and none leaves the bounds") {
  ClockFit good, bad;
  for (Time i = 0; i <= 1'000; ++i) {
    const Time at = i * kMillisecond;
    for (ClockFit* fit : {&good, &bad}) {
      fit->add_lower(at, -kMillisecond);
      fit->add_upper(at, 2 * kMillisecond);
    }
    good.add_estimate(at, i % 4 == 0 ? kSecond : i % 7);
    bad.add_estimate(at, kSecond);
  }
  const ClockLine line = good.line(0, kSecond);
  CHECK(std::abs(line.offset) <= 6);
  CHECK(std::abs(line.drift) < 1e-8);
  CHECK(line.error == doctest::Approx(2 * kMillisecond).epsilon(0.01));
  CHECK(bad.line(0, kSecond).offset == 2 * kMillisecond);
}

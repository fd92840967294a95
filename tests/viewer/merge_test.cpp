#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/atomic_file.hpp"
#include "support/paths.hpp"
#include "trace/merge/align_ranks.hpp"
#include "trace/merge/merge_traces.hpp"
#include "trace/merge/rank_ids.hpp"
#include "trace/merge/rank_list.hpp"
#include "trace/trace_error.hpp"
#include "trace/trace_file.hpp"
#include "trace/trace_reader.hpp"
#include "viewer/hand_made_ranks.hpp"
#include "viewer/hand_made_trace.hpp"

using namespace reprise;
using namespace reprise::trace;
using test::HandMadeJob;
using test::HandMadeRanks;
namespace fs = std::filesystem;

namespace {

// --- Clocks of hand-made jobs, without files ---

std::vector<ClockAlignment> align_job(const HandMadeJob& job, RankAligner& aligner) {
  const std::uint32_t ranks = job.options().ranks;
  std::vector<TimeRange> ranges;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const Time end =
        HandMadeJob::kBegin + job.options().period * static_cast<Time>(job.options().replays + 1);
    ranges.push_back({job.own_time(rank, HandMadeJob::kBegin), job.own_time(rank, end)});
    aligner.add_topology(rank, job.topology(rank));
  }
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    aligner.add_records(rank, job.topology(rank));
    aligner.add_records(rank, job.events(rank));
  }
  return aligner.align(ranges);
}

std::vector<Session> sessions_of(const HandMadeJob& job) {
  std::vector<Session> sessions;
  for (std::uint32_t rank = 0; rank < job.options().ranks; ++rank)
    sessions.push_back(job.topology(rank).sessions.at(0));
  return sessions;
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
  RankAligner aligner(sessions_of(job));
  std::vector<Records> topologies;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    topologies.push_back(job.topology(rank));
    if (job.host(rank) == 1) topologies[rank].add(Clock{0, 1, 1, 30 * kMicrosecond});
    aligner.add_topology(rank, topologies[rank]);
  }
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
    RankAligner aligner(sessions_of(job));
    std::vector<Records> topologies;
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      topologies.push_back(job.topology(rank));
      for (Collective& c : topologies[rank].graph_versions[0].collectives) c.kind = kind;
      aligner.add_topology(rank, topologies[rank]);
    }
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
  std::vector<Session> sessions = sessions_of(HandMadeJob({.ranks = 2, .ranks_per_host = 1}));
  RankAligner aligner(sessions);
  for (std::uint32_t rank = 0; rank < 2; ++rank) aligner.add_topology(rank, {});
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
    auto aligner = std::make_unique<RankAligner>(sessions_of(job));
    std::vector<Records> topologies;
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      topologies.push_back(job.topology(rank));
      if (rank == 3) change(topologies[rank].graph_versions[0].collectives);
      aligner->add_topology(rank, topologies[rank]);
    }
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      aligner->add_records(rank, topologies[rank]);
      aligner->add_records(rank, job.events(rank));
    }
    return std::pair(aligner->align(std::vector<TimeRange>(4)), aligner->warnings());
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
  for (std::uint32_t rank = 0; rank < 4; ++rank) aligner.add_topology(rank, job.topology(rank));
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

// --- Ids and times ---

namespace {

// A record of every kind, with every reference.
Records every_record() {
  Records r;
  r.add(Session{"node", 1, 99, 0, "", "", "", 1, "job", "clock"});
  r.add(Clock{kNone, 1'000, 5'000'000, 10});
  r.add(Clock{4, 1'000, 77, 10});
  r.add(Device{4, "GPU", "cuda:0"});
  r.add(Queue{4, 4, "queue"});
  GraphVersion g;
  g.graph = 4;
  g.version = 2;
  g.device = 4;
  g.compiled = 1'000;
  g.compile_time = 50;
  g.strings = {""};
  g.labels = {{0, 0, 0}};
  g.buffers = {{0, BufferKind::Device, 4, 4, 64, 0},
               {0, BufferKind::Transient, kNone, kNone, 64, 0}};
  r.add(g);
  r.add(Replay{4, 2, 1, 4, 1, 1'000, 1'001, 0, 1'003, 4, 1});
  r.add(SampleBlock{4, 2, 1, 1, SampleSource::Cupti, {{0, 0, 1'000, 7, 4}, {1, 0, 0, 0, 0}}});
  r.add(HostRange{4, 0, 1'000, 1'001, "range", kNone, 0});
  r.add(HostRange{5, 0, 1'000, 1'001, "range", 4, 1});
  r.add(PoolState{4, 4, 1'000, "pool"});
  r.add(BufferLifetime{4, 4, 4, BufferKind::Device, 64, 0, 1'000, 0, "buffer"});
  r.add(Message{1'000, Severity::Info, "id", "text", 4, 2});
  r.add(Message{1'000, Severity::Info, "id", "of no graph"});
  r.add(Update{1'000, 4, 1, 2, "update"});
  r.add(Loss{1'000, LossKind::Samples, 1, "reason"});
  r.add(ProfilingOverhead{1'000, 1'001, 1, 9, 9});
  r.add(LoopRun{4, 2, 0, 1, 5, 5});
  r.add(DeviceTotals{4, 1'000});
  r.add(PoolUse{4, 4, PoolRole::Holder, 1'000, 0});
  for (const ObjectKind kind : {ObjectKind::Queue, ObjectKind::Graph, ObjectKind::Pool})
    r.add(Ended{1'000, kind, 4});
  r.add(CreationCost{4, 1'000, 8, 9});
  r.add(ClockExchange{1, 1'000, 1'001, 1'000});
  r.add(ThreadName{4, "named"});
  return r;
}

}  // namespace

TEST_CASE("rank ids: every reference and time of every record is converted") {
  MergedIds ids;
  RankConverter first(ids, {.session = 0});
  RankConverter second(ids, {.session = 1, .at = 1'000, .offset = 500});
  Records a = every_record(), b = every_record();
  first.convert(a);
  second.convert(b);

  CHECK(a.clocks.size() == 2);
  REQUIRE(b.clocks.size() == 1);  // no second relation to UTC
  CHECK(b.clock_exchanges.empty());
  // Each kind of id counts from 0: the first session has one of each, but two threads.
  const GraphVersion& g = b.graph_versions[0];
  CHECK(a.graph_versions[0].graph == 0);
  CHECK(b.clocks[0] == Clock{1, 1'500, 77, 10});
  CHECK(b.devices[0].id == 1);
  CHECK(b.devices[0].session == 1);
  CHECK(b.queues[0] == Queue{1, 1, "queue"});
  CHECK(g.graph == 1);
  CHECK(g.version == 2);
  CHECK(g.device == 1);
  CHECK(g.compiled == 1'500);
  CHECK(g.compile_time == 50);
  CHECK(g.buffers[0].id == 1);
  CHECK(g.buffers[0].pool == 1);
  CHECK(g.buffers[1].id == kNone);
  CHECK(g.buffers[1].pool == kNone);
  CHECK(b.replays[0] == Replay{1, 2, 1, 1, 1, 1'500, 1'501, 0, 1'503, 2, 1});
  CHECK(b.sample_blocks[0] ==
        SampleBlock{1, 2, 1, 1, SampleSource::Cupti, {{0, 0, 1'500, 7, 4}, {1, 0, 0, 0, 0}}});
  CHECK(b.host_ranges[0] == HostRange{2, 0, 1'500, 1'501, "range", kNone, 0});
  CHECK(b.host_ranges[1] == HostRange{3, 0, 1'500, 1'501, "range", 1, 1});
  CHECK(b.thread_names == std::vector<ThreadName>{{2, "named", 1}, {3, "thread 5", 1}});
  CHECK(b.pool_states[0] == PoolState{1, 1, 1'500, "pool"});
  CHECK(b.buffer_lifetimes[0] ==
        BufferLifetime{1, 1, 1, BufferKind::Device, 64, 0, 1'500, 0, "buffer"});
  CHECK(b.messages[0] == Message{1'500, Severity::Info, "id", "text", 1, 2, kNone, kNone, 1});
  CHECK(b.messages[1].graph == kNone);
  CHECK(b.updates[0] == Update{1'500, 1, 1, 2, "update"});
  CHECK(b.losses[0] == Loss{1'500, LossKind::Samples, 1, "reason", 1});
  CHECK(b.profiling_overheads[0] == ProfilingOverhead{1'500, 1'501, 1, 9, 9});
  CHECK(b.loop_runs[0].graph == 1);
  CHECK(b.device_totals[0].device == 1);
  CHECK(b.device_totals[0].at == 1'500);
  CHECK(b.pool_uses[0] == PoolUse{1, 1, PoolRole::Holder, 1'500, 0});
  for (const Ended& e : b.ended) CHECK(e == Ended{1'500, e.kind, 1});
  CHECK(b.creation_costs[0] == CreationCost{1, 1'500, 8, 9});

  // Known ids stay, and a known thread gets no second name.
  Records again = every_record();
  again.thread_names.clear();
  second.convert(again);
  CHECK(again.replays[0].thread == 2);
  CHECK(again.thread_names.empty());
}

TEST_CASE("rank ids: a converted time is never 0 and stays in the range of a trace") {
  const ClockAlignment back{.session = 1, .at = 500, .offset = -500};
  CHECK(aligned(back, 0) == 0);
  CHECK(aligned(back, 500) != 0);
  CHECK(aligned(back, 700) == 200);
  constexpr Time kMax = 3'000'000'000'000'000'000;
  CHECK(aligned({.offset = kMax}, kMax) == kMax);
  CHECK(aligned({.offset = -kMax}, -kMax) == -kMax);
  CHECK(aligned({.at = 1'000'000, .offset = 0, .drift = 100e-6}, 2'000'000) == 2'000'100);
}

TEST_CASE("rank lists name runs of ranks") {
  CHECK(ranks_text(rank_runs({3})) == "rank 3");
  CHECK(ranks_text(missing_runs({0, 1, 2, 4}, 8)) == "ranks 3 and 5 to 7");
  CHECK(ranks_text(missing_runs({2, 4, 5, 6, 7}, 8)) == "ranks 0, 1 and 3");
  CHECK(missing_runs({0, 1}, 2).empty());
  CHECK(missing_runs({0xfffffffe}, 0xffffffff).size() == 1);
  std::vector<std::uint32_t> odd;
  for (std::uint32_t rank = 1; rank < 100; rank += 2) odd.push_back(rank);
  CHECK(ranks_text(rank_runs(odd)) == "ranks 1, 3, 5, 7, 9, 11, 13, 15 and others");
}

// --- Files ---

namespace {

// A new folder of the test.
fs::path merge_folder(const std::string& name) {
  const fs::path folder = test::scratch_folder() / ("merge-" + name);
  fs::remove_all(folder);
  fs::create_directories(folder);
  return folder;
}

Records read_all(const fs::path& path) {
  const TraceReader reader(path);
  CHECK(reader.damage() == "");
  Records all;
  for (const ChunkEntry& entry : reader.chunks()) {
    Records r = reader.read(entry);
    for (auto& each : r.sessions) all.add(each);
    for (auto& each : r.clock_alignments) all.add(each);
    for (auto& each : r.clocks) all.add(each);
    for (auto& each : r.devices) all.add(each);
    for (auto& each : r.queues) all.add(each);
    for (auto& each : r.thread_names) all.add(each);
    for (auto& each : r.graph_versions) all.add(std::move(each));
    for (auto& each : r.pool_states) all.add(each);
    for (auto& each : r.buffer_lifetimes) all.add(each);
    for (auto& each : r.messages) all.add(each);
    for (auto& each : r.ended) all.add(each);
    const auto has_graph = [&](std::uint32_t graph) {
      return std::any_of(all.graph_versions.begin(), all.graph_versions.end(),
                         [&](const GraphVersion& g) { return g.graph == graph; });
    };
    for (auto& each : r.replays) {  // topology comes before
      CHECK(has_graph(each.graph));
      all.add(each);
    }
    for (auto& each : r.sample_blocks) {
      CHECK(has_graph(each.graph));
      all.add(std::move(each));
    }
    for (auto& each : r.host_ranges) all.add(each);
  }
  return all;
}

bool has_message(const Records& records, const std::string& id, const std::string& text) {
  return std::any_of(records.messages.begin(), records.messages.end(), [&](const Message& m) {
    return m.id == id && m.severity == Severity::Warning && m.text.find(text) != std::string::npos;
  });
}

// Checks that merging is refused with the text, and that nothing is written.
void check_refused(const std::vector<fs::path>& inputs, const fs::path& output,
                   const std::vector<std::string>& parts) {
  const fs::path folder = output.parent_path();
  const auto count = std::distance(fs::directory_iterator(folder), fs::directory_iterator());
  try {
    static_cast<void>(merge_traces({.inputs = inputs, .output = output}));
    FAIL("not refused");
  } catch (const TraceError& error) {
    for (const std::string& part : parts) {
      CAPTURE(part);
      CHECK(std::string(error.what()).find(part) != std::string::npos);
    }
  }
  CHECK(std::distance(fs::directory_iterator(folder), fs::directory_iterator()) == count);
}

void write_records(const fs::path& path, const std::vector<std::pair<ChunkKind, Records>>& chunks) {
  TraceFile file({.path = path});
  for (const auto& [kind, records] : chunks)
    file.write(std::make_shared<const Chunk>(make_chunk(kind, records, 0)));
}

}  // namespace

TEST_CASE("merge: the merged trace has unique ids, right references and aligned times") {
  const fs::path folder = merge_folder("ids");
  const HandMadeJob job({.ranks = 6, .ranks_per_host = 2});
  auto inputs = job.write_all(folder);
  std::reverse(inputs.begin(), inputs.end());  // the order does not matter
  std::uint64_t done = 0, total = 0;
  const MergeReport report = merge_traces({.inputs = inputs,
                                           .output = folder / "all.reprise",
                                           .progress = [&](std::uint64_t d, std::uint64_t t) {
                                             CHECK(d >= done);
                                             CHECK(d <= t);
                                             done = d;
                                             total = t;
                                           }});
  CHECK(total > 0);
  CHECK(report.warnings.empty());
  CHECK(report.replays == 6 * 40);
  CHECK(report.samples == 6 * 40 * 6);

  const Records all = read_all(folder / "all.reprise");
  CHECK(all.messages.empty());
  REQUIRE(all.sessions.size() == 6);
  for (std::uint32_t rank = 0; rank < 6; ++rank) CHECK(all.sessions[rank].rank == rank);
  CHECK(all.clock_alignments == report.alignments);
  REQUIRE(all.clocks.size() == 1);  // one relation to UTC

  std::set<std::uint32_t> devices, queues, graphs, pools, threads, buffers;
  std::vector<std::uint32_t> session_of_graph(6);
  for (const Device& d : all.devices) {
    CHECK(devices.insert(d.id).second);
    CHECK(d.session == d.id);  // in the order of the files
  }
  for (const Queue& q : all.queues) CHECK(queues.insert(q.id).second);
  for (const ThreadName& n : all.thread_names) CHECK(threads.insert(n.thread).second);
  for (const PoolState& p : all.pool_states) {
    CHECK(pools.insert(p.pool).second);
    CHECK(devices.contains(p.device));
  }
  for (const BufferLifetime& b : all.buffer_lifetimes) {
    CHECK(buffers.insert(b.buffer).second);
    CHECK(pools.contains(b.pool));
  }
  for (const GraphVersion& g : all.graph_versions) {
    CHECK(graphs.insert(g.graph).second);
    REQUIRE(g.graph < 6);
    REQUIRE(g.device < 6);
    session_of_graph[g.graph] = all.devices[g.device].session;
    CHECK(g.collectives[0].rank == session_of_graph[g.graph]);
    CHECK(buffers.contains(g.buffers[0].id));
    CHECK(pools.contains(g.buffers[0].pool));
  }
  for (const auto* set : {&devices, &queues, &graphs, &pools, &threads, &buffers})
    CHECK(set->size() == 6);
  REQUIRE(all.replays.size() == 240);
  for (const Replay& r : all.replays) {
    const std::uint32_t rank = session_of_graph[r.graph];
    CHECK(queues.contains(r.queue));
    CHECK(threads.contains(r.thread));
    // The launch is on the true time of host 0.
    const Time launched = HandMadeJob::kBegin + static_cast<Time>(r.replay) * 10'000'000;
    CHECK(std::abs(r.launched - launched) <= report.alignments[rank].error);
  }
}

TEST_CASE("merge: sets of files that are not ranks of one job are refused") {
  const fs::path folder = merge_folder("refused");
  const fs::path output = folder / "all.reprise";
  const auto inputs = HandMadeJob({.ranks = 4}).write_all(folder / "job");
  const std::string first = inputs[0].string();

  check_refused({}, output, {"no traces"});
  const fs::path plain = folder / "plain.reprise";
  test::write_hand_made_trace(plain);
  check_refused({inputs[0], plain}, output, {plain.string(), "not the trace of a rank"});
  check_refused({plain, inputs[0]}, output, {plain.string(), "not the trace of a rank"});

  const fs::path copy = folder / "copy.reprise";
  fs::copy_file(inputs[0], copy);
  check_refused({inputs[1], inputs[0], copy}, output, {first, copy.string(), "both of rank 0"});
  check_refused({inputs[0], inputs[0]}, output, {"both of rank 0"});

  const auto others = HandMadeJob({.ranks = 6}).write_all(folder / "other");
  check_refused({inputs[0], others[1]}, output, {first, others[1].string(), "different jobs"});
  Records renamed = HandMadeJob({.ranks = 4}).topology(2);
  renamed.sessions[0].job = "job-43";
  const fs::path other_job = folder / "other-job.reprise";
  write_records(other_job, {{ChunkKind::Topology, renamed}});
  check_refused({inputs[0], other_job}, output,
                {first, other_job.string(), "different jobs", "job-42", "job-43"});

  Records outside = HandMadeJob({.ranks = 4}).topology(2);
  outside.sessions[0].rank = 4;
  const fs::path beyond = folder / "beyond.reprise";
  write_records(beyond, {{ChunkKind::Topology, outside}});
  check_refused({inputs[0], beyond}, output, {beyond.string(), "rank 4 in a job of 4 ranks"});

  const fs::path two = folder / "two.reprise";
  Records next = HandMadeJob({.ranks = 4}).topology(2);
  next.sessions[0].pid += 1;
  write_records(two, {{ChunkKind::Topology, HandMadeJob({.ranks = 4}).topology(2)},
                      {ChunkKind::Topology, next}});
  check_refused({inputs[0], two}, output, {two.string(), "several processes"});

  const fs::path empty = folder / "empty.reprise";
  write_records(empty, {});
  check_refused({inputs[0], empty}, output, {empty.string(), "does not name a rank"});
  check_refused({inputs[0], folder / "missing.reprise"}, output, {"missing.reprise"});
  check_refused(inputs, inputs[1], {inputs[1].string(), "both the output and an input"});
  fs::create_hard_link(inputs[1], folder / "link.reprise");
  check_refused(inputs, folder / "link.reprise", {"both the output and an input"});

  const fs::path merged = folder / "merged.reprise";
  static_cast<void>(merge_traces({.inputs = inputs, .output = merged}));
  check_refused({merged}, output, {merged.string(), "a merged trace already"});
}

TEST_CASE("merge: an appended trace of one process is one rank") {
  const fs::path folder = merge_folder("appended");
  const HandMadeJob job({.ranks = 2, .ranks_per_host = 2});
  const fs::path twice = folder / "twice.reprise";
  write_records(twice, {{ChunkKind::Topology, job.topology(0)},
                        {ChunkKind::Topology, job.topology(0)},
                        {ChunkKind::Events, job.events(0)}});
  const MergeReport report = merge_traces({.inputs = {twice}, .output = folder / "all.reprise"});
  const Records all = read_all(folder / "all.reprise");
  CHECK(all.sessions.size() == 1);
  CHECK(all.replays.size() == 40);
  for (const Device& d : all.devices) CHECK(d.id == 0);
  CHECK(report.warnings == std::vector<std::string>{"rank 1 of 2 is missing"});
}

TEST_CASE("merge: incomplete sets are merged with warnings, which the trace keeps") {
  const fs::path folder = merge_folder("incomplete");
  const fs::path output = folder / "all.reprise";
  const HandMadeJob job({.ranks = 8, .replays = 400});
  auto inputs = job.write_all(folder);
  const HandMadeJob shorter({.ranks = 8, .replays = 100});
  shorter.write(2, inputs[2]);  // ends 3 s before the others
  fs::resize_file(inputs[4], fs::file_size(inputs[4]) - 10);
  const MergeReport report =
      merge_traces({.inputs = {inputs[0], inputs[1], inputs[2], inputs[4]}, .output = output});
  const Records all = read_all(output);
  CHECK(all.sessions.size() == 4);
  CHECK(report.warnings.size() == 3);
  CHECK(has_message(all, "merge.missing-ranks", "ranks 3 and 5 to 7 of 8 are missing"));
  CHECK(has_message(all, "merge.damaged-file", "rank 4, " + inputs[4].string()));
  CHECK(has_message(all, "merge.ends-early", "rank 2 ends 3.0 s before"));
  for (const Message& m : all.messages) {
    if (m.id == "merge.damaged-file") CHECK(m.session == 3);
  }
}

TEST_CASE("merge: a chunk that cannot be decoded costs only itself") {
  const fs::path folder = merge_folder("damaged");
  const HandMadeJob job({.ranks = 2, .ranks_per_host = 2});
  const auto inputs = job.write_all(folder);
  std::uint64_t offset = 0;
  {
    const TraceReader reader(inputs[1]);
    for (const ChunkEntry& entry : reader.chunks()) {
      if (entry.header.kind == ChunkKind::Samples)
        offset = entry.offset + ChunkHeader::kBytes + entry.header.compressed_bytes / 2;
    }
  }
  REQUIRE(offset != 0);
  std::fstream file(inputs[1], std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(offset));
  file.write("\xff\x00\xff\x00", 4);
  file.close();
  const MergeReport report = merge_traces({.inputs = inputs, .output = folder / "all.reprise"});
  CHECK(report.samples == 40 * 6);
  CHECK(report.replays == 80);
  CHECK(has_message(read_all(folder / "all.reprise"), "merge.damaged-file",
                    "1 of its 3 chunks cannot be decoded"));
}

TEST_CASE("merge: a failed merge leaves the output as it was") {
  const fs::path folder = merge_folder("atomic");
  const auto inputs = HandMadeJob({.ranks = 2}).write_all(folder);
  const fs::path nowhere = folder / "no" / "folder";
  CHECK_THROWS_AS(static_cast<void>(merge_traces({.inputs = inputs, .output = nowhere})),
                  detail::FileError);
  const fs::path output = folder / "all.reprise";
  std::ofstream(output) << "before";
  const auto fail = [](std::uint64_t, std::uint64_t) { throw std::runtime_error("stopped"); };
  CHECK_THROWS_WITH(
      static_cast<void>(merge_traces({.inputs = inputs, .output = output, .progress = fail})),
      "stopped");
  CHECK(fs::file_size(output) == 6);
  CHECK(std::distance(fs::directory_iterator(folder), fs::directory_iterator()) == 3);
}

TEST_CASE("merge: objects end after the records that refer to them") {
  const fs::path folder = merge_folder("ended");
  const HandMadeJob job({.ranks = 1, .ranks_per_host = 1, .replays = 3});
  Records events = job.events(0), ended;
  events.host_ranges[0].thread = 99;  // has no name
  ended.add(Ended{HandMadeJob::kBegin + kSecond, ObjectKind::Graph, HandMadeJob::kGraph});
  Records next = job.topology(0);
  next.sessions.clear();
  next.graph_versions[0].graph = 9;
  write_records(folder / "one.reprise", {{ChunkKind::Topology, job.topology(0)},
                                         {ChunkKind::Events, events},
                                         {ChunkKind::Topology, ended},
                                         {ChunkKind::Topology, next}});
  static_cast<void>(
      merge_traces({.inputs = {folder / "one.reprise"}, .output = folder / "all.reprise"}));
  const TraceReader reader(folder / "all.reprise");
  std::vector<std::string> order;
  std::set<std::string> threads;
  for (const ChunkEntry& entry : reader.chunks()) {
    const Records r = reader.read(entry);
    if (!r.replays.empty()) order.emplace_back("replays");
    if (!r.ended.empty()) order.emplace_back("ended");
    for (const ThreadName& name : r.thread_names) {
      CHECK(entry.header.kind == ChunkKind::Topology);
      threads.insert(name.name);
    }
    if (!r.graph_versions.empty()) order.emplace_back("graph");
  }
  CHECK(order == std::vector<std::string>{"graph", "replays", "ended", "graph"});
  CHECK(threads == std::set<std::string>{"thread 99", "trainer"});
}

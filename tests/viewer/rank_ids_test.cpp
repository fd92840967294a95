#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "merge/rank_ids.hpp"
#include "merge/rank_list.hpp"

using namespace reprise;
using namespace reprise::trace;

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

TEST_CASE("rank ids: samples that follow each other still do on a clock that drifts") {
  MergedIds ids;
  RankConverter converter(ids, {.session = 1, .at = 5'000, .offset = 77, .drift = 1.3e-4});
  Records r;
  SampleBlock block;
  Time at = 1'000;
  for (std::uint32_t node = 0; node < 200; ++node) {
    block.samples.push_back({node, 0, at, 3'331 + node, 0});
    at += 3'331 + node;
  }
  block.samples.push_back({200, 0, at, std::numeric_limits<std::uint32_t>::max(), 0});
  r.sample_blocks = {block};
  converter.convert(r);
  const std::vector<Sample>& samples = r.sample_blocks[0].samples;
  for (std::size_t i = 1; i < samples.size(); ++i)
    CHECK(samples[i - 1].started + samples[i - 1].duration == samples[i].started);
  CHECK(samples.back().duration == std::numeric_limits<std::uint32_t>::max());
  CHECK(samples[199].started + samples[199].duration - samples[0].started > at - 1'000);
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

#include "viewer/hand_made_ranks.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "base/split_mix.hpp"
#include "trace/trace_file.hpp"

namespace reprise::test {

using namespace trace;

namespace {

enum : std::uint64_t { kSkew, kDrift, kArrival, kEnd, kSent, kReceived, kGpu };

constexpr Time kUtc = 1'700'000'000'000'000'000;
constexpr Time kLaunch = 5'000;  // from the launch to the start on the device
constexpr std::size_t kChunkBytes = 1u << 20;

std::uint64_t mix(std::uint64_t x) { return detail::SplitMix64(x).next(); }

}  // namespace

HandMadeJob::HandMadeJob(HandMadeRanks options) : options_(std::move(options)) {
  arrivals_.resize(options_.replays * options_.steps);
  for (std::uint64_t replay = 1; replay <= options_.replays; ++replay) {
    for (std::uint32_t step = 0; step < options_.steps; ++step) {
      Time last = 0;
      for (std::uint32_t rank = 0; rank < options_.ranks; ++rank)
        last = std::max(last, arrival(rank, replay, step));
      arrivals_[(replay - 1) * options_.steps + step] = last;
    }
  }
}

// In [0, max].
Time HandMadeJob::random(std::uint64_t what, std::uint64_t rank, std::uint64_t replay,
                         std::uint64_t step, Time max) const {
  const std::uint64_t bits = mix(mix(mix(mix(options_.seed * 8 + what) + rank) + replay) + step);
  return static_cast<Time>(bits % (static_cast<std::uint64_t>(max) + 1));
}

Time HandMadeJob::own_time(std::uint32_t rank, Time true_time) const {
  if (host(rank) == 0) return true_time;
  const Time skew = random(kSkew, host(rank), 0, 0, 2 * options_.skew) - options_.skew;
  const double drift =
      options_.drift * (static_cast<double>(random(kDrift, host(rank), 0, 0, 2'000)) / 1e3 - 1);
  return true_time + skew + static_cast<Time>(drift * static_cast<double>(true_time - kBegin));
}

Time HandMadeJob::true_time(std::uint32_t rank, Time own) const {
  Time at = own;
  for (int i = 0; i < 4; ++i) at += own - own_time(rank, at);
  return at;
}

Time HandMadeJob::step_start(std::uint32_t rank, std::uint64_t replay, std::uint32_t step) const {
  if (step != 0) return step_end(rank, replay, step - 1);
  return kBegin + static_cast<Time>(replay) * options_.period + kLaunch;
}

Time HandMadeJob::step_end(std::uint32_t rank, std::uint64_t replay, std::uint32_t step) const {
  return last_arrival(replay, step) + options_.overlapped + options_.exposed +
         random(kEnd, rank, replay, step, options_.end_jitter);
}

Time HandMadeJob::arrival(std::uint32_t rank, std::uint64_t replay, std::uint32_t step) const {
  Time at = step_start(rank, replay, step) + options_.compute +
            random(kArrival, rank, replay, step, options_.jitter);
  for (const HandMadeRanks::Straggler& s : options_.stragglers) {
    if (s.rank == rank && s.step == step && s.first <= replay && replay <= s.last) at += s.delay;
  }
  return at;
}

GraphVersion HandMadeJob::graph(std::uint32_t rank) const {
  GraphVersion g;
  g.graph = kGraph;
  g.version = 1;
  g.label = "step";
  g.plan_hash = 0xfeedfacecafebeef;
  g.lanes = 2;
  g.compiled = own_time(rank, kBegin);
  g.compile_time = 1'000'000;
  g.strings = {"", "forward", "all-reduce", "backward", "gradients"};
  g.labels = {{0, 0, 0}};
  g.buffers = {{4, BufferKind::Device, kBuffer, kPool, 1 << 20, 0}};
  const auto add = [&](std::uint32_t name, std::uint32_t lane) {
    Node node;
    node.kind = NodeKind::Dispatch;
    node.name = name;
    node.lane = lane;
    node.command = static_cast<std::uint32_t>(g.nodes.size());
    g.nodes.push_back(node);
    return node.command;
  };
  std::vector<std::uint32_t> before;
  for (std::uint32_t step = 0; step < options_.steps; ++step) {
    const std::uint32_t forward = add(1, 0), reduce = add(2, 1);
    for (const std::uint32_t node : before) g.edges.push_back({node, forward, EdgeCause::User});
    g.edges.push_back({forward, reduce, EdgeCause::User});
    before = {reduce};
    if (options_.overlapped != 0) {
      before.push_back(add(3, 0));
      g.edges.push_back({forward, before.back(), EdgeCause::User});
    }
    if (options_.has_collectives) {
      Collective c;
      c.node = reduce;
      c.kind = CollectiveKind::AllReduce;
      c.ranks = options_.ranks;
      c.rank = rank;
      c.communicator = options_.communicator;
      c.index = step;
      c.bytes = 1 << 20;
      g.collectives.push_back(c);
    }
  }
  return g;
}

Records HandMadeJob::topology(std::uint32_t rank) const {
  Records r;
  const std::string number = std::to_string(host(rank)), name = "node" + number;
  r.add(Session{name, 4'000 + rank, kUtc, rank, "train", "train --epochs 3", "0.1.0",
                options_.ranks, "job-42", options_.share_clocks ? "boot-" + number : ""});
  r.add(Clock{kNone, own_time(rank, kBegin), kUtc, 1'000'000});
  if (options_.gpu_clock_error != 0)
    r.add(Clock{0, own_time(rank, kBegin), kBegin, options_.gpu_clock_error});
  r.add(Device{
      0, "GPU", "cuda:" + std::to_string(rank % options_.ranks_per_host), {}, 1ull << 36, 132});
  r.add(Queue{kQueue, 0, "main"});
  r.add(ThreadName{kThread, "trainer"});
  r.add(graph(rank));
  r.add(PoolState{kPool, 0, own_time(rank, kBegin), "weights", 1, 1 << 20});
  r.add(PoolUse{kPool, kGraph, PoolRole::Holder, own_time(rank, kBegin), 0});
  r.add(BufferLifetime{kBuffer, kPool, 0, BufferKind::Device, 1 << 20, 0x7000'0000,
                       own_time(rank, kBegin), 0, "gradients"});
  return r;
}

Records HandMadeJob::events(std::uint32_t rank) const {
  Records r;
  const Time max_error = options_.gpu_clock_error;
  for (std::uint64_t replay = 1; replay <= options_.replays; ++replay) {
    const Time error = random(kGpu, rank, replay, 0, 2 * max_error) - max_error;
    const auto device_time = [&](Time at) { return own_time(rank, at) + error; };
    SampleBlock block{kGraph, 1, 0, replay, SampleSource::Timestamp, {}};
    std::uint32_t node = 0;
    const auto add = [&](Time from, Time to, std::uint16_t lane) {
      block.samples.push_back({node, 0, device_time(from),
                               static_cast<std::uint32_t>(device_time(to) - device_time(from)),
                               static_cast<std::uint16_t>(lane + 1)});
      ++node;
    };
    const Time start = step_start(rank, replay, 0);
    Time end = start;
    for (std::uint32_t step = 0; step < options_.steps; ++step) {
      const Time arrived = arrival(rank, replay, step);
      const Time forward = end;
      end = step_end(rank, replay, step);
      add(forward, arrived, 0);
      add(arrived, end, 1);
      if (options_.overlapped != 0) add(arrived, arrived + options_.overlapped, 0);
    }
    r.add(Replay{kGraph, 1, 0, kQueue, replay, own_time(rank, start - kLaunch),
                 own_time(rank, start - 1'000), device_time(start), device_time(end), kThread, 1});
    r.add(std::move(block));
    r.add(HostRange{kThread, 0, own_time(rank, start - kLaunch), own_time(rank, end), "iteration",
                    kGraph, replay});
    if (options_.has_exchanges && host(rank) != 0 && replay % options_.exchange_interval == 0) {
      const std::uint32_t other = options_.chain_exchanges ? rank - options_.ranks_per_host : 0;
      const Time sent = end + 100'000;
      const Time there = sent + 2'000 + random(kSent, rank, replay, 0, options_.exchange_delay);
      const Time back = there + 2'000 + random(kReceived, rank, replay, 0, options_.exchange_delay);
      r.add(
          ClockExchange{other, own_time(rank, sent), own_time(rank, back), own_time(other, there)});
    }
  }
  return r;
}

void HandMadeJob::write(std::uint32_t rank, const std::filesystem::path& path) const {
  TraceFile file({.path = path});
  std::uint64_t sequence = 0;
  const auto emit = [&](ChunkKind kind, Records& records) {
    file.write(std::make_shared<const Chunk>(make_chunk(kind, records, sequence++)));
    records.clear();
  };
  Records described = topology(rank), all = events(rank);
  emit(ChunkKind::Topology, described);
  Records samples;
  std::size_t bytes = 0;
  for (SampleBlock& block : all.sample_blocks) {
    bytes += block.samples.size() * sizeof(Sample);
    samples.add(std::move(block));
    if (bytes < kChunkBytes) continue;
    emit(ChunkKind::Samples, samples);
    bytes = 0;
  }
  if (!samples.empty()) emit(ChunkKind::Samples, samples);
  all.sample_blocks.clear();
  if (!all.empty()) emit(ChunkKind::Events, all);
}

std::vector<std::filesystem::path> HandMadeJob::write_all(
    const std::filesystem::path& folder) const {
  std::filesystem::create_directories(folder);
  std::vector<std::filesystem::path> paths;
  for (std::uint32_t rank = 0; rank < options_.ranks; ++rank) {
    paths.push_back(folder / ("rank-" + std::to_string(rank) + ".reprise"));
    write(rank, paths.back());
  }
  return paths;
}

}  // namespace reprise::test

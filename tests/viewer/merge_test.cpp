#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/atomic_file.hpp"
#include "merge/merge_traces.hpp"
#include "merge/rank_ids.hpp"
#include "support/paths.hpp"
#include "trace/trace_error.hpp"
#include "trace/trace_file.hpp"
#include "trace/trace_reader.hpp"
#include "viewer/hand_made_ranks.hpp"
#include "viewer/hand_made_trace.hpp"

using namespace reprise;
using namespace reprise::trace;
using test::HandMadeJob;
namespace fs = std::filesystem;

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

// Changes the descriptions in a trace.
void change_topology(const fs::path& path, const std::function<void(Records&)>& change) {
  std::vector<std::pair<ChunkKind, Records>> chunks;
  {
    const TraceReader reader(path);
    for (const ChunkEntry& entry : reader.chunks())
      chunks.emplace_back(entry.header.kind, reader.read(entry));
  }
  TraceFile file({.path = path});
  std::uint64_t sequence = 0;
  for (auto& [kind, records] : chunks) {
    if (kind == ChunkKind::Topology) change(records);
    file.write(std::make_shared<const Chunk>(make_chunk(kind, records, sequence++)));
  }
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

TEST_CASE("merge: a trace with clocks of unknown relation is readable") {
  const fs::path folder = merge_folder("unrelated");
  const auto inputs =
      HandMadeJob({.has_collectives = false, .has_exchanges = false}).write_all(folder);
  const fs::path output = folder / "all.reprise";
  CHECK(merge_traces({.inputs = inputs, .output = output}).warnings.size() == 1);
  const Records all = read_all(output);
  CHECK(all.clock_alignments[2].error == kUnknownError);
  CHECK(has_message(all, "merge.clocks", "ranks 2 and 3 to rank 0"));
}

TEST_CASE("merge: the most extreme times are merged into a readable trace") {
  const fs::path folder = merge_folder("extreme");
  const HandMadeJob job({.ranks = 3, .ranks_per_host = 1, .replays = 20});
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<fs::path> inputs;
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      Records topology = job.topology(rank), events = job.events(rank);
      const auto change = [&](Time& time) {
        constexpr Time kMax = 3'000'000'000'000'000'000;
        constexpr Time kExtremes[] = {kMax, -kMax, 1, -1, kMax / 2};
        if (random() % 4 == 0) time = kExtremes[random() % std::size(kExtremes)];
      };
      for (Clock& c : topology.clocks) {
        for (Time* time : {&c.host, &c.other, &c.error}) change(*time);
      }
      for (ClockExchange& e : events.clock_exchanges) {
        for (Time* time : {&e.sent, &e.received, &e.other}) change(*time);
      }
      for (SampleBlock& block : events.sample_blocks) {
        for (Sample& sample : block.samples) change(sample.started);
      }
      for (Replay& replay : events.replays) change(replay.launched);
      inputs.push_back(folder / std::to_string(rank));
      write_records(inputs.back(), {{ChunkKind::Topology, topology}, {ChunkKind::Events, events}});
    }
    static_cast<void>(merge_traces({.inputs = inputs, .output = folder / "all.reprise"}));
    const Records all = read_all(folder / "all.reprise");
    CAPTURE(seed);
    CHECK(all.replays.size() == 60);
    for (const ClockAlignment& a : all.clock_alignments) CHECK(a.error >= 0);
  }
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

TEST_CASE("merge: without a communicator, collectives of ranks that have others stay apart") {
  for (const std::uint32_t ranks_per_host : {1u, 2u}) {
    const HandMadeJob job({.ranks = 2, .ranks_per_host = ranks_per_host, .communicator = 0});
    const fs::path folder = merge_folder("unmatched"), output = folder / "all.reprise";
    const std::vector<fs::path> inputs = job.write_all(folder);
    const auto communicators = [&] {
      std::set<std::uint64_t> all;
      for (const GraphVersion& g : read_all(output).graph_versions)
        for (const Collective& c : g.collectives) all.insert(c.communicator);
      return all;
    };
    CHECK(merge_traces({inputs, output}).warnings.empty());
    CHECK(communicators() == std::set<std::uint64_t>{0});
    change_topology(inputs[1], [](Records& records) {
      for (GraphVersion& g : records.graph_versions) g.collectives[0].kind = CollectiveKind::Group;
    });
    CHECK(merge_traces({inputs, output}).warnings.size() >= 1);
    CHECK(has_message(read_all(output), "merge.clocks", "rank 0 and rank 1: they are not matched"));
    CHECK(communicators().size() == 2);
    CHECK_FALSE(communicators().contains(0));
  }
}

TEST_CASE("merge: objects end after the records that refer to them") {
  const fs::path folder = merge_folder("ended");
  const HandMadeJob job({.ranks = 1, .ranks_per_host = 1, .replays = 3});
  Records events = job.events(0), ended;
  events.host_ranges[0].thread = 99;  // has no name
  ended.add(Ended{HandMadeJob::kBegin + 1'000'000'000, ObjectKind::Graph, HandMadeJob::kGraph});
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

TEST_CASE("merge: the most private input decides who may read the merged trace") {
  const fs::path folder = merge_folder("private");
  const auto inputs = HandMadeJob({.ranks = 2}).write_all(folder / "job");
  const fs::path output = folder / "all.reprise";
  constexpr fs::perms kOwner = fs::perms::owner_read | fs::perms::owner_write;
  fs::permissions(inputs[0], kOwner | fs::perms::group_read | fs::perms::others_read);
  static_cast<void>(merge_traces({.inputs = inputs, .output = output}));
  CHECK(fs::status(output).permissions() == kOwner);
}

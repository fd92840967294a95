// Writes the hand-made trace to FILE, for tests that run the program `reprise`: write_trace FILE
// [slow|renamed|no-samples|many|hostile]. "hostile": a rank whose names would control a terminal,
// or pretend to be messages of the program. "many" is another trace: 400 graphs of one topology,
// captured in 1 ms and 3 MiB each, with one replay each, and a graph that was never replayed.
// write_trace FILE large NODES REPLAYS [WIDTH] writes one graph with layers of WIDTH nodes, and
// every tenth replay sampled. write_trace FOLDER ranks RANKS PER_HOST REPLAYS [DELAY] writes the
// traces of a hand-made job, rank-0.reprise and so on; rank 1 arrives DELAY ns later at the second
// collective of every replay.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "trace/trace_file.hpp"
#include "trace/trace_writer.hpp"
#include "viewer/hand_made_ranks.hpp"
#include "viewer/hand_made_trace.hpp"
#include "viewer/window/large_trace.hpp"

namespace {

using namespace reprise::trace;

void write_many(const char* path) {
  TraceWriter writer;
  writer.add_sink(std::make_shared<TraceFile>(TraceFileDesc{.path = path}));
  GraphVersion g;
  g.version = 1;
  g.strings = {"", "gemm"};
  g.labels = {{0, 0, 0}};
  g.nodes.resize(2);
  g.edges = {{0, 1, EdgeCause::Captured}};
  g.changes = {{0, 6}, {1, 2}};
  for (Node& node : g.nodes) node.name = 1;
  for (g.graph = 1; g.graph <= 400; ++g.graph) {
    g.label = "batch " + std::to_string(g.graph);
    writer.push(g);
  }
  g.label = "spare";
  g.nodes.resize(1);
  g.edges.clear();
  g.changes.clear();
  writer.push(g);
  for (std::uint32_t graph = 1; graph <= 400; ++graph) {
    const Time at = 1'000'000 + 10'000 * Time{graph};
    writer.push(Replay{graph, 1, 0, 0, 1, at, at + 500, at + 1'000, at + 1'000 + graph, 1, 0});
    writer.push(CreationCost{graph, at + 500, 1'000'000, 500, 2 << 20, 1 << 20});
  }
  writer.push(CreationCost{401, 900'000, 1'000'000, 0, 2 << 20});
}

void write_hostile(const char* path) {
  const std::string name =
      "\x1b]0;owned\x07\x1b[31m \xc2\x9b"
      "1m \xe2\x80\xae\nreprise: forged";
  Records records;
  Session session;
  session.host = session.application = session.command_line = session.job = name;
  session.rank = 0;
  session.ranks = 2;
  records.sessions = {session};
  GraphVersion g;
  g.label = name;
  g.strings = {"", name};
  g.labels = {{0, 0, 0}};
  g.nodes.resize(1);
  g.nodes[0].name = 1;
  records.graph_versions = {g};
  Message message;
  message.id = message.text = name;
  records.messages = {message};
  TraceFile(TraceFileDesc{.path = path})
      .write(std::make_shared<const Chunk>(make_chunk(ChunkKind::Topology, records, 0)));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: write_trace FILE [slow|renamed|no-samples|many|hostile]\n", stderr);
    return 2;
  }
  reprise::test::HandMadeTrace options;
  const std::string kind = argc > 2 ? argv[2] : "";
  if (kind == "many") {
    write_many(argv[1]);
    return 0;
  }
  if (kind == "hostile") {
    write_hostile(argv[1]);
    return 0;
  }
  if (kind == "large" && argc > 4) {
    reprise::test::LargeTraceDesc desc{.nodes = static_cast<std::uint32_t>(std::atoi(argv[3])),
                                       .replays = static_cast<std::uint64_t>(std::atoi(argv[4]))};
    if (argc > 5) desc.width = static_cast<std::uint32_t>(std::atoi(argv[5]));
    reprise::test::write_large_trace(argv[1], desc);
    return 0;
  }
  if (kind == "ranks" && argc > 5) {
    reprise::test::HandMadeRanks ranks;
    ranks.ranks = static_cast<std::uint32_t>(std::atoi(argv[3]));
    ranks.ranks_per_host = static_cast<std::uint32_t>(std::atoi(argv[4]));
    ranks.replays = static_cast<std::uint64_t>(std::atoi(argv[5]));
    if (argc > 6) ranks.stragglers = {{.rank = 1, .step = 1, .delay = std::atoi(argv[6])}};
    const reprise::test::HandMadeJob job(ranks);
    static_cast<void>(job.write_all(argv[1]));
    return 0;
  }
  if (kind == "slow") options.slow_node = 2;
  if (kind == "renamed") options.renamed_node = 2;
  if (kind == "no-samples") options.samples = false;
  reprise::test::write_hand_made_trace(argv[1], options);
}

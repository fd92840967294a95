#include <doctest/doctest.h>

#include <sqlite3.h>

#include "model/replay_statistics.hpp"
#include "trace/trace_file.hpp"
#include "viewer/hand_made_exports.hpp"
#include "viewer/trace_document.hpp"

using namespace reprise;
using test::HandMadeTrace;

namespace {

// A read-only database.
class ReadDatabase {
 public:
  explicit ReadDatabase(const std::filesystem::path& path) {
    REQUIRE(sqlite3_open_v2(path.c_str(), &handle_, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK);
  }
  ReadDatabase(const ReadDatabase&) = delete;
  ReadDatabase& operator=(const ReadDatabase&) = delete;
  ~ReadDatabase() { sqlite3_close(handle_); }

  // The first column of the first row.
  std::string text(const std::string& sql) {
    sqlite3_stmt* statement = nullptr;
    REQUIRE_MESSAGE(sqlite3_prepare_v2(handle_, sql.c_str(), -1, &statement, nullptr) == SQLITE_OK,
                    sqlite3_errmsg(handle_));
    std::string value = "no row";
    if (sqlite3_step(statement) == SQLITE_ROW) {
      const auto* bytes = sqlite3_column_text(statement, 0);
      value = bytes == nullptr ? "NULL" : reinterpret_cast<const char*>(bytes);
    }
    sqlite3_finalize(statement);
    return value;
  }
  long long number(const std::string& sql) { return std::stoll(text(sql)); }

 private:
  sqlite3* handle_ = nullptr;
};

// The database of a trace with these records.
std::filesystem::path exported(const trace::Records& topology, const std::string& name) {
  const std::filesystem::path trace = test::scratch_folder() / (name + ".reprise"),
                              output = test::scratch_folder() / (name + ".db");
  trace::TraceFile({.path = trace})
      .write(std::make_shared<const trace::Chunk>(
          trace::make_chunk(trace::ChunkKind::Topology, topology, 0)));
  (void)trace::export_sqlite(trace::TraceReader(trace), {.output = output});
  return output;
}

}  // namespace

TEST_CASE(
    "sqlite: the database passes its integrity check and its totals equal those of the viewer") {
  const test::Exported e = test::export_hand_made(trace::ExportFormat::Sqlite, "all.db");
  const auto document = test::document_of(e.trace);
  ReadDatabase db(e.output);
  CHECK(db.text("PRAGMA integrity_check") == "ok");
  CHECK(db.number("SELECT count(*) FROM graphs") == 2);
  for (const auto& [key, entry] : document->graphs) {
    const model::Graph& graph = *entry.graph;
    const auto total = [&entry = entry](model::ReplayMeasure what) {
      return static_cast<long long>(model::replay_statistics(entry.replays, what).total);
    };
    const std::string of_graph = " WHERE graph = " + std::to_string(key.graph) +
                                 " AND version = " + std::to_string(key.version);
    CHECK(db.number("SELECT count(*) FROM replays" + of_graph) ==
          static_cast<long long>(entry.replays.size()));
    CHECK(db.number("SELECT sum(ended_ns - started_ns) FROM replays" + of_graph) ==
          total(model::ReplayMeasure::DeviceTime));
    CHECK(db.number("SELECT sum(launch_returned_ns - launched_ns) FROM replays" + of_graph) ==
          total(model::ReplayMeasure::LaunchCall));
    CHECK(db.number("SELECT count(*) FROM nodes" + of_graph) == graph.node_count());
    CHECK(db.number("SELECT count(*) FROM edges" + of_graph) ==
          static_cast<long long>(graph.record().edges.size()));
    for (std::uint32_t n = 0; n < graph.node_count(); ++n) {
      const model::NodeStatistics& node = entry.statistics->nodes[n];
      const std::string of_node = of_graph + " AND node = " + std::to_string(n);
      CHECK(db.number("SELECT sum(duration_ns) FROM samples" + of_node) == node.times.sum());
      CHECK(db.number("SELECT count(*) FROM samples" + of_node) ==
            static_cast<long long>(node.times.count() + node.lost));
      CHECK(db.number("SELECT count(*) FROM samples" + of_node +
                      " AND started_ns IS NULL AND duration_ns IS NULL") ==
            static_cast<long long>(node.lost));
      CHECK(db.text("SELECT name FROM nodes" + of_node) == graph.node_name(n));
      CHECK(db.text("SELECT label FROM nodes" + of_node) ==
            graph.label_path(graph.record().nodes[n].label));
    }
  }
}

TEST_CASE("sqlite: single records are stored unchanged") {
  const test::Exported e = test::export_hand_made(trace::ExportFormat::Sqlite, "once.db");
  ReadDatabase db(e.output);
  CHECK(db.text("SELECT application || ' on ' || host || ' ' || pid FROM sessions") ==
        "digits on node7 4711");
  CHECK(db.text("SELECT rank FROM sessions") == "NULL");
  CHECK(db.text("SELECT plan_hash FROM graphs WHERE name = 'step'") == "feedfacecafebeef");
  CHECK(db.text("SELECT device FROM graphs WHERE name = 'step'") == "host (2 threads)");
  CHECK(db.text("SELECT text FROM messages") == "a \"quoted\",\ntext");
  CHECK(db.text("SELECT name || ' ' || kind || ' ' || slab_offset FROM buffers WHERE graph = 3 AND "
                "buffer = 0") == "x<&> transient 256");
  CHECK(db.text("SELECT slab_offset FROM buffers WHERE graph = 3 AND buffer = 1") == "NULL");
  CHECK(db.text("SELECT hazard || ' ' || end_byte FROM edges WHERE graph = 3 AND from_node = 2") ==
        "WAR 64");
  CHECK(db.text("SELECT file || ':' || line FROM nodes WHERE graph = 3 AND node = 1") ==
        "main.cpp:11");
  CHECK(db.text("SELECT count || ' ' || kind FROM losses") == "12 samples");
  CHECK(db.text("SELECT name || ' ' || thread || ' ' || depth FROM ranges WHERE replay = 1") ==
        "batch 77 1");
  CHECK(
      db.text("SELECT queues.name || ' ' || threads.name || ' ' || device FROM replays JOIN queues "
              "USING (queue) JOIN threads USING (thread)") == "main trainer host (2 threads)");
  CHECK(
      db.text("SELECT buffers.name || ' ' || access || ' ' || end_byte FROM accesses JOIN buffers "
              "USING (graph, version, buffer) WHERE graph = 3 AND node = 0") == "x<&> write 4096");
  CHECK(db.number("SELECT count(*) FROM accesses WHERE graph = 3") == HandMadeTrace::kNodes);
  CHECK(db.number("SELECT count(*) FROM ranges WHERE graph IS NULL") ==
        HandMadeTrace::kStepReplays);
  CHECK(db.text("SELECT name || ' on ' || device || ' ' || mapped_bytes FROM pools ORDER BY at_ns "
                "DESC") == "step on host (2 threads) 6291456");
}

TEST_CASE(
    "sqlite: the cost of creating a graph is its latest record, and unknown values are NULL") {
  const test::Exported e = test::export_captured(trace::ExportFormat::Sqlite, "captured.db");
  ReadDatabase db(e.output);
  CHECK(db.number("SELECT count(*) FROM creation_costs") == 2);
  CHECK(db.text("SELECT capture_ns || ' ' || launch_ns || ' ' || capture_bytes || ' ' || "
                "launch_bytes FROM creation_costs WHERE graph = 3") == "40 7 4096 -64");
  CHECK(db.text("SELECT capture_bytes FROM creation_costs WHERE graph = 4 AND capture_ns IS NULL "
                "AND launch_ns IS NULL AND launch_bytes IS NULL") == "2048");
}

TEST_CASE("sqlite: call stacks are stored as frames with their callers") {
  trace::Records topology;
  topology.graph_versions.resize(1);
  trace::GraphVersion& g = topology.graph_versions[0];
  g.strings = {"", "main", "step", "/home/a/train.py", "/lib/libtorch.so", "at::add"};
  g.labels = {{0, 0, 0}};
  g.nodes.resize(1);
  g.frames = {{trace::kNone, 1, 3, 40, 0}, {0, 2, 3, 12, 0}, {1, 5, 4, 0, 4'660}};
  g.stacks = {{0, 2}};
  g.launch_stacks = {{7, 1, 0, 0}};
  g.stack = 0;
  ReadDatabase db(exported(topology, "stacks"));
  CHECK(db.text("WITH RECURSIVE up(frame, depth) AS (SELECT frame, 0 FROM stacks WHERE node = 0 "
                "UNION ALL SELECT caller, depth + 1 FROM frames JOIN up USING (frame) WHERE caller "
                "IS NOT NULL) SELECT group_concat(function || ' ' || ifnull(line, offset), ', ') "
                "FROM (SELECT * FROM up JOIN frames USING (frame) ORDER BY depth)") ==
        "at::add 4660, step 12, main 40");
  CHECK(db.number("SELECT frame FROM stacks WHERE node IS NULL") == 0);
  CHECK(db.number("SELECT launches FROM launch_stacks WHERE frame = 1") == 7);
}

TEST_CASE("sqlite: segments are stored with their nodes and lists") {
  trace::Records topology;
  topology.graph_versions.resize(1);
  trace::GraphVersion& graph = topology.graph_versions[0];
  graph.graph = graph.version = 1;
  graph.strings = {""};
  graph.labels = {{}};
  graph.nodes.resize(4);
  graph.segments = {{1, 3, 2, 6}};
  CHECK(ReadDatabase(exported(topology, "segments"))
            .text("SELECT first_node || ' ' || nodes || ' ' || lists || ' ' || items "
                  "FROM segments WHERE graph = 1 AND segment = 0") == "1 3 2 6");
}

TEST_CASE("sqlite: block relations are stored with their nodes and numbers") {
  trace::Records topology;
  topology.graph_versions.resize(1);
  trace::GraphVersion& graph = topology.graph_versions[0];
  graph.graph = graph.version = 1;
  graph.strings = {""};
  graph.labels = {{}};
  graph.nodes.resize(4);
  graph.segments = {{1, 3, 2, 6}};
  graph.block_relations = {{1, 2, 2, 3, -1, 5}};
  CHECK(ReadDatabase(exported(topology, "block_relations"))
            .text("SELECT from_node || ' ' || to_node || ' ' || factor || ' ' || divisor || ' ' || "
                  "low || ' ' || high FROM block_relations WHERE graph = 1 AND version = 1") ==
        "1 2 2 3 -1 5");
}

TEST_CASE("sqlite: an export of one graph contains no other") {
  const test::Exported e = test::export_hand_made(trace::ExportFormat::Sqlite, "one.db", "other");
  ReadDatabase db(e.output);
  for (const char* table : {"graphs", "nodes", "edges", "buffers", "replays", "samples"}) {
    CHECK(db.number(std::string("SELECT count(*) FROM ") + table + " WHERE graph = 8") > 0);
    CHECK(db.number(std::string("SELECT count(*) FROM ") + table + " WHERE graph <> 8") == 0);
  }
  CHECK(e.report.samples == HandMadeTrace::kOtherReplays * HandMadeTrace::kNodes);
}

TEST_CASE("sqlite: rows have their rank, and there are tables of clocks and collectives") {
  const test::Exported e = test::export_ranks(trace::ExportFormat::Sqlite, "ranks.db");
  ReadDatabase db(e.output);
  CHECK(db.text("SELECT group_concat(session || ' ' || rank || ' of ' || ranks || ' ' || job) FROM "
                "sessions WHERE rank > 1") == "2 2 of 4 job-42,3 3 of 4 job-42");
  CHECK(db.text("SELECT group_concat(rank || ': ' || error_ns) FROM clock_alignments") ==
        "0: 0,1: 0,2: 12300,3: 12300");
  for (const char* table : {"graphs", "replays", "samples", "ranges", "pools"}) {
    CAPTURE(table);
    CHECK(db.number("SELECT count(DISTINCT rank) FROM " + std::string(table)) == 4);
  }
  CHECK(db.number("SELECT count(*) FROM samples WHERE rank = 2 AND graph = 2") == 60);
  CHECK(db.number("SELECT count(*) FROM samples WHERE rank <> graph") == 0);
  CHECK(db.number("SELECT count(*) FROM collectives") == 8);
  CHECK(db.text("SELECT kind || ' ' || communicator || ' ' || collective || ' ' || bytes FROM "
                "collectives WHERE rank = 3 AND node = 4") ==
        "all-reduce 0000000000c0ffee 1 1048576");
  // The last rank to arrive at every execution.
  CHECK(db.number("SELECT count(*) FROM (SELECT replay, node, max(started_ns) FROM samples JOIN "
                  "collectives USING (graph, version, node) GROUP BY replay, node)") == 20);
}

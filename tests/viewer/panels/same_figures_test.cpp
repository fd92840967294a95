// The window's figures are those that the program prints of the same trace.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "panels/compare/compare_panel.hpp"
#include "panels/graphs/graphs_panel.hpp"
#include "panels/nodes/nodes_groups.hpp"
#include "panels/nodes/nodes_panel.hpp"
#include "support/paths.hpp"
#include "viewer/hand_made_trace.hpp"
#include "viewer/panels/panel_fixture.hpp"

using namespace reprise;
using namespace reprise::viewer;
using nlohmann::json;
using test::PanelFixture;

namespace {

namespace fs = std::filesystem;

json printed(const std::string& arguments) {
  const std::string command = std::string("\"") + REPRISE_PROGRAM + "\" " + arguments;
  std::FILE* const pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
  REQUIRE(pclose(pipe) == 0);
  return json::parse(text);
}

std::string quoted(const fs::path& path) { return "\"" + path.string() + "\""; }

using Row = std::map<std::string, std::string>;  // by column

// The rows of a CSV text (RFC 4180).
std::vector<Row> rows_of(const std::string& csv) {
  std::vector<std::vector<std::string>> lines(1, std::vector<std::string>(1));
  bool is_quoted = false;
  for (std::size_t i = 0; i < csv.size(); ++i) {
    const char c = csv[i];
    if (c == '"' && is_quoted && i + 1 < csv.size() && csv[i + 1] == '"') {
      lines.back().back() += csv[++i];
    } else if (c == '"') {
      is_quoted = !is_quoted;
    } else if (c == ',' && !is_quoted) {
      lines.back().emplace_back();
    } else if (c == '\n' && !is_quoted) {
      lines.emplace_back(1);
    } else if (c != '\r' || is_quoted) {
      lines.back().back() += c;
    }
  }
  std::vector<Row> rows;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].size() != lines[0].size()) continue;  // the end of the text
    Row& row = rows.emplace_back();
    for (std::size_t c = 0; c < lines[i].size(); ++c) row[lines[0][c]] = lines[i][c];
  }
  return rows;
}

// An empty cell is a figure that is not known: null, or of no samples.
void check_same(const std::string& cell, const json& figure) {
  if (cell.empty()) {
    CHECK((figure.is_null() || figure == 0));
  } else {
    CHECK(std::stod(cell) == doctest::Approx(figure.get<double>()).epsilon(1e-6));
  }
}

struct Corpus {
  std::vector<fs::path> files;
  Corpus() {
    for (const char* golden : {"digits", "photo"})
      files.push_back(test::test_file("viewer/model/golden/" + std::string(golden) + ".reprise"));
    files.push_back(test::scratch_folder() / "same-figures.reprise");
    test::write_hand_made_trace(files.back());
    files.push_back(test::scratch_folder() / "same-figures-cut.reprise");
    fs::copy_file(files[2], files[3], fs::copy_options::overwrite_existing);
    fs::resize_file(files[3], fs::file_size(files[2]) - 700);
  }
};

}  // namespace

TEST_CASE("same figures: nodes and replays of each graph, in the window and of `reprise stats`") {
  for (const fs::path& file : Corpus().files) {
    CAPTURE(file);
    const json stats = printed("stats --json --top 1 " + quoted(file) + " 2>/dev/null");
    PanelFixture fixture({2400, 600}, test::document_of(file));
    REQUIRE(stats["graphs"].size() == fixture.document->graphs.size());
    REQUIRE_FALSE(stats["graphs"].empty());
    for (const json& graph : stats["graphs"]) {
      fixture.show({graph["graph"], graph["version"]});
      const auto check_replays = [&](const model::ReplayStatistics& shown, const char* name) {
        CAPTURE(name);
        CHECK(shown.count == graph[name]["count"]);
        CHECK(shown.median == graph[name]["p50_ns"]);
        CHECK(shown.p99 == graph[name]["p99_ns"]);
        CHECK(shown.mean == doctest::Approx(graph[name]["mean_ns"].get<double>()));
      };
      check_replays(fixture.summary.device_time, "device_time");
      check_replays(fixture.summary.launch_call, "launch_call");
      check_replays(fixture.summary.launch_latency, "launch_latency");
      CHECK(fixture.summary.replays == graph["replays"]);
      CHECK(fixture.summary.sampled == graph["sampled_replays"]);
      NodesPanel panel(fixture.background);
      fixture.settle(panel);
      const std::vector<Row> rows = rows_of(fixture.csv(panel));
      REQUIRE(rows.size() == graph["nodes"].size());
      for (const Row& row : rows) {
        const json& node = graph["nodes"][std::stoul(row.at("Id"))];
        CAPTURE(node["name"].get<std::string>());
        CHECK(row.at("Node") == node["name"]);
        check_same(row.at("Median (ns)"), node["time"]["p50_ns"]);
        check_same(row.at("p90 (ns)"), node["time"]["p90_ns"]);
        check_same(row.at("p99 (ns)"), node["time"]["p99_ns"]);
        check_same(row.at("Max (ns)"), node["time"]["max_ns"]);
        check_same(row.at("Samples"), node["time"]["count"]);
        check_same(row.at("Share"), node["share"]);
      }
    }
  }
}

TEST_CASE("same figures: the table of graphs, in the window and of `reprise stats`") {
  for (const fs::path& file : Corpus().files) {
    CAPTURE(file);
    const json stats = printed("stats --json --top 1 " + quoted(file) + " 2>/dev/null");
    PanelFixture fixture({2400, 600}, test::document_of(file));
    GraphsPanel panel(fixture.background);
    fixture.settle(panel);
    std::map<std::string, json> graphs, families;
    for (const json& graph : stats["graph_table"]["graphs"]) graphs[graph["name"]] = graph;
    for (const json& family : stats["graph_table"]["families"]) families[family["name"]] = family;
    const std::vector<Row> rows = rows_of(fixture.csv(panel));
    CHECK(rows.size() == families.size());
    for (const Row& row : rows) {
      const std::string& name = row.at("Graph");
      CAPTURE(name);
      REQUIRE(families.contains(name));
      const auto graph = graphs.find(name);  // a family of one has its name
      const json& figures = graph == graphs.end() ? families[name] : graph->second;
      check_same(row.at("Replays"), figures["replays"]);
      check_same(row.at("Total (ns)"), figures["device_time_ns"]);
      check_same(row.at("Share"), figures["share"]);
      check_same(row.at("Nodes"), figures["nodes"]);
      if (graph == graphs.end()) continue;
      check_same(row.at("Median (ns)"), figures["median_ns"]);
      check_same(row.at("p99 (ns)"), figures["p99_ns"]);
      check_same(row.at("Latency (ns)"), figures["launch_latency_ns"]);
      check_same(row.at("Gap (ns)"), figures["gap_ns"]);
    }
  }
}

TEST_CASE("same figures: node time by kind, in the window and of `reprise stats`") {
  struct Kinds {
    NodeGroupsView view;
    void draw(PanelContext& context) { view.draw(context, GroupView::Kinds, GroupScope::Process); }
  };
  std::size_t compared = 0;
  for (const fs::path& file : Corpus().files) {
    CAPTURE(file);
    const json stats = printed("stats --json " + quoted(file) + " 2>/dev/null");
    PanelFixture fixture({2400, 600}, test::document_of(file));
    Kinds panel{NodeGroupsView(fixture.background)};
    fixture.settle(panel);
    if (stats["kinds"].empty()) continue;
    const std::vector<Row> rows = rows_of(fixture.csv(panel));
    for (const json& kind : stats["kinds"]) {
      const auto row = std::find_if(rows.begin(), rows.end(),
                                    [&](const Row& one) { return one.at("Kind") == kind["kind"]; });
      REQUIRE(row != rows.end());
      check_same(row->at("Nodes"), kind["nodes"]);
      check_same(row->at("Samples"), kind["samples"]);
      check_same(row->at("Total (ns)"), kind["total_ns"]);
      check_same(row->at("Share"), kind["share"]);
      ++compared;
    }
  }
  CHECK(compared > 2);
}

TEST_CASE("same figures: a comparison, in the window and of `reprise diff`") {
  const fs::path before = test::scratch_folder() / "same-before.reprise",
                 after = test::scratch_folder() / "same-after.reprise";
  test::write_hand_made_trace(before);
  test::write_hand_made_trace(after, {.slow_node = 2});
  const json diff = printed("diff --json " + quoted(before) + " " + quoted(after) + " 2>/dev/null");
  PanelFixture fixture({2400, 600}, test::document_of(before));
  fixture.other = test::document_of(after);
  for (const json& graph : diff["graphs"]) {
    fixture.show({graph["graph_a"], graph["version_a"]});
    ComparePanel panel(fixture.background);
    fixture.settle(panel);
    const std::vector<Row> rows = rows_of(fixture.csv(panel));
    REQUIRE(rows.size() == graph["nodes"].size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const json& node = graph["nodes"][i];
      const json& time = node["time"];
      CHECK(rows[i].at("Node") == node["name"]);
      CHECK(rows[i].at("Verdict") == time["verdict"]);
      check_same(rows[i].at("Median A (ns)"), time["median_a_ns"]);
      check_same(rows[i].at("Median B (ns)"), time["median_b_ns"]);
      check_same(rows[i].at("Change"), time["change"]);
      check_same(rows[i].at("Effect (ns)"), node["effect_ns"]);
      check_same(rows[i].at("p"), time["p"]);
      CHECK(rows[i].at("On path A | B") == viewer::percent_text(node["on_path_a"]) + " | " +
                                               viewer::percent_text(node["on_path_b"]));
    }
  }
}

// Traces of samples, and one of `reprise run --nodes` with a program of JAX whose graphs get new
// parameters before their launches. They and all derived results must read the same in every later
// version.
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <sstream>
#include <string>

#include "model/critical_path.hpp"
#include "model/document_text.hpp"
#include "model/gaps.hpp"
#include "model/memory_use.hpp"
#include "model/sync_costs.hpp"
#include "model/timeline_rows.hpp"
#include "model/trace_loader.hpp"
#include "support/golden_text.hpp"
#include "support/paths.hpp"

using namespace reprise;

namespace {

std::shared_ptr<const model::Document> document_of(const std::string& trace) {
  model::TraceLoader loader({.path = test::test_file("viewer/model/golden/" + trace)});
  while (loader.step()) {
  }
  CHECK(loader.damage().empty());
  return loader.document();
}

std::string nodes_of(const model::CriticalPath& path) {
  std::ostringstream out;
  for (const model::PathStep& step : path.steps) out << " " << step.node;
  out << " work " << std::llround(path.work) << " wait " << std::llround(path.wait);
  return out.str();
}

// The analysis of one replay as text.
std::string text_of(const model::Graph& g, const trace::SampleBlock& block) {
  const model::ReplayTimes times = model::replay_times(g, block);
  const model::TimelineRows rows = model::timeline_rows(g, block, model::RowsBy::Worker);
  std::map<model::GapKind, trace::Time> waited;
  for (const model::Gap& gap : model::gaps(g, rows, times))
    waited[gap.kind] += gap.ended - gap.started;
  const model::MemoryUse memory = model::memory_by_time(g, times);
  std::ostringstream out;
  out << "  replay " << block.replay << " took " << times.ended - times.started << " on path"
      << nodes_of(model::critical_path(g, times)) << "\n";
  out << "  rows " << rows.rows.size() << " waited for predecessors "
      << waited[model::GapKind::Predecessor] << " falsely "
      << waited[model::GapKind::FalseDependency] << " bubbles "
      << waited[model::GapKind::LaunchBubble] << " most live " << memory.peak_bytes << "\n";
  return out.str();
}

// The views' results for each graph, in a few lines.
std::string analyses(const model::Document& document) {
  std::ostringstream out;
  for (const auto& [key, entry] : document.graphs) {
    const model::Graph& g = *entry.graph;
    const std::vector<double> medians = entry.statistics->medians();
    const model::SyncCosts costs = model::sync_costs(g, medians, model::device_demand(g, nullptr));
    const model::MemoryUse memory = model::memory_by_node_order(g);
    std::size_t redundant_edges = 0, critical = 0;
    for (const model::EdgeCost& e : costs.edges)
      redundant_edges += e.is_redundant ? 1 : 0, critical += e.is_critical ? 1 : 0;
    out << "graph " << key.graph << " version " << key.version << " by medians"
        << nodes_of(model::critical_path(g, medians)) << "\n";
    out << "  edges " << costs.edges.size() << " implied " << redundant_edges << " critical "
        << critical << "\n";
    out << "  memory most live " << memory.peak_bytes << " at " << memory.peak_at << " waste "
        << memory.waste_bytes << " alias groups " << model::alias_groups(g).size() << "\n";
    for (const trace::Replay& replay : entry.replays) {
      if (const auto block = document.samples->find(replay)) out << text_of(g, *block);
    }
  }
  return out.str();
}

std::shared_ptr<const model::Document> check_golden(const std::string& name) {
  const auto document = document_of(name + ".reprise");
  const std::string text = model::document_text(*document) + analyses(*document);
  CHECK(text == test::golden_text("viewer/model/golden/" + name + ".txt", text));
  return document;
}

}  // namespace

TEST_CASE(
    "golden: the trace of digits matches its text, critical paths, gaps, memory and edges "
    "included") {
  check_golden("digits");
}

TEST_CASE(
    "golden: the trace of photo matches its text, critical paths, gaps, memory and edges "
    "included") {
  check_golden("photo");
}

TEST_CASE(
    "golden: the trace of JAX has one version per graph with its changes, names of modules, bodies "
    "and kinds of kernels") {
  const auto document = check_golden("jax");
  std::size_t changed = 0;
  for (const auto& [key, entry] : document->graphs) {
    CHECK(key.version == 1);
    changed += entry.graph->record().changes.size();
  }
  CHECK(changed == 18);
}

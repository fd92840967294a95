#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include <imgui_internal.h>

#include "model/document_builder.hpp"
#include "model/graph_comparison.hpp"
#include "panels/compare/compare_choice.hpp"
#include "panels/compare/compare_panel.hpp"
#include "support/paths.hpp"
#include "viewer/hand_made_trace.hpp"
#include "viewer/panels/panel_fixture.hpp"

using namespace reprise;
using namespace reprise::viewer;
using model::ComparedNode;
using model::GraphComparison;
using model::Verdict;
using reprise::test::HandMadeTrace;
using reprise::test::PanelFixture;

namespace {

std::shared_ptr<const model::Document> changed_document(const std::string& name,
                                                        const HandMadeTrace& options) {
  const std::filesystem::path path = test::scratch_folder() / (name + ".reprise");
  if (!std::filesystem::exists(path)) write_hand_made_trace(path, options);
  return test::document_of(path);
}

// Node 2 takes 50 % longer.
std::shared_ptr<const model::Document> slower() {
  return changed_document("compare-slower", {.slow_node = 2});
}
// Node 3 has a different name.
std::shared_ptr<const model::Document> renamed() {
  return changed_document("compare-renamed", {.renamed_node = 3});
}

std::string settled_text(PanelFixture& fixture, ComparePanel& panel) {
  fixture.settle(panel);
  CHECK(fixture.is_drawable());
  return fixture.text([&] { fixture.draw(panel); });
}

void check_has(const std::string& text, std::initializer_list<const char*> words) {
  for (const char* word : words) {
    INFO(text);
    CHECK_MESSAGE(text.find(word) != std::string::npos, word);
  }
}

const ComparedNode& of_a(const GraphComparison& result, std::uint32_t node) {
  return *std::find_if(result.nodes.begin(), result.nodes.end(),
                       [&](const ComparedNode& n) { return n.a == node; });
}

// Clicks a button of the first line by index.
void click_button(PanelFixture& fixture, ComparePanel& panel, int index) {
  // Buttons are found by hovering, because their labels have no positions in the text.
  float x = 10;
  for (int i = 0; i <= index; ++i) {
    const ImGuiID none = 0;
    ImGuiID at = none;
    const auto hovered_id = [&] {
      fixture.move_mouse({x, 16});
      fixture.window([&] { fixture.draw(panel); });
      return ImGui::GetCurrentContext()->HoveredId;
    };
    while (x < 1500 && (at = hovered_id()) == none) x += 4;
    if (i == index) break;
    while (x < 1500 && hovered_id() == at) x += 4;
  }
  REQUIRE(x < 1500);
  fixture.click({x + 2, 16}, [&] { fixture.draw(panel); });
}

}  // namespace

TEST_CASE("compare: a node with few samples has the verdict TooFewSamples") {
  const PanelFixture fixture;
  const auto other = slower();
  const GraphComparison result = model::compare({*fixture.document, fixture.view.graph, {0, 4}},
                                                {*other, fixture.view.graph, {0, 4}});
  CHECK(result.slower == 0);
  CHECK(of_a(result, 2).times.verdict == Verdict::TooFewSamples);
}

TEST_CASE("compare: the halves cover all replays of the range, and one replay has no halves") {
  PanelFixture fixture;
  const PanelContext context = fixture.panel_context();
  const auto both = halves_of(context);
  REQUIRE(both.has_value());
  CHECK(both->a->range.first == 0);
  CHECK(both->a->range.count == 20);
  CHECK(both->b->range.first == 20);
  CHECK(both->b->range.count == 20);
  fixture.view.range = {5, 1};
  CHECK_FALSE(halves_of(context).has_value());
}

TEST_CASE("compare: a side stays selected while the other is selected in another graph") {
  PanelFixture fixture({1600, 400});
  ComparePanel panel(fixture.background);
  fixture.settle(panel);
  click_button(fixture, panel, 0);
  fixture.show({HandMadeTrace::kOther, 1});
  fixture.settle(panel);
  click_button(fixture, panel, 1);
  const std::string text = settled_text(fixture, panel);
  check_has(text, {"step, version 1", "other, version 1", "sampled replays"});
}

TEST_CASE("compare: the text of a side names graph, version and replays") {
  PanelFixture fixture;
  const PanelContext context = fixture.panel_context();
  CHECK(section_text(context, {CompareTrace::Shown, fixture.view.graph, {}}) ==
        "step, version 1, all 40 replays");
  CHECK(section_text(context, {CompareTrace::Shown, fixture.view.graph, {10, 5}}) ==
        "step, version 1, replays 11 to 15");
}

TEST_CASE("compare: a single trace shows how to select two sides") {
  PanelFixture fixture;
  ComparePanel panel(fixture.background);
  check_has(settled_text(fixture, panel),
            {"Select two sides to compare", "Set A to selection", "First half | second half"});
}

TEST_CASE("compare: two traces are compared completely by default") {
  PanelFixture fixture;
  fixture.other = slower();
  fixture.other_name = "slower.reprise";
  ComparePanel panel(fixture.background);
  check_has(settled_text(fixture, panel),
            {"hand-made.reprise: step", "slower.reprise: step", "1 node slower",
             "Mean replay +1.501 us", "+50.0 %", "+1.501 us", "blur", "slower", "same"});
}

TEST_CASE("compare: the table is exported with effects in ns, and faster nodes are negative") {
  PanelFixture fixture;
  fixture.document = slower();
  fixture.update();
  fixture.other = test::hand_made_document();
  ComparePanel panel(fixture.background);
  fixture.settle(panel);
  const std::string text = fixture.csv(panel);
  INFO(text);
  CHECK(text.rfind("Node,Shorter | longer (ns),Effect (ns),On path A | B,Gap (ns),Verdict,Median A "
                   "(ns),Median B (ns),Change,p,Samples A | B,Label\r\n",
                   0) == 0);
  test::check_in_order(
      text, {"\r\nblur,-15", ",-15", ",100.0 % | 100.0 %,", "faster,", ",-0.3", "40 | 40"});
}

TEST_CASE("compare: the halves of a steady trace have no significant difference") {
  PanelFixture fixture;
  ComparePanel panel(fixture.background);
  fixture.settle(panel);
  click_button(fixture, panel, 2);
  check_has(settled_text(fixture, panel),
            {"replays 1 to 20", "replays 21 to 40", "0 nodes slower", "0 faster", ", same",
             "hollow bars: not statistically significant"});
}

TEST_CASE("compare: the buttons use the selected replays as sides") {
  PanelFixture fixture;
  ComparePanel panel(fixture.background);
  fixture.view.range = {0, 10};
  fixture.update();
  fixture.settle(panel);
  click_button(fixture, panel, 0);
  check_has(settled_text(fixture, panel), {"replays 1 to 10", "B is not selected"});
  fixture.view.range = {20, 15};
  fixture.update();
  fixture.settle(panel);
  click_button(fixture, panel, 1);
  check_has(settled_text(fixture, panel),
            {"replays 1 to 10", "replays 21 to 35", "10 and 15 sampled replays"});
}

TEST_CASE("compare: A stays while B is chosen in another graph") {
  PanelFixture fixture;
  ComparePanel panel(fixture.background);
  fixture.settle(panel);
  click_button(fixture, panel, 0);
  check_has(settled_text(fixture, panel), {"step, version 1", "B is not selected"});
  fixture.show({HandMadeTrace::kOther, 1});
  fixture.settle(panel);
  click_button(fixture, panel, 1);
  check_has(settled_text(fixture, panel),
            {"step, version 1, all 40", "other, version 1, all 10", "0 nodes slower"});
}

TEST_CASE("compare: a request names the graphs of both sides") {
  PanelFixture fixture;
  ComparePanel panel(fixture.background);
  fixture.view.compare_a = {HandMadeTrace::kOther, 1};
  fixture.view.compare_b = fixture.view.graph;
  check_has(settled_text(fixture, panel), {"other, version 1, all 10", "step, version 1, all 40"});
  CHECK_FALSE(fixture.view.compare_a.has_value());
  CHECK_FALSE(fixture.view.compare_b.has_value());
}

TEST_CASE("compare: two graphs of one topology match nodes with different kernels by their index") {
  const PanelFixture fixture;
  trace::GraphVersion record = fixture.document->find({HandMadeTrace::kOther, 1})->graph->record();
  record.strings.push_back("gemm_64x64");
  record.nodes[2].name = static_cast<std::uint32_t>(record.strings.size() - 1);
  const model::Graph& step = *fixture.entry().graph;
  const auto pairs = model::matching_nodes(step, model::Graph(record));
  REQUIRE(pairs.size() == 5);
  CHECK(pairs[2] == std::pair(2u, 2u));
  record.edges.pop_back();  // another topology
  CHECK(model::matching_nodes(step, model::Graph(record)).size() == 4);
}

TEST_CASE("compare: nodes of one side are listed, the filter applies, and a click selects a node") {
  PanelFixture fixture;
  fixture.other = renamed();
  ComparePanel panel(fixture.background);
  check_has(settled_text(fixture, panel), {"renamed", "only in B", "only in A", "1 only in B"});
  fixture.view.filter.text = "blur";
  fixture.update();
  const std::string filtered = settled_text(fixture, panel);
  CHECK(filtered.find("blur") != std::string::npos);
  CHECK(filtered.find("store") == std::string::npos);
  float found = 0;
  const model::Selection blur = model::SelectedNode{fixture.view.graph, 2};
  for (float y = 20; y < 400 && found == 0; y += 4) {
    fixture.view.hovered = {};
    fixture.move_mouse({100, y});
    fixture.window([&] { fixture.draw(panel); });
    if (fixture.view.hovered == blur) found = y;
  }
  REQUIRE(found > 0);
  fixture.click({100, found}, [&] { fixture.draw(panel); });
  CHECK(fixture.view.selection == blur);
}

TEST_CASE("compare: a graph that is missing in the other trace shows a message") {
  PanelFixture fixture;
  fixture.other = model::DocumentBuilder(std::make_shared<model::SampleStore>()).publish();
  ComparePanel panel(fixture.background);
  check_has(settled_text(fixture, panel), {"has no graph named step", "matched by name"});
}

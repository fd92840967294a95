#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "model/document_builder.hpp"
#include "panels/inspector/inspector_panel.hpp"
#include "panels/nodes/nodes_groups.hpp"
#include "panels/nodes/nodes_panel.hpp"
#include "viewer/hand_made_trace.hpp"
#include "viewer/panels/graph_documents.hpp"
#include "viewer/panels/panel_fixture.hpp"

using namespace reprise;
using namespace reprise::viewer;
using reprise::test::check_in_order;
using reprise::test::HandMadeTrace;
using reprise::test::PanelFixture;

namespace {

// A NodeGroupsView as a panel.
struct GroupsPanel {
  NodeGroupsView view;
  GroupView mode = GroupView::Kernels;
  GroupScope scope = GroupScope::Graph;
  void draw(PanelContext& context) { view.draw(context, mode, scope); }
};

std::string groups_text(PanelFixture& fixture, GroupsPanel& panel) {
  fixture.settle(panel);
  CHECK(fixture.is_drawable());
  return fixture.text([&] { fixture.draw(panel); });
}

}  // namespace

TEST_CASE("node groups view: kernels have counts, totals, means and shares that add up") {
  PanelFixture fixture;
  GroupsPanel panel{NodeGroupsView(fixture.background)};
  // 2 + 3 + 4 of 15 us; load and store are copies
  check_in_order(groups_text(fixture, panel), {"saxpy", "3", "120", "us", "copy", "2"});
  panel.scope = GroupScope::Process;  // 50 replays of three nodes
  check_in_order(groups_text(fixture, panel), {"saxpy", "6", "150"});
  panel.scope = GroupScope::Family;
  check_in_order(groups_text(fixture, panel), {"saxpy", "6", "150"});
}

TEST_CASE("node groups view: kinds sum kernels of several names") {
  PanelFixture fixture;
  GroupsPanel panel{NodeGroupsView(fixture.background), GroupView::Kinds};
  check_in_order(groups_text(fixture, panel), {"elementwise", "3", "120", "us", "copy", "2"});
  panel.mode = GroupView::Kernels;
  check_in_order(groups_text(fixture, panel), {"saxpy", "3", "120"});
}

TEST_CASE("node groups view: labels form a tree with the kernels under each label") {
  PanelFixture fixture;
  GroupsPanel panel{NodeGroupsView(fixture.background), GroupView::Labels};
  check_in_order(groups_text(fixture, panel),
                 {"all nodes", "100.0 %", "   epoch", "      forward", "saxpy", "copy"});
}

TEST_CASE("node groups view: a click on a kernel selects its most expensive node") {
  PanelFixture fixture;
  GroupsPanel panel{NodeGroupsView(fixture.background)};
  fixture.settle(panel);
  for (float y = 20; y < 200; y += 6) {
    fixture.click({100, y}, [&] { fixture.draw(panel); });
    if (!std::holds_alternative<std::monostate>(fixture.view.selection)) break;
  }
  CHECK(fixture.view.selection == model::Selection{model::SelectedNode{fixture.view.graph, 3}});
}

TEST_CASE("node groups view: kernels are exported with totals in ns") {
  PanelFixture fixture;
  struct Kernels {
    NodeGroupsView view;
    void draw(PanelContext& context) { view.draw(context, GroupView::Kernels, GroupScope::Graph); }
  } kernels{NodeGroupsView(fixture.background)};
  fixture.settle(kernels);
  const std::string text = fixture.csv(kernels);
  INFO(text);
  CHECK(text.rfind("Kernel,Nodes,Samples,Total (ns),Mean (ns),Share\r\n", 0) == 0);
  CHECK(std::count(text.begin(), text.end(), '\n') > 2);
}

TEST_CASE("icicle: the path to the focus spans the width, and children lie within their parent") {
  const auto document = test::graph_document({.nodes = 300});
  const model::NodeTimes times = model::node_times(*document->find(test::kGraphDocumentKey));
  const std::vector<model::NodeGroup> groups = model::groups_by_label({&times, 1});
  const std::vector<IcicleCell> all = icicle(groups, 0, 0);
  CHECK(all.size() == groups.size());
  std::vector<const IcicleCell*> of_group(groups.size(), nullptr);
  for (const IcicleCell& cell : all) of_group[cell.group] = &cell;
  for (const IcicleCell& cell : all) {
    CHECK(cell.to - cell.from == doctest::Approx(groups[cell.group].share));
    const std::uint32_t parent = groups[cell.group].parent;
    if (parent == trace::kNone) continue;
    CHECK(cell.from >= of_group[parent]->from - 1e-9);
    CHECK(cell.to <= of_group[parent]->to + 1e-9);
    CHECK(cell.level == of_group[parent]->level + 1);
  }
  const auto inner = static_cast<std::uint32_t>(
      std::find_if(groups.begin(), groups.end(),
                   [](const model::NodeGroup& g) { return g.depth == 2 && g.is_label; }) -
      groups.begin());
  REQUIRE(inner < groups.size());
  const std::vector<IcicleCell> part = icicle(groups, inner, 0);
  REQUIRE(part.size() > 3);
  CHECK(part[0].group == 0);
  for (int i = 0; i < 3; ++i) CHECK(part[static_cast<std::size_t>(i)].to == 1);
  CHECK(part[2].group == inner);
  for (std::size_t i = 3; i < part.size(); ++i) {
    CHECK(part[i].group > inner);
    CHECK(part[i].to <= 1 + 1e-9);
  }
  CHECK(icicle(groups, 0, 0.05).size() < all.size());
}

TEST_CASE("node groups view: a click in the icicle enlarges a label, and another one returns") {
  PanelFixture fixture({1000, 400}, test::graph_document({.nodes = 300}));
  GroupsPanel panel{NodeGroupsView(fixture.background), GroupView::Icicle};
  fixture.settle(panel);
  const int before = fixture.vertices();
  const float row = fixture.theme.row;
  fixture.click({30, row * 1.5f + 8}, [&] { fixture.draw(panel); });
  fixture.move_mouse({-10, -10});  // no highlight
  fixture.settle(panel);
  CHECK(fixture.vertices() != before);
  fixture.click({30, row * 0.5f + 8}, [&] { fixture.draw(panel); });
  fixture.move_mouse({-10, -10});
  fixture.settle(panel);
  CHECK(fixture.vertices() == before);
}

TEST_CASE("node groups view: without labels a hint names the way to get them") {
  trace::GraphVersion record = test::graph_record({.nodes = 10});
  CHECK(label_hint(model::Graph(record)).empty());
  for (trace::Node& node : record.nodes) node.label = 0;
  record.labels.resize(1);
  CHECK(label_hint(model::Graph(record)).find("CommandBuffer::label") != std::string::npos);
  record.ordering = 3;
  CHECK(label_hint(model::Graph(record)).find("emit_nvtx") != std::string::npos);
}

TEST_CASE("nodes panel: the choice of views leads to groups and back") {
  PanelFixture fixture;
  NodesPanel panel(fixture.background);
  fixture.settle(panel);
  const auto text = [&] {
    fixture.move_mouse({-10, -10});  // no tooltip
    fixture.settle(panel);
    return fixture.text([&] { fixture.draw(panel); });
  };
  CHECK(text().find("sum of medians") != std::string::npos);
  bool has_groups = false;
  for (float x = 40; x < 200 && !has_groups; x += 10) {
    fixture.click({x, 18}, [&] { fixture.draw(panel); });
    has_groups = text().find("sum of medians") == std::string::npos;
  }
  CHECK(has_groups);
  fixture.click({20, 18}, [&] { fixture.draw(panel); });
  CHECK(text().find("sum of medians") != std::string::npos);
}

TEST_CASE("inspector: the graph page lists the kernels with the largest shares") {
  PanelFixture fixture({420, 3000});
  InspectorPanel panel(fixture.background);
  fixture.settle(panel);
  check_in_order(fixture.text([&] { fixture.draw(panel); }),
                 {"Hottest nodes", "Hottest kernels", "saxpy", "3 nodes, mean 3.00", "copy"});
}

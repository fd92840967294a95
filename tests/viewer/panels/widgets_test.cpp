#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>

#include "panels/widgets/widgets.hpp"
#include "viewer/panels/panel_fixture.hpp"
#include "viewer/panels/recorded_trace.hpp"

using namespace reprise;
using namespace reprise::viewer;
using reprise::test::ImGuiFixture;
using reprise::test::PanelFixture;

TEST_CASE("widgets: an empty panel of any size shows its message and hint") {
  for (const ImVec2 size : {ImVec2{1600, 900}, ImVec2{400, 300}, ImVec2{60, 20}}) {
    ImGuiFixture context(size);
    const std::string text =
        context.text([&] { draw_empty(context.theme, "Nothing here", "Open a trace"); });
    CHECK(text.find("Nothing") != std::string::npos);
    CHECK(text.find("Open") != std::string::npos);
    CHECK(context.is_drawable());
    CHECK(context.text([&] { draw_busy(context.theme, "Reading"); }).find("Reading") !=
          std::string::npos);
  }
}

TEST_CASE("widgets: right-aligned text ends at the panel's right edge") {
  ImGuiFixture context({300, 100});
  float right = 0, end = 0;
  context.window([&] {
    end = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x;
    text_right("12.05 ms", context.theme.ink);
    right = ImGui::GetItemRectMax().x;
  });
  CHECK(right == doctest::Approx(end).epsilon(0.01));
}

TEST_CASE("widgets: a text that is too wide ends in an ellipsis within its place") {
  ImGuiFixture context({160, 100});
  float right = 0, end = 0;
  bool is_long_clipped = false, is_short_clipped = true;
  const std::string text = context.text([&] {
    end = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x;
    is_long_clipped = text_ellipsis("void gemm_with_many_template_parameters", context.theme.ink);
    right = ImGui::GetItemRectMax().x;
    is_short_clipped = text_ellipsis("gemm", context.theme.ink);
  });
  CHECK(is_long_clipped);
  CHECK_FALSE(is_short_clipped);
  CHECK(right <= end);
  CHECK(text.find("void gemm_with_many_template_parameters") != std::string::npos);
}

TEST_CASE("widgets: edge_reason() names cause, hazard, buffer and range") {
  const PanelFixture fixture;
  const model::Graph& graph = *fixture.entry().graph;
  CHECK(edge_reason(graph, 0) == "hazard: read after write on x<&> [0, 4,096)");
  CHECK(edge_reason(graph, 2) == "explicit");
  CHECK(edge_reason(graph, 4) == "lane");
  CHECK(source_location_text(graph, 8, 12) == "main.cpp:12");
  CHECK(source_location_text(graph, 8, 0).empty());
  CHECK(source_location_text(graph, 999, 3).empty());
}

TEST_CASE("widgets: the reason of a barrier edge names the barrier's location") {
  const PanelFixture fixture({800, 600}, test::recorded_document());
  const model::Graph& graph = *fixture.entry().graph;
  bool found = false;
  for (std::uint32_t edge = 0; edge < graph.record().edges.size(); ++edge) {
    if (graph.record().edges[edge].cause != trace::EdgeCause::Barrier) continue;
    found = true;
    CHECK(edge_reason(graph, edge).find("barrier at recorded_trace.cpp:") == 0);
  }
  CHECK(found);
}

TEST_CASE("widgets: the slowest node has the hottest colour and the fastest the coldest") {
  PanelFixture fixture;
  const PanelContext context = fixture.panel_context();
  CHECK(node_colour(context, 4) == heat(1));
  CHECK(node_colour(context, 0) == heat(0));
  fixture.view.colour_by = ColourBy::Slack;
  CHECK(node_colour(context, 4) == heat(1));  // critical path: slack 0
  CHECK(node_colour(context, 1) == heat(0));  // maximum slack
  fixture.view.colour_by = ColourBy::P99;
  CHECK(node_colour(context, 4) == heat(1));
  fixture.view.colour_by = ColourBy::Share;
  CHECK(node_colour(context, 4) == heat(1));
}

TEST_CASE("widgets: time-based colourings use the plain node colour without samples") {
  PanelFixture fixture;
  fixture.view_model.samples = 0;
  for (const ColourBy by : {ColourBy::Median, ColourBy::P99, ColourBy::Share, ColourBy::Slack}) {
    fixture.view.colour_by = by;
    CHECK(node_colour(fixture.panel_context(), 2) == fixture.theme.node);
  }
  fixture.view.colour_by = ColourBy::Lane;
  CHECK(node_colour(fixture.panel_context(), 2) != node_colour(fixture.panel_context(), 1));
  fixture.view.colour_by = ColourBy::Kind;
  CHECK(node_colour(fixture.panel_context(), 0) ==
        kind_colour(fixture.theme, trace::NodeKind::Copy));
  CHECK(node_colour(fixture.panel_context(), 3) ==
        kind_colour(fixture.theme, detail::KernelKind::Elementwise));
  fixture.view.colour_by = ColourBy::Label;
  CHECK(node_colour(fixture.panel_context(), 3) == IM_COL32(0x33, 0x66, 0x99, 255));
}

TEST_CASE("widgets: kinds have distinct colours, which kernels share with nodes of their kind") {
  PanelFixture fixture;
  for (const Shade shade : {Shade::Dark, Shade::Light}) {
    fixture.window([&] { apply(fixture.theme, shade, 1); });
    std::map<ImU32, std::set<std::string>> names;
    for (int i = 0; i <= static_cast<int>(trace::NodeKind::Other); ++i) {
      const auto kind = static_cast<trace::NodeKind>(i);
      if (kind == trace::NodeKind::Exit) continue;  // as an entry
      names[kind_colour(fixture.theme, kind)].insert(trace::kind_name(kind));
    }
    for (int i = 1; i <= static_cast<int>(detail::KernelKind::Fill); ++i) {
      const auto kind = static_cast<detail::KernelKind>(i);
      names[kind_colour(fixture.theme, kind)].insert(detail::kernel_kind_name(kind));
    }
    for (const auto& [colour, of] : names) CHECK(of.size() == 1);
    CHECK(kind_colour(fixture.theme, detail::KernelKind::Other) ==
          kind_colour(fixture.theme, trace::NodeKind::Dispatch));
  }
}

TEST_CASE("widgets: every colouring has a legend") {
  PanelFixture fixture;
  for (const ColourBy by : {ColourBy::Median, ColourBy::P99, ColourBy::Share, ColourBy::Slack,
                            ColourBy::Kind, ColourBy::Label, ColourBy::Lane}) {
    fixture.view.colour_by = by;
    float height = 0;
    fixture.window([&] { height = draw_colour_legend(fixture.panel_context(), {10, 10}, 160); });
    CHECK(height > 20);
    CHECK(fixture.is_drawable());
  }
}

TEST_CASE("widgets: every kind, cause, hazard, source and buffer kind has a distinct name") {
  std::set<std::string> names;
  for (int i = 0; i <= static_cast<int>(trace::NodeKind::Other); ++i)
    names.insert(trace::kind_name(static_cast<trace::NodeKind>(i)));
  CHECK(names.size() == 11);
  names.clear();
  for (int i = 0; i <= static_cast<int>(trace::EdgeCause::Captured); ++i)
    names.insert(viewer::cause_text(static_cast<trace::EdgeCause>(i)));
  CHECK(names.size() == 7);
  names.clear();
  for (int i = 0; i <= 3; ++i) names.insert(viewer::hazard_text(static_cast<trace::Hazard>(i)));
  for (int i = 0; i <= 2; ++i)
    names.insert(viewer::source_text(static_cast<trace::SampleSource>(i)));
  for (int i = 0; i <= 3; ++i)
    names.insert(trace::buffer_kind_name(static_cast<trace::BufferKind>(i)));
  CHECK(names.size() == 11);
  CHECK(names.count("?") == 0);
}

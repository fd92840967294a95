#include <doctest/doctest.h>

#include <algorithm>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "panels/memory/memory_map.hpp"
#include "panels/memory/memory_panel.hpp"
#include "support/contains.hpp"
#include "viewer/panels/memory_documents.hpp"
#include "viewer/panels/panel_fixture.hpp"

using namespace reprise;
using namespace reprise::viewer;
using reprise::test::PanelFixture;

using test::contains;

namespace {

const ImVec2 kMemoryPanel{1500, 400};

model::Selection buffer(std::uint32_t b) { return model::SelectedBuffer{test::kMemoryKey, b}; }

// A memory map without its panel, which gives access to box_of().
struct MapFixture : PanelFixture {
  explicit MapFixture(trace::GraphVersion g = test::memory_record())
      : PanelFixture(kMemoryPanel, test::memory_document(std::move(g))),
        view_model_of_graph(memory_view_model(entry().graph)) {
    draw_twice();
  }

  void draw_map() {
    viewer::PanelContext context = panel_context();
    view.hovered = {};
    map.draw(context, {view_model_of_graph, matches, MemoryColour::Label},
             {kMemoryPanel.x - 40, kMemoryPanel.y - 40});
  }
  void draw_twice() {
    for (int i = 0; i < 2; ++i) {
      window([&] { draw_map(); });
    }
  }
  ImVec2 middle_of(std::uint32_t b) const {
    const MemoryMap::Box box = map.box_of(view_model_of_graph, b);
    return {(box.min.x + box.max.x) / 2, (box.min.y + box.max.y) / 2};
  }

  MemoryViewModel view_model_of_graph;
  MemoryMap map;
};

std::string text_of(PanelFixture& fixture, MemoryPanel& panel) {
  fixture.settle(panel);
  return fixture.text([&] { fixture.draw(panel); });
}

trace::GraphVersion without_transients() {
  trace::GraphVersion g = test::memory_record();
  for (trace::Buffer& b : g.buffers) b.kind = trace::BufferKind::Device;
  return g;
}

}  // namespace

TEST_CASE(
    "memory map: a click on a rectangle selects the buffer and a click on the background clears "
    "it") {
  MapFixture f;
  for (const std::uint32_t b :
       {test::kBufferA, test::kBufferB, test::kBufferC, test::kBufferD, test::kBufferF}) {
    CAPTURE(b);
    f.click(f.middle_of(b), [&] { f.draw_map(); });
    CHECK(f.view.selection == buffer(b));
  }
  const MemoryMap::Box c = f.map.box_of(f.view_model_of_graph, test::kBufferC),
                       b = f.map.box_of(f.view_model_of_graph, test::kBufferB);
  f.click({(c.min.x + f.map.box_of(f.view_model_of_graph, test::kBufferA).max.x) / 2, b.min.y + 4},
          [&] { f.draw_map(); });
  CHECK(f.view.selection == buffer(test::kBufferB));
  f.click({f.map.box_of(f.view_model_of_graph, test::kBufferD).max.x - 2,
           f.map.box_of(f.view_model_of_graph, test::kBufferF).min.y - 4},
          [&] { f.draw_map(); });
  CHECK(f.view.selection == model::Selection{});
}

TEST_CASE("memory map: the menu of a buffer filters by it, and that of the background fits") {
  MapFixture f;
  const auto contents = [&] { f.draw_map(); };
  f.click(f.middle_of(test::kBufferB), contents, 1);
  f.choose("Filter by buffer", contents);
  CHECK(f.view.filter.text ==
        model::query_term("buffer", f.entry().graph->buffer_name(test::kBufferB)));
  f.click(f.middle_of(test::kBufferB), contents, 1);
  f.choose("Copy name", contents);
  CHECK(std::string(ImGui::GetClipboardText()) == f.entry().graph->buffer_name(test::kBufferB));
  f.move_mouse(f.middle_of(test::kBufferB));
  const float before = f.map.box_of(f.view_model_of_graph, test::kBufferB).max.x;
  f.wheel(4);
  f.draw_twice();
  REQUIRE(f.map.box_of(f.view_model_of_graph, test::kBufferB).max.x != before);
  f.click(f.middle_of(test::kBufferB), contents, 1);
  f.choose("Fit to view", contents);
  f.draw_twice();
  CHECK(f.map.box_of(f.view_model_of_graph, test::kBufferB).max.x == doctest::Approx(before));
}

TEST_CASE("memory map: offsets grow upwards and execution order runs to the right") {
  const MapFixture f;
  const auto box = [&](std::uint32_t b) { return f.map.box_of(f.view_model_of_graph, b); };
  CHECK(box(test::kBufferB).max.y == doctest::Approx(box(test::kBufferA).min.y));  // above "a"
  CHECK(box(test::kBufferC).min.x ==
        doctest::Approx(box(test::kBufferA).max.x));  // starts where "a" ends
  CHECK(box(test::kBufferC).max.y ==
        doctest::Approx(box(test::kBufferA).max.y));  // shares the bytes of "a"
  CHECK(box(test::kBufferF).min.x == doctest::Approx(box(test::kBufferA).min.x));
  CHECK(box(test::kBufferF).max.x == doctest::Approx(box(test::kBufferD).max.x));
}

TEST_CASE("memory map: the mouse over a rectangle sets ViewState::hovered") {
  MapFixture f;
  f.move_mouse(f.middle_of(test::kBufferD));
  f.draw_twice();
  CHECK(f.view.hovered == buffer(test::kBufferD));
}

TEST_CASE(
    "memory map: the wheel zooms at the mouse, with Ctrl only horizontally, with Alt only "
    "vertically") {
  MapFixture f;
  const auto width = [&] {
    return f.map.box_of(f.view_model_of_graph, test::kBufferB).max.x -
           f.map.box_of(f.view_model_of_graph, test::kBufferB).min.x;
  };
  const auto height = [&] {
    return f.map.box_of(f.view_model_of_graph, test::kBufferB).max.y -
           f.map.box_of(f.view_model_of_graph, test::kBufferB).min.y;
  };
  f.move_mouse(f.middle_of(test::kBufferB));
  const auto turn = [&] {
    f.wheel(2);
    f.draw_twice();
  };
  float w = width(), h = height();
  turn();
  CHECK(width() > w * 1.2f);
  CHECK(height() > h * 1.2f);
  CHECK(f.middle_of(test::kBufferB).x == doctest::Approx(ImGui::GetIO().MousePos.x).epsilon(0.01));
  w = width(), h = height();
  ImGui::GetIO().KeyCtrl = true;
  turn();
  ImGui::GetIO().KeyCtrl = false;
  CHECK(width() > w * 1.2f);
  CHECK(height() == doctest::Approx(h));
  w = width(), h = height();
  ImGui::GetIO().KeyAlt = true;
  turn();
  ImGui::GetIO().KeyAlt = false;
  CHECK(width() == doctest::Approx(w));
  CHECK(height() > h * 1.2f);
  f.map.fit();
  f.draw_twice();
  CHECK(width() < w);
}

TEST_CASE("memory map: a click on the curve sets the cursor") {
  MapFixture f;
  const float x =
      f.middle_of(test::kBufferD).x + 2;  // node 5, just after the middle of nodes 4 and 5
  f.click({x, 40}, [&] { f.draw_map(); });
  REQUIRE(f.map.cursor().has_value());
  CHECK(*f.map.cursor() == 5);
  CHECK(position_text(f.view_model_of_graph, 5) == "node 5 end");
}

TEST_CASE("memory map: a selection from another panel is revealed") {
  MapFixture f;
  f.move_mouse(f.middle_of(test::kBufferA));
  for (int i = 0; i < 12; ++i) {
    f.wheel(3);
    f.draw_twice();
  }
  REQUIRE(f.map.box_of(f.view_model_of_graph, test::kBufferD).min.x > kMemoryPanel.x);
  f.view.select(buffer(test::kBufferD));
  f.draw_twice();
  f.view.reveal_selection = false;
  f.draw_twice();
  const ImVec2 middle = f.middle_of(test::kBufferD);
  CHECK((middle.x > 0 && middle.x < kMemoryPanel.x && middle.y > 0 && middle.y < kMemoryPanel.y));
}

TEST_CASE("memory panel: the side list shows the buffers live at the peak, largest first") {
  PanelFixture f(kMemoryPanel, test::memory_document());
  MemoryPanel panel(f.background);
  const std::string text = text_of(f, panel);
  INFO(text);
  const model::MemoryUse use = model::memory_by_node_order(*f.entry().graph);
  std::size_t at = text.find("9 KiB in 3 buffers");
  REQUIRE(at != std::string::npos);
  for (const std::uint32_t b : use.live_at_peak) {
    at = text.find("| " + f.entry().graph->buffer_name(b), at);
    CHECK_MESSAGE(at != std::string::npos, f.entry().graph->buffer_name(b));
  }
  CHECK(contains(text, "overhead"));
  CHECK(f.is_drawable());
}

TEST_CASE(
    "memory panel: a narrow list has the names and sizes of buffers, without labels and nodes") {
  PanelFixture wide(kMemoryPanel, test::memory_document());
  MemoryPanel panel(wide.background);
  CHECK(contains(text_of(wide, panel), "nodes"));
  PanelFixture narrow({700, 400}, test::memory_document());
  MemoryPanel narrow_panel(narrow.background);
  const std::string text = text_of(narrow, narrow_panel);
  INFO(text);
  test::check_in_order(text, {"buffer", "bytes", "share"});
  CHECK_FALSE(contains(text, "nodes"));
}

TEST_CASE(
    "memory panel: the lower bound lists its buffers, with the saving, the label and the nodes of "
    "each") {
  PanelFixture f(kMemoryPanel, test::memory_document());
  MemoryPanel panel(f.background);
  std::string text = text_of(f, panel);
  for (float y = 40; y < 90 && !contains(text, "cannot share"); y += 6) {
    for (float x = 860; x < 1300 && !contains(text, "cannot share"); x += 24) {
      f.click({x, y}, [&] { f.draw(panel); });
      text = f.text([&] { f.draw(panel); });
    }
  }
  INFO(text);
  // "f" is live with everything else; without one of the others, another set is as large.
  CHECK(contains(text, "that cannot share bytes"));
  CHECK(contains(text, "Shrink or split f: slab -1 KiB"));
  const std::size_t f_row = text.find("| f |");
  REQUIRE(f_row != std::string::npos);
  CHECK(text.find("-1 KiB", f_row) < text.find("0 to 5", f_row));
  CHECK(contains(text, "forward"));
  CHECK(f.is_drawable());
}

TEST_CASE("memory map: each buffer has its own colour") {
  MapFixture f;
  std::vector<ImU32> colours;
  for (const std::uint32_t b :
       {test::kBufferA, test::kBufferB, test::kBufferC, test::kBufferD, test::kBufferF})
    colours.push_back(memory_colour(f.theme, f.view_model_of_graph, MemoryColour::Buffer, b));
  std::sort(colours.begin(), colours.end());
  CHECK(std::adjacent_find(colours.begin(), colours.end()) == colours.end());
}

TEST_CASE("memory panel: a selected buffer lists its aliases") {
  PanelFixture f(kMemoryPanel, test::memory_document());
  MemoryPanel panel(f.background);
  f.view.select(buffer(test::kBufferB));
  std::string text = text_of(f, panel);
  INFO(text);
  const std::size_t at = text.find("aliases");
  REQUIRE(at != std::string::npos);
  CHECK(text.substr(at, 30).find("d") != std::string::npos);
  f.view.select(buffer(test::kBufferF));
  text = text_of(f, panel);
  const std::size_t aliases = text.find("aliases");
  REQUIRE(aliases != std::string::npos);
  CHECK(text.substr(aliases, 20).find("none") != std::string::npos);
}

TEST_CASE("memory panel: a graph without transients shows a message and the pools") {
  PanelFixture f(kMemoryPanel, test::memory_document(without_transients()));
  MemoryPanel panel(f.background);
  const std::string text = text_of(f, panel);
  INFO(text);
  CHECK(contains(text, "no transient buffers"));
  CHECK(contains(text, "model"));
  CHECK(contains(text, "holders") == false);  // column headers are not part of the text
  CHECK(contains(text, "former: step"));
}

TEST_CASE("memory panel: the buffer table selects buffers of the graph and applies the filter") {
  PanelFixture f(kMemoryPanel, test::memory_document());
  MemoryPanel panel(f.background);
  f.click({130, 20}, [&] { f.draw(panel); });  // Buffers
  std::string text = text_of(f, panel);
  INFO(text);
  for (const char* name : {"weights", "pinned", "lent", "unused"})
    CHECK_MESSAGE(contains(text, name), name);
  CHECK(contains(text, "9 buffers"));
  bool is_selected = false;
  for (float y = 40; y < 120 && !is_selected; y += 8) {
    f.click({60, y}, [&] { f.draw(panel); });
    f.settle(panel);  // a click on the header sorts the table in the background
    is_selected = f.view.selection == buffer(test::kBufferWeights);
  }
  CHECK(is_selected);
  f.view.filter.text = "blur";
  f.update();
  text = text_of(f, panel);
  CHECK(contains(text, "3 of 9 buffers"));
  CHECK_FALSE(contains(text, "pinned"));
}

TEST_CASE("memory panel: pools, buffers and lists are exported with sizes in bytes") {
  PanelFixture f(kMemoryPanel, test::memory_document());
  MemoryPanel panel(f.background);
  f.settle(panel);
  const std::string live = f.csv(panel);
  INFO(live);
  CHECK(live.rfind("buffer,bytes (bytes),share,label,nodes\r\n", 0) == 0);
  CHECK(std::count(live.begin(), live.end(), '\n') == 1 + 3);
  f.click({130, 20}, [&] { f.draw(panel); });  // Buffers
  f.settle(panel);
  const std::string buffers = f.csv(panel);
  INFO(buffers);
  CHECK(buffers.rfind("buffer,kind,size (bytes),address,pool,allocated (ns),freed (ns),uses,", 0) ==
        0);
  CHECK(std::count(buffers.begin(), buffers.end(), '\n') == 1 + 9);
  PanelFixture of_pools(kMemoryPanel, test::memory_document(without_transients()));
  MemoryPanel pool_panel(of_pools.background);
  of_pools.settle(pool_panel);
  const std::string pools = of_pools.csv(pool_panel);
  INFO(pools);
  CHECK(pools.rfind("pool,holders,shared slab,mapped (bytes),peak mapped (bytes),budget (bytes),",
                    0) == 0);
  CHECK(contains(pools, "former: step"));
}

TEST_CASE("memory panel: it shows a busy message while loading, and every size is drawable") {
  PanelFixture f(kMemoryPanel, test::memory_document());
  MemoryPanel panel(f.background);
  std::promise<void> gate;  // blocks the only background thread, so that nothing is ready at first
  f.background.run([opened = gate.get_future().share()] { opened.wait(); });
  const std::string first = f.text([&] { f.draw(panel); });
  gate.set_value();
  CHECK(contains(first, "Laying out the slab"));
  for (const ImVec2 size :
       {ImVec2{1600, 300}, ImVec2{700, 200}, ImVec2{400, 300}, ImVec2{120, 60}, ImVec2{20, 10}}) {
    CAPTURE(size.x);
    f.resize(size);
    f.settle(panel);
    CHECK(f.is_drawable());
  }
}

TEST_CASE("memory map: of many buffers in the same pixels one is drawn") {
  // In a slab of one byte each, 40,000 buffers live from the first node to the last.
  trace::GraphVersion g = test::memory_record();
  constexpr std::uint32_t kCount = 40'000;
  const auto first = static_cast<std::uint32_t>(g.buffers.size());
  for (std::uint32_t i = 0; i < kCount; ++i)
    g.buffers.push_back({1, trace::BufferKind::Transient, trace::kNone, trace::kNone, 1, 9216 + i});
  g.slab_bytes += kCount;
  decltype(g.accesses) accesses;
  for (trace::Node& node : g.nodes) {
    const std::uint32_t from = node.first_access;
    node.first_access = static_cast<std::uint32_t>(accesses.size());
    accesses.insert(accesses.end(), g.accesses.begin() + from,
                    g.accesses.begin() + from + node.access_count);
    if (&node != &g.nodes.front() && &node != &g.nodes.back()) continue;
    for (std::uint32_t i = 0; i < kCount; ++i)
      accesses.push_back({first + i, trace::Access::Write, 0, 0, 1});
    node.access_count += kCount;
  }
  g.accesses = std::move(accesses);
  const MapFixture f(std::move(g));
  const ImDrawData& data = *ImGui::GetDrawData();
  int vertices = 0;
  for (int i = 0; i < data.CmdListsCount; ++i) vertices += data.CmdLists[i]->VtxBuffer.Size;
  CHECK(vertices > 400);
  CHECK(vertices < 20'000);  // 160,000 if each buffer was drawn
}

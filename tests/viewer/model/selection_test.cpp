#include <doctest/doctest.h>

#include <cmath>

#include "model/selection.hpp"
#include "viewer/model/random_graph.hpp"

using namespace reprise;

TEST_CASE(
    "selection: a buffer selects its users, a barrier the ends of its edges, another graph "
    "nothing") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const model::Graph g(test::random_graph(seed));
    const trace::GraphVersion& r = g.record();
    for (std::uint32_t n = 0; n < g.node_count(); ++n) {
      CHECK(model::selects_node(model::SelectedNode{g.key(), 3}, g, n) == (n == 3));
      CHECK_FALSE(model::selects_node(model::SelectedNode{{9, 9}, n}, g, n));
      CHECK_FALSE(model::selects_node({}, g, n));
      bool uses = false, at_barrier = false, at_edge = false;
      for (const model::BufferUse& u : g.uses(1)) uses = uses || u.node == n;
      for (const trace::Edge& e : r.edges) {
        const bool at_end = e.from == n || e.to == n;
        at_barrier = at_barrier || (at_end && e.barrier == 0);
        at_edge = at_edge || (at_end && &e == &r.edges[2]);
      }
      CHECK(model::selects_node(model::SelectedBuffer{g.key(), 1}, g, n) == uses);
      CHECK(model::selects_node(model::SelectedBarrier{g.key(), 0}, g, n) == at_barrier);
      CHECK(model::selects_node(model::SelectedEdge{g.key(), 2}, g, n) == at_edge);
      CHECK(model::selects_buffer(model::SelectedNode{g.key(), n}, g, 1) == uses);
    }
    for (std::uint32_t e = 0; e < r.edges.size(); ++e) {
      CHECK(model::selects_edge(model::SelectedBarrier{g.key(), 1}, g, e) ==
            (r.edges[e].barrier == 1));
      CHECK(model::selects_edge(model::SelectedNode{g.key(), 2}, g, e) ==
            (r.edges[e].from == 2 || r.edges[e].to == 2));
      CHECK_FALSE(model::selects_edge(model::SelectedReplay{g.key(), 1}, g, e));
    }
  }
}

TEST_CASE(
    "filter: words match names, label paths, kernels and buffers in either case; kinds and labels "
    "narrow it") {
  trace::GraphVersion r;
  r.strings = {"", "Load", "saxpy_kernel", "weights", "Forward", "inner"};
  r.labels = {{0, 0, 0}, {0, 4, 0}, {1, 5, 0}};
  r.kernels = {{2, 2, 0, 0}};
  r.buffers = {{3, trace::BufferKind::Device, 0, 0, 64, 0},
               {5, trace::BufferKind::Device, 1, 0, 64, 0}};
  r.accesses = {{0, trace::Access::Read, 0, 0, 64}};
  r.nodes.resize(3);
  r.nodes[0].kind = trace::NodeKind::Copy;
  r.nodes[0].name = 1;
  r.nodes[0].access_count = 1;
  r.nodes[1].kind = trace::NodeKind::Dispatch;
  r.nodes[1].kernel = 0;
  r.nodes[1].label = 2;
  r.nodes[2] = r.nodes[1];
  r.nodes[2].label = 1;
  r.segments = {{1, 2, 1, 2}};
  const model::Graph g(r);
  using Passes = std::vector<std::uint8_t>;
  const auto nodes = [&](const char* text) { return model::matching_nodes({.text = text}, g); };
  CHECK(model::Filter{}.is_empty());
  CHECK(nodes("") == Passes{1, 1, 1});
  CHECK(nodes("  ") == Passes{1, 1, 1});
  CHECK(nodes("LOAD") == Passes{1, 0, 0});
  CHECK(nodes("saxpy") == Passes{0, 1, 1});
  CHECK(nodes("saxpy inner") == Passes{0, 1, 0});
  CHECK(nodes("forward") == Passes{0, 1, 1});
  CHECK(nodes("Weight") == Passes{1, 0, 0});
  CHECK(nodes("nothing") == Passes{0, 0, 0});
  CHECK(model::segment_word(0) == "segment:0");
  CHECK(nodes("segment:0 inner") == Passes{0, 1, 0});
  CHECK(nodes("segment:1") == Passes{0, 0, 0});
  const auto copies = 1u << static_cast<unsigned>(trace::NodeKind::Copy);
  CHECK(model::matching_nodes({.kinds = copies}, g) == Passes{1, 0, 0});
  CHECK(model::matching_nodes({.labels = {2}}, g) == Passes{0, 1, 0});
  CHECK(model::matching_nodes({.labels = {1}}, g) == Passes{0, 1, 1});
  CHECK(model::matching_nodes({.text = "load", .labels = {1}}, g) == Passes{0, 0, 0});
  const auto buffers = [&](const model::Filter& filter) {
    return model::matching_buffers(filter, g, model::matching_nodes(filter, g));
  };
  CHECK(buffers({.text = "weights"}) == Passes{1, 0});
  CHECK(buffers({.text = "inner"}) == Passes{0, 1});
  CHECK(buffers({.text = "buffer:inner"}) == Passes{0, 1});
  CHECK(buffers({.text = "-weights"}) == Passes{0, 0});
  CHECK(buffers({.kinds = copies}) == Passes{1, 0});
  CHECK(buffers({}) == Passes{1, 1});
}

TEST_CASE(
    "filter: a query matches numbers, sources, keys, expressions, figures and their opposites") {
  trace::GraphVersion r;
  r.strings = {"",
               "load",
               "gemm<float, 128>",
               "/src/step.cpp",
               "/src/loss.cpp",
               "back \"ward\"",
               "void reprise::gemm<float, 128>(float const*)"};
  r.labels = {{0, 0, 0}, {0, 5, 0}};
  r.kernels = {{2, 6, 0, 0}};
  r.nodes.resize(13);
  for (std::uint32_t n = 0; n < 13; ++n) {
    r.nodes[n].name = 1;
    r.nodes[n].file = 3;
    r.nodes[n].line = n + 1;
    r.nodes[n].lane = n % 2;
    r.nodes[n].kind = trace::NodeKind::Copy;
  }
  r.nodes[2].kind = trace::NodeKind::Dispatch;
  r.nodes[2].kernel = 0;
  r.nodes[2].label = 1;
  r.nodes[3].file = 4;
  r.nodes[4].bytes = 8 << 10;
  const model::Graph g(r);
  // Node n has a median of n us; that of node 12 is unknown.
  const model::StatisticOf statistics = [](std::uint32_t node, model::Figure figure) {
    if (figure == model::Figure::Share) return node / 100.0;
    return node == 12 ? std::nan("") : node * 1e3;
  };
  const auto nodes = [&](const char* text) {
    CHECK(model::Query(text).error() == "");
    std::string all;
    const std::vector<std::uint8_t> passes = model::matching_nodes({.text = text}, g, statistics);
    for (std::uint32_t n = 0; n < passes.size(); ++n) {
      if (passes[n] != 0) all += (all.empty() ? "" : " ") + std::to_string(n);
    }
    return all;
  };
  CHECK(nodes("12") == "2 12");  // in a kernel name, and as a number
  CHECK(nodes("node:12") == "12");
  CHECK(nodes("node>=11") == "11 12");
  CHECK(nodes("step.cpp:1") == "0");  // and not line 10
  CHECK(nodes("loss.cpp") == "3");
  CHECK(nodes("file:SRC/loss") == "3");
  CHECK(nodes("src") == "");  // without a dot no source
  CHECK(nodes("kernel:gemm") == "2");
  CHECK(nodes("gemm<float,") == "2");
  CHECK(nodes("label:gemm") == "");
  CHECK(nodes("kernel:\"FLOAT, 128\"") == "2");
  CHECK(nodes("label:\"back \\\"ward\\\"\"") == "2");
  CHECK(nodes(model::query_term("label", "back \"ward\"").c_str()) == "2");
  CHECK(nodes("kind:dispatch") == "2");
  CHECK(nodes("kind:gemm") == "2");
  CHECK(nodes("-kind:copy") == "2");
  CHECK(nodes("reprise::gemm") == "2");  // the whole name, without parameters
  CHECK(nodes("kernel:const") == "");
  CHECK(nodes("/^gemm.*[0-9]{3}>/") == "2");
  CHECK(nodes("file:/src/(step|loss)\\.cpp:[34]/") == "2 3");
  CHECK(nodes("-load -kernel:gemm") == "");
  CHECK(nodes("-file:step") == "3");
  CHECK(nodes("median>9us lane:1") == "11");
  CHECK(nodes("median<=1us") == "0 1");
  CHECK(nodes("-median>0.001ms") == "0 1 12");  // unknown is not more
  CHECK(nodes("share>=11%") == "11 12");
  CHECK(nodes("bytes>=8KiB") == "4");
  CHECK(nodes("a::b") == "");
  CHECK(nodes("/ load") == "");  // a slash alone is a word
  CHECK(model::matching_nodes({.text = "median>1us"}, g) == std::vector<std::uint8_t>(13, 0));
}

TEST_CASE("filter: a source is also one of the lines and functions of the call stack") {
  trace::GraphVersion r;
  r.strings = {"", "train.py", "main", "net.py", "forward"};
  r.labels = {{0, 0, 0}};
  r.nodes.resize(3);
  r.nodes[0].file = 3;
  r.nodes[0].line = 7;
  r.frames = {{trace::kNone, 2, 1, 40, 0}, {0, 4, 3, 7, 0}, {0, 4, 3, 9, 0}};
  r.stacks = {{0, 1}, {1, 2}};
  const model::Graph g(r);
  const auto nodes = [&](const char* text) {
    std::string found;
    const auto matching = model::matching_nodes({.text = text}, g, {});
    for (std::size_t n = 0; n < matching.size(); ++n) {
      if (matching[n] != 0) found += std::to_string(n);
    }
    return found;
  };
  CHECK(nodes("file:train.py:40") == "01");
  CHECK(nodes("train.py:40") == "01");
  CHECK(nodes("file:net.py:9") == "1");
  CHECK(nodes("file:forward") == "01");
  CHECK(nodes("file:main -file:net.py:9") == "0");
}

TEST_CASE("filter: a bad query says what is wrong, and how to write it") {
  const auto error = [](const char* text) { return model::Query(text).error(); };
  CHECK(error("lable:x").find("there is no key \"lable\"; use name, kernel, label") == 0);
  CHECK(error("kernel:") == "kernel: needs a text, such as kernel:copy");
  CHECK(error("meadian>10us").find("there is no figure \"meadian\"") == std::string::npos);
  CHECK(error("meadian>10").find("there is no figure \"meadian\"; use node, lane") == 0);
  CHECK(error("median>") == "median needs a duration such as 10us");
  CHECK(error("median>10xs") == "median: \"10xs\" is not a duration such as 10us");
  CHECK(error("median:10us") == "median is compared by >, >=, <, <= or =: median>10us");
  CHECK(error("node:x") == "node: \"x\" is not a number such as 12");
  CHECK(error("\"two words").find("has no closing quote") != std::string::npos);
  CHECK(error("/home/user").find("/home/user has no closing slash") == 0);
  CHECK(error("/(/").find("/(/ is no regular expression: ") == 0);
  CHECK(model::Query("load lable:x").terms().empty());
  // Such a pattern takes most implementations exponential time.
  CHECK_FALSE(model::Query("/(a+)+b/").matches_text(std::string(1'000, 'a')));
}

TEST_CASE("filter: terms about nodes do not apply to other texts") {
  CHECK(model::Query("lost kernel:gemm median>1us").matches_text("12 samples LOST"));
  CHECK_FALSE(model::Query("-lost").matches_text("12 samples lost"));
}

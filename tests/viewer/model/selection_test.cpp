#include <doctest/doctest.h>

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
  CHECK(nodes("segment:") == Passes{0, 0, 0});
  const auto copies = 1u << static_cast<unsigned>(trace::NodeKind::Copy);
  CHECK(model::matching_nodes({.kinds = copies}, g) == Passes{1, 0, 0});
  CHECK(model::matching_nodes({.labels = {2}}, g) == Passes{0, 1, 0});
  CHECK(model::matching_nodes({.labels = {1}}, g) == Passes{0, 1, 1});
  CHECK(model::matching_nodes({.text = "load", .labels = {1}}, g) == Passes{0, 0, 0});
  CHECK(model::matching_buffers({.text = "weights"}, g) == Passes{1, 0});
  CHECK(model::matching_buffers({.text = "inner"}, g) == Passes{0, 1});
  CHECK(model::matching_buffers({.kinds = copies}, g) == Passes{1, 0});
  CHECK(model::matching_buffers({}, g) == Passes{1, 1});
}

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "model/document_builder.hpp"
#include "model/document_text.hpp"
#include "model/trace_loader.hpp"
#include "support/paths.hpp"
#include "trace/trace_file.hpp"
#include "viewer/model/random_graph.hpp"

using namespace reprise;
using namespace reprise::trace;

namespace {

Records topology() {
  Records r;
  r.sessions = {{"node7", 4711, 1, kNone, "digits", "digits", "0.1.0"}};
  r.clocks = {{kNone, 1'000, 1'700'000'000'000'000'000, 100}};
  r.devices = {{1, "host (2 threads)", "host", {}, 1 << 30, 2}};
  r.queues = {{4, 1, "main"}};
  r.thread_names = {{77, "trainer"}};
  GraphVersion g;
  g.graph = 3;
  g.version = 1;
  g.device = 1;
  g.label = "step";
  g.lanes = 2;
  g.naive_bytes = 8'192;
  g.slab_bytes = g.bound_bytes = 4'096;
  g.strings = {"", "load", "saxpy", "blur", "x", "y", "epoch", "forward"};
  g.labels = {{0, 0, 0}, {0, 6, 0}, {1, 7, 0}};
  g.kernels = {{2, 2, 32, 0}};
  g.buffers = {{4, BufferKind::Transient, kNone, 0, 4096, 0}, {5, BufferKind::Device, 9, 0, 1 << 20, 0}};
  g.accesses = {{0, Access::Write, 0, 0, 4096}, {0, Access::Read, 0, 0, 4096}, {1, Access::Write, 0, 0, 64}, {0, Access::Read, 0, 0, 64}};
  g.barriers = {{1, 0, 0, 0, kNone, 0, 0, Access::Write, Access::Read, 1}};
  g.nodes.resize(3);
  g.nodes[0].kind = NodeKind::Copy;
  g.nodes[0].name = 1;
  g.nodes[0].access_count = 1;
  g.nodes[1].kind = NodeKind::Dispatch;
  g.nodes[1].name = 2;
  g.nodes[1].label = 2;
  g.nodes[1].kernel = 0;
  g.nodes[1].first_access = 1;
  g.nodes[1].access_count = 2;
  g.nodes[2] = g.nodes[1];
  g.nodes[2].name = 3;
  g.nodes[2].label = 1;
  g.nodes[2].lane = 1;
  g.nodes[2].first_access = 3;
  g.nodes[2].access_count = 1;
  g.edges = {{0, 1, EdgeCause::Hazard, Hazard::ReadAfterWrite, 0, kNone, 0, 4096}, {0, 2, EdgeCause::Barrier, Hazard::None, kNone, 0, 0, 0}};
  r.graph_versions = {g};
  return r;
}

Records events() {
  Records r;
  // The second replay arrives before the first.
  for (const std::uint64_t n : {2, 1, 3}) {
    const auto at = static_cast<Time>(10'000 * n);
    r.replays.push_back({3, 1, 0, 4, n, at, at + 900, at + 2'000, at + 7'000, 77, 1});
  }
  r.replays.push_back({8, 1, 0, 4, 1, 50'000, 50'100, 0, 0, 77, 0});
  r.host_ranges = {{77, 1, 10'100, 10'800, "batch", 3, 1}, {77, 0, 9'000, 19'000, "iteration", kNone, 0}};
  r.pool_states = {{0, 1, 9'500, "step", 1, 4'096, 0, {}}, {0, 1, 9'900, "step", 2, 1 << 20, 0, {3}}};
  r.buffer_lives = {{9, 0, 1, BufferKind::Device, 1 << 20, 0x1000, 9'100, 0, "y"},
                    {9, 0, 1, BufferKind::Device, 1 << 20, 0x1000, 9'100, 40'000, "y"}};
  r.messages = {{9'200, Severity::Warning, "barrier-orders-nothing", "barrier 0", 3, 1, 1, kNone}};
  r.updates = {{9'300, 3, 0, 1, "scalar"}};
  r.losses = {{45'000, LossKind::Samples, 12, "queue full"}};
  r.profile_costs = {{9'000, 45'000, 3, 120, 40}};
  return r;
}

Records samples() {
  Records r;
  for (std::uint64_t n = 1; n <= 3; ++n) {
    const auto at = static_cast<Time>(10'000 * n + 2'000);
    const auto more = static_cast<std::uint32_t>(n);
    r.sample_blocks.push_back(
        {3,
         1,
         0,
         n,
         SampleSource::Host,
         {{0, 0, at, 1'000 + more, 0}, {1, 0, at + 1'100, 2'000 + more, 0}, {2, 0, n == 3 ? 0 : at + 1'100, n == 3 ? 0 : 3'000 + more, 1}}});
  }
  return r;
}

std::shared_ptr<const model::Document> live_document() {
  model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
  builder.add(topology());
  builder.add(events());
  builder.add(samples());
  return builder.publish();
}

void write(const std::filesystem::path& path, const std::vector<std::pair<ChunkKind, Records>>& chunks) {
  TraceFile file({.path = path});
  std::uint64_t sequence = 0;
  for (const auto& [kind, records] : chunks) file.write(std::make_shared<const Chunk>(make_chunk(kind, records, sequence++)));
}

}  // namespace

TEST_CASE("document: a hand-made trace reads as its golden text") {
  const std::string text = model::document_text(*live_document());
  const std::filesystem::path golden = test::test_file("viewer/model/golden/hand_made.txt");
  if (std::getenv("REPRISE_UPDATE_GOLDEN") != nullptr) std::ofstream(golden) << text;
  std::ifstream in(golden);
  REQUIRE(in.good());
  std::ostringstream expected;
  expected << in.rdbuf();
  CHECK(text == expected.str());
}

TEST_CASE("document: a file gives the text that the live trace gives, and its samples on demand") {
  const std::filesystem::path path = test::scratch_folder() / "document.reprise";
  Records s = samples(), rest;
  rest.sample_blocks = {s.sample_blocks[2]};
  s.sample_blocks.pop_back();
  write(path, {{ChunkKind::Topology, topology()}, {ChunkKind::Samples, s}, {ChunkKind::Events, events()}, {ChunkKind::Samples, rest}});
  model::TraceLoader loader({.path = path});
  const auto first = loader.document();
  CHECK(first->graphs.size() == 1);
  CHECK(first->graphs.begin()->second.replays.empty());
  CHECK(loader.progress() == 0);
  CHECK(loader.step());  // the events
  const auto second = loader.document();
  REQUIRE(second->find({3, 1}) != nullptr);
  CHECK(second->find({3, 1})->replays.size() == 3);
  CHECK(second->find({3, 1})->statistics->samples == 0);
  CHECK(second->find({3, 1})->graph == first->find({3, 1})->graph);
  // Before the loader saw any sample.
  const trace::Replay* third = second->find_replay({3, 1}, 3);
  REQUIRE(third != nullptr);
  CHECK(second->samples->held({3, 1}, 3) == nullptr);
  const auto block = second->samples->find(*third);
  REQUIRE(block != nullptr);
  CHECK(*block == rest.sample_blocks[0]);
  CHECK(second->samples->stats().chunks_read == 1);
  CHECK(second->samples->held({3, 1}, 3) == block);
  while (loader.step()) {
  }
  CHECK(loader.progress() == 1);
  CHECK(model::document_text(*loader.document()) == model::document_text(*live_document()));
  CHECK(model::document_text(*first) != model::document_text(*second));
}

TEST_CASE("document: what did not change is shared between publications, and old documents stay as they were") {
  model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
  builder.add(topology());
  const auto a = builder.publish();
  builder.add(events());
  const auto b = builder.publish();
  builder.add(samples());
  const auto c = builder.publish();
  CHECK(a->sessions == b->sessions);
  CHECK(a->devices == c->devices);
  CHECK(a->buffers != b->buffers);
  CHECK(b->buffers == c->buffers);
  CHECK(b->find({3, 1})->statistics == a->find({3, 1})->statistics);
  CHECK(c->find({3, 1})->statistics != b->find({3, 1})->statistics);
  CHECK(a->find({3, 1})->replays.empty());
  CHECK(a->revision + 2 == c->revision);
  CHECK(c->find_replay({3, 1}, 4) == nullptr);
  CHECK(c->find_replay({4, 1}, 1) == nullptr);
  CHECK(c->unknown_replays == 1);
  // The same topology again, as for a viewer that attaches again.
  builder.add(topology());
  CHECK(builder.publish()->find({3, 1})->graph == a->find({3, 1})->graph);
}

TEST_CASE("growing list: views keep what they saw while late elements move the list") {
  model::GrowingList<int> list;
  const auto before = [](int a, int b) { return a < b; };
  std::vector<model::ListView<int>> views;
  std::vector<std::vector<int>> expected;
  std::vector<int> all;
  std::mt19937_64 random(7);
  for (int i = 0; i < 2'000; ++i) {
    const int value = i * 10 - (random() % 10 == 0 ? static_cast<int>(random() % 8'000) : 0);
    list.insert_sorted(value, before);
    all.insert(std::upper_bound(all.begin(), all.end(), value), value);
    if (i % 97 == 0) {
      views.push_back(list.view());
      expected.push_back(all);
    }
  }
  for (std::size_t v = 0; v < views.size(); ++v) {
    REQUIRE(views[v].size() == expected[v].size());
    bool equal = true;
    std::size_t i = 0;
    for (const int value : views[v]) equal = equal && value == expected[v][i++];
    CHECK(equal);
  }
  const auto view = list.view();
  for (const int value : {-1, 0, 5'000, 5'005, 50'000}) {
    CHECK(view.lower_bound(value, before) == static_cast<std::size_t>(std::lower_bound(all.begin(), all.end(), value) - all.begin()));
  }
}

TEST_CASE("graph: neighbours, uses and labels are those of its edges, accesses and nodes") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const model::Graph g(test::random_graph(seed));
    const GraphVersion& r = g.record();
    std::size_t predecessors = 0, successors = 0, in_labels = 0, uses = 0;
    for (std::uint32_t n = 0; n < g.node_count(); ++n) {
      for (const model::Neighbour& p : g.predecessors(n)) CHECK((r.edges[p.edge].from == p.node && r.edges[p.edge].to == n));
      for (const model::Neighbour& s : g.successors(n)) CHECK((r.edges[s.edge].to == s.node && r.edges[s.edge].from == n));
      predecessors += g.predecessors(n).size();
      successors += g.successors(n).size();
    }
    CHECK(predecessors == r.edges.size());
    CHECK(successors == r.edges.size());
    for (std::uint32_t b = 0; b < r.buffers.size(); ++b) {
      for (const model::BufferUse& u : g.uses(b)) CHECK(r.accesses[u.access].buffer == b);
      uses += g.uses(b).size();
    }
    CHECK(uses == r.accesses.size());
    for (std::uint32_t l = 0; l < r.labels.size(); ++l) in_labels += g.label_nodes(l).size();
    CHECK(in_labels == r.nodes.size());
    CHECK(g.is_below(2, 1));
    CHECK(g.is_below(2, 0));
    CHECK_FALSE(g.is_below(1, 2));
    CHECK(g.label_path(2) == "forward / backward");
  }
}

TEST_CASE("time histogram: quantiles are as exact as it says, the rest is exact") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    model::TimeHistogram h, left, right;
    std::vector<std::int64_t> values;
    for (int i = 0; i < 3'000; ++i) {
      const auto v = static_cast<std::int64_t>(random() >> (20 + random() % 40));
      values.push_back(v);
      h.add(v);
      (i % 3 == 0 ? left : right).add(v);
    }
    left.add(right);
    std::sort(values.begin(), values.end());
    for (const model::TimeHistogram* x : {&h, &left}) {
      CHECK(x->count() == values.size());
      CHECK(x->least() == values.front());
      CHECK(x->greatest() == values.back());
      CHECK(x->sum() == std::accumulate(values.begin(), values.end(), std::int64_t{0}));
      for (const double q : {0.0, 0.1, 0.5, 0.9, 0.99, 1.0}) {
        const auto rank = std::max<std::size_t>(static_cast<std::size_t>(std::ceil(q * static_cast<double>(values.size()))), 1);
        const auto exact = static_cast<double>(values[rank - 1]);
        CHECK(std::abs(x->quantile(q) - exact) <= exact * model::TimeHistogram::kRelativeError);
      }
    }
  }
  CHECK(model::TimeHistogram().quantile(0.5) == 0);
}

TEST_CASE("sample store: live blocks stay within the budget, the newest ones remain") {
  model::SampleStore store({.max_bytes = 5'000});
  const GraphVersion g = test::random_graph(1);
  for (std::uint64_t n = 1; n <= 100; ++n) {
    SampleBlock b = test::random_replay(g, n);
    b.replay = n;
    store.keep({b});
  }
  const model::SampleStoreStats stats = store.stats();
  CHECK(stats.bytes <= 5'000);
  CHECK(stats.blocks + stats.forgotten == 100);
  CHECK(stats.forgotten > 0);
  CHECK(store.held({0, 0}, 100) != nullptr);
  CHECK(store.held({0, 0}, 101 - stats.blocks) != nullptr);
  CHECK(store.held({0, 0}, 100 - stats.blocks) == nullptr);
}

TEST_CASE("sample store: a file's replays come back whole whatever the order and however small the budget") {
  const std::filesystem::path path = test::scratch_folder() / "store.reprise";
  const GraphVersion g = test::random_graph(2);
  Records t;
  t.graph_versions = {g};
  std::vector<std::pair<ChunkKind, Records>> chunks = {{ChunkKind::Topology, t}};
  std::vector<SampleBlock> blocks;
  std::vector<trace::Replay> replays;
  for (std::uint64_t n = 0; n < 40; ++n) {
    if (n % 8 == 0) chunks.push_back({ChunkKind::Samples, {}});
    SampleBlock b = test::random_replay(g, n, 4);
    b.replay = n;
    Time first = 0;
    for (Sample& s : b.samples) {
      if (s.started != 0) s.started += static_cast<Time>(n) * 100'000;
      if (first == 0) first = s.started;
    }
    chunks.back().second.sample_blocks.push_back(b);
    blocks.push_back(b);
    // Times are unknown now and then.
    replays.push_back({0, 0, 0, 0, n, 0, 0, n % 5 == 0 ? 0 : first, n % 5 == 0 ? 0 : first + 5'000, 0, 1});
  }
  write(path, chunks);
  model::SampleStore store({.reader = std::make_shared<const TraceReader>(path), .max_bytes = 4'000});
  for (std::uint64_t i = 0; i < 40; ++i) {
    const std::uint64_t n = i * 17 % 40;
    CAPTURE(n);
    const auto block = store.find(replays[n]);
    REQUIRE(block != nullptr);
    CHECK(*block == blocks[n]);
  }
  CHECK(store.stats().blocks == 8);  // one chunk
  trace::Replay none = replays[3];
  none.replay = 99;
  CHECK(store.find(none) == nullptr);
}

#include <doctest/doctest.h>

#include <algorithm>

#include "panels/memory_axis.hpp"
#include "panels/memory_emphasis.hpp"
#include "panels/memory_facts.hpp"
#include "panels/memory_pools.hpp"
#include "viewer/panels/memory_documents.hpp"

using namespace reprise;
using namespace reprise::viewer;
using trace::kNone;

namespace {

std::shared_ptr<const model::Graph> graph() { return std::make_shared<model::Graph>(test::memory_record()); }

std::vector<std::string> texts(const std::vector<AxisTick>& ticks) {
  std::vector<std::string> all;
  for (const AxisTick& t : ticks) all.push_back(t.text);
  return all;
}

const BufferRow& row_of(const PoolFacts& facts, const std::string& name) {
  const auto found = std::find_if(facts.buffers.begin(), facts.buffers.end(), [&](const BufferRow& r) { return r.name == name; });
  REQUIRE_MESSAGE(found != facts.buffers.end(), name);
  return *found;
}

}  // namespace

TEST_CASE("memory facts: the peak and who is live there are those of the model") {
  const auto g = graph();
  const MemoryFacts facts = memory_facts(g);
  const model::MemoryUse use = model::memory_by_schedule(*g);
  CHECK(facts.use.peak_bytes == use.peak_bytes);
  CHECK(facts.use.peak_bytes == 4096 + 4096 + 1024);
  const LiveBuffers live = live_at(facts, facts.use.peak_at);
  CHECK(live.buffers == use.live_at_peak);
  CHECK(live.bytes == use.peak_bytes);
  CHECK(facts.length == 6);
  CHECK(facts.span[test::kBufferUnused] == kNone);
  CHECK(facts.first_node[test::kBufferC] == 2);
}

TEST_CASE("memory facts: at every moment the steps are the bytes of those that are live") {
  const MemoryFacts facts = memory_facts(graph());
  const std::vector<std::uint64_t> expected = {4096 + 1024, 4096 + 4096 + 1024, 4096 + 4096 + 1024, 4096 + 4096 + 1024, 8192 + 1024, 8192 + 1024};
  for (trace::Time n = 0; n < 6; ++n) {
    CAPTURE(n);
    CHECK(live_bytes_at(facts, n) == expected[static_cast<std::size_t>(n)]);
    CHECK(live_at(facts, n).bytes == expected[static_cast<std::size_t>(n)]);
  }
  CHECK(live_bytes_at(facts, -1) == 0);
  CHECK(live_bytes_at(facts, 6) == 0);
}

TEST_CASE("memory facts: measured times begin with the replay") {
  const auto document = test::memory_document();
  const model::GraphEntry& entry = *document->find(test::kMemoryKey);
  const auto block = document->samples->find(entry.replays[0]);
  REQUIRE(block);
  const MemoryFacts facts = memory_facts(entry.graph, model::replay_times(*entry.graph, *block));
  CHECK(facts.is_measured);
  CHECK(facts.length == 6 * 11'000 + 30'000 - 1'000);
  const model::BufferSpan& b = facts.use.spans[facts.span[test::kBufferB]];
  CHECK(b.began == 11'000);               // with node 1
  CHECK(b.ended == 3 * 11'000 + 40'000);  // with node 3
}

TEST_CASE("memory facts: who shares bytes with whom is told of the bytes themselves, not of the group") {
  const MemoryFacts facts = memory_facts(graph());
  using Buffers = std::vector<std::uint32_t>;
  CHECK(shares_bytes_with(facts, test::kBufferA) == Buffers{test::kBufferC, test::kBufferD, test::kBufferUnused});
  CHECK(shares_bytes_with(facts, test::kBufferB) == Buffers{test::kBufferD});  // though all are of one group
  CHECK(facts.group[test::kBufferA] == facts.group[test::kBufferB]);
  CHECK(shares_bytes_with(facts, test::kBufferF).empty());
  CHECK(shares_bytes_with(facts, 1'000).empty());
}

TEST_CASE("memory emphasis: the selected buffer stands out with those that share its bytes, the rest steps back") {
  const MemoryFacts facts = memory_facts(graph());
  ViewState view;
  const std::vector<std::uint8_t> all;
  CHECK(MemoryEmphasis(view, facts, all).of(test::kBufferA) == Emphasis::Plain);
  view.selection = model::SelectedBuffer{test::kMemoryKey, test::kBufferB};
  const MemoryEmphasis of_buffer(view, facts, all);
  CHECK(of_buffer.of(test::kBufferB) == Emphasis::Selected);
  CHECK(of_buffer.of(test::kBufferD) == Emphasis::Shares);
  CHECK(of_buffer.of(test::kBufferA) == Emphasis::Beside);
  view.selection = model::SelectedNode{test::kMemoryKey, 1};
  const MemoryEmphasis of_node(view, facts, all);
  CHECK(of_node.node() == 1);
  CHECK(of_node.of(test::kBufferA) == Emphasis::Selected);
  CHECK(of_node.of(test::kBufferB) == Emphasis::Selected);
  CHECK(of_node.of(test::kBufferD) == Emphasis::Beside);
}

TEST_CASE("memory emphasis: the filter fades what it does not let pass, a selection elsewhere nothing") {
  const MemoryFacts facts = memory_facts(graph());
  ViewState view;
  view.selection = model::SelectedNode{{9, 9}, 0};
  std::vector<std::uint8_t> matches(7, 0);
  matches[test::kBufferC] = 1;
  const MemoryEmphasis emphasis(view, facts, matches);
  CHECK(emphasis.of(test::kBufferC) == Emphasis::Plain);
  CHECK(emphasis.of(test::kBufferA) == Emphasis::Filtered);
}

TEST_CASE("memory pools: each knows its most, who holds it and who did, and its steps") {
  const auto document = test::memory_document();
  const PoolFacts facts = pool_facts(*document, document->find(test::kMemoryKey)->graph);
  REQUIRE(facts.pools.size() == 2);
  CHECK(facts.pools[0].state.label == "model");
  CHECK(facts.pools[0].device == "host (2 threads)");
  CHECK(facts.pools[0].holders == "step");
  CHECK(facts.pools[0].most_device == 1 << 20);
  CHECK(facts.pools[0].most_host == 4096);
  CHECK(facts.pools[0].most_bytes == (3 << 20) + 4096);
  CHECK(facts.pools[0].history.size() == 4);
  CHECK(facts.pools[1].holders.empty());
  CHECK(facts.pools[1].earlier_holders == "step");
  CHECK(facts.pools[1].most_buffers == 1);
}

TEST_CASE("memory pools: what a pool takes with its graphs' slabs rises and falls, where the trace tells of it") {
  const auto document = test::memory_document();
  const PoolFacts facts = pool_facts(*document, nullptr);
  REQUIRE(facts.pools.size() == 2);
  CHECK(facts.pools[0].is_memory_told());
  CHECK(facts.pools[0].state.mapped == 1 << 20);
  CHECK(facts.pools[0].state.trims == 1);
  std::vector<std::uint64_t> mapped;
  for (const PoolPoint& point : facts.pools[0].history) mapped.push_back(point.mapped);
  CHECK(mapped == std::vector<std::uint64_t>{0, 0, 3 << 20, 1 << 20});
  CHECK_FALSE(facts.pools[1].is_memory_told());
  CHECK(facts.most_bytes == 5 << 20);  // of the device
}

TEST_CASE("memory pools: graphs that share a slab are named, and a device's memory rises and falls in all") {
  const auto document = test::memory_document();
  const PoolFacts facts = pool_facts(*document, nullptr);
  REQUIRE(facts.pools.size() == 2);
  CHECK(facts.pools[0].sharers == "step");
  CHECK(facts.pools[0].earlier_sharers == "graph 9");
  CHECK(facts.pools[1].sharers.empty());
  REQUIRE(facts.devices.size() == 1);
  CHECK(facts.devices[0].name == "host (2 threads)");
  CHECK(facts.devices[0].totals.trims == 1);
  CHECK(facts.devices[0].most_buffers == 1 << 20);
  std::vector<std::uint64_t> mapped;
  for (const PoolPoint& point : facts.devices[0].history) mapped.push_back(point.mapped);
  CHECK(mapped == std::vector<std::uint64_t>{1 << 20, 5 << 20, 2 << 20});
}

TEST_CASE("memory pools: every buffer of the trace and of the graph is there once, of all four kinds") {
  const auto document = test::memory_document();
  const PoolFacts facts = pool_facts(*document, document->find(test::kMemoryKey)->graph);
  CHECK(facts.buffers.size() == 3 + 6);
  CHECK(row_of(facts, "weights").buffer == test::kBufferWeights);
  CHECK(row_of(facts, "weights").uses == 1);
  CHECK(row_of(facts, "weights").pool == "model");
  CHECK(row_of(facts, "pinned").kind == trace::BufferKind::PinnedHost);
  CHECK(row_of(facts, "pinned").buffer == kNone);
  CHECK(row_of(facts, "lent").kind == trace::BufferKind::Foreign);
  CHECK(row_of(facts, "lent").freed == test::kMemoryBegin + 400);
  CHECK(row_of(facts, "d").kind == trace::BufferKind::Transient);
  CHECK(row_of(facts, "d").uses == 2);
  CHECK(row_of(facts, "unused").uses == 0);
}

TEST_CASE("memory pools: buffers sort by any column, and a filter leaves those of the graph that pass") {
  const auto document = test::memory_document();
  const PoolFacts facts = pool_facts(*document, document->find(test::kMemoryKey)->graph);
  const auto names = [&](BufferOrder order, const std::vector<std::uint8_t>& matches = {}) {
    std::vector<std::string> all;
    for (const std::uint32_t r : ordered_buffers(facts, order, matches)) all.push_back(facts.buffers[r].name);
    return all;
  };
  CHECK(names({BufferColumn::Bytes, true}).front() == "weights");
  CHECK(names({BufferColumn::Bytes, true}).back() == "unused");
  CHECK(names({BufferColumn::Name, false}).front() == "a");
  CHECK(names({BufferColumn::Freed, true}).front() == "lent");
  std::vector<std::uint8_t> matches(7, 0);
  matches[test::kBufferC] = matches[test::kBufferWeights] = 1;
  CHECK(names({BufferColumn::Bytes, true}, matches) == std::vector<std::string>{"weights", "c"});
}

TEST_CASE("axis: ticks are round, in one unit, and never more than asked for") {
  CHECK(texts(byte_ticks(0, 3 * 1024 * 1024, 4)) == std::vector<std::string>{"0 MiB", "1 MiB", "2 MiB", "3 MiB"});
  CHECK(texts(byte_ticks(0, 1536, 3)) == std::vector<std::string>{"0.0 KiB", "0.5 KiB", "1.0 KiB", "1.5 KiB"});
  CHECK(texts(time_ticks(-500, 4'900'000, 5)) == std::vector<std::string>{"0 ms", "1 ms", "2 ms", "3 ms", "4 ms"});
  CHECK(texts(count_ticks(0, 2'500, 3)) == std::vector<std::string>{"0", "1,000", "2,000"});
  CHECK(texts(count_ticks(0, 2, 10)) == std::vector<std::string>{"0", "1", "2"});
  CHECK(byte_ticks(5, 5, 4).empty());
  for (const double length : {1.0, 7.0, 99.0, 1e6, 3e12}) {
    CAPTURE(length);
    CHECK(time_ticks(0, length, 8).size() <= 9);
    CHECK(byte_ticks(0, length, 8).size() <= 9);
  }
}

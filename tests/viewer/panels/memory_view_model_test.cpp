#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>

#include "panels/memory/memory_emphasis.hpp"
#include "panels/memory/memory_pools.hpp"
#include "panels/memory/memory_view_model.hpp"
#include "panels/widgets/axis.hpp"
#include "viewer/panels/memory_documents.hpp"

using namespace reprise;
using namespace reprise::viewer;
using trace::kNone;

namespace {

std::vector<std::string> texts(const std::vector<AxisTick>& ticks) {
  std::vector<std::string> all;
  for (const AxisTick& t : ticks) all.push_back(t.text);
  return all;
}

const BufferRow& row_of(const PoolViewModel& view_model, const std::string& name) {
  const auto found = std::find_if(view_model.buffers.begin(), view_model.buffers.end(),
                                  [&](const BufferRow& r) { return r.name == name; });
  REQUIRE_MESSAGE(found != view_model.buffers.end(), name);
  return *found;
}

}  // namespace

TEST_CASE("memory view model: peak and live buffers equal those of the model") {
  const auto g = test::memory_graph();
  const MemoryViewModel view_model = memory_view_model(g);
  const model::MemoryUse use = model::memory_by_node_order(*g);
  CHECK(view_model.use.peak_bytes == use.peak_bytes);
  CHECK(view_model.use.peak_bytes == 4096 + 4096 + 1024);
  const LiveBuffers live = live_at(view_model, view_model.use.peak_at);
  CHECK(live.buffers == use.live_at_peak);
  CHECK(live.bytes == use.peak_bytes);
  CHECK(view_model.length == 6);
  CHECK(view_model.span[test::kBufferUnused] == kNone);
  CHECK(view_model.first_node[test::kBufferC] == 2);
}

TEST_CASE("memory view model: the steps equal the sum of the live buffers at every time") {
  const MemoryViewModel view_model = memory_view_model(test::memory_graph());
  const std::vector<std::uint64_t> expected = {4096 + 1024,        4096 + 4096 + 1024,
                                               4096 + 4096 + 1024, 4096 + 4096 + 1024,
                                               8192 + 1024,        8192 + 1024};
  for (trace::Time n = 0; n < 6; ++n) {
    CAPTURE(n);
    CHECK(live_bytes_at(view_model, n) == expected[static_cast<std::size_t>(n)]);
    CHECK(live_at(view_model, n).bytes == expected[static_cast<std::size_t>(n)]);
  }
  CHECK(live_bytes_at(view_model, -1) == 0);
  CHECK(live_bytes_at(view_model, 6) == 0);
}

TEST_CASE("memory view model: measured times start at the replay's start") {
  const auto document = test::memory_document();
  const model::GraphEntry& entry = *document->find(test::kMemoryKey);
  const auto block = document->samples->find(entry.replays[0]);
  REQUIRE(block);
  const MemoryViewModel view_model =
      memory_view_model(entry.graph, model::replay_times(*entry.graph, *block));
  CHECK(view_model.is_measured);
  CHECK(view_model.length == 6 * 11'000 + 30'000 - 1'000);
  const model::BufferSpan& b = view_model.use.spans[view_model.span[test::kBufferB]];
  CHECK(b.started == 11'000);             // with node 1
  CHECK(b.ended == 3 * 11'000 + 40'000);  // with node 3
}

TEST_CASE("memory view model: aliases share bytes directly, not only through their group") {
  const MemoryViewModel view_model = memory_view_model(test::memory_graph());
  using Buffers = std::vector<std::uint32_t>;
  CHECK(aliasing_buffers(view_model, test::kBufferA) ==
        Buffers{test::kBufferC, test::kBufferD, test::kBufferUnused});
  CHECK(aliasing_buffers(view_model, test::kBufferB) ==
        Buffers{test::kBufferD});  // although all are in one group
  CHECK(view_model.group[test::kBufferA] == view_model.group[test::kBufferB]);
  CHECK(aliasing_buffers(view_model, test::kBufferF).empty());
  CHECK(aliasing_buffers(view_model, 1'000).empty());
}

TEST_CASE(
    "memory emphasis: the selected buffer and its aliases are emphasised, other buffers are "
    "dimmed") {
  const MemoryViewModel view_model = memory_view_model(test::memory_graph());
  ViewState view;
  const std::vector<std::uint8_t> all;
  CHECK(MemoryEmphasis(view, view_model, all).of(test::kBufferA) == Emphasis::Plain);
  view.selection = model::SelectedBuffer{test::kMemoryKey, test::kBufferB};
  const MemoryEmphasis of_buffer(view, view_model, all);
  CHECK(of_buffer.of(test::kBufferB) == Emphasis::Selected);
  CHECK(of_buffer.of(test::kBufferD) == Emphasis::Aliasing);
  CHECK(of_buffer.of(test::kBufferA) == Emphasis::Dimmed);
  view.selection = model::SelectedNode{test::kMemoryKey, 1};
  const MemoryEmphasis of_node(view, view_model, all);
  CHECK(of_node.node() == 1);
  CHECK(of_node.of(test::kBufferA) == Emphasis::Selected);
  CHECK(of_node.of(test::kBufferB) == Emphasis::Selected);
  CHECK(of_node.of(test::kBufferD) == Emphasis::Dimmed);
}

TEST_CASE(
    "memory emphasis: the filter fades other buffers, a selection in another graph does not") {
  const MemoryViewModel view_model = memory_view_model(test::memory_graph());
  ViewState view;
  view.selection = model::SelectedNode{{9, 9}, 0};
  std::vector<std::uint8_t> matches(7, 0);
  matches[test::kBufferC] = 1;
  const MemoryEmphasis emphasis(view, view_model, matches);
  CHECK(emphasis.of(test::kBufferC) == Emphasis::Plain);
  CHECK(emphasis.of(test::kBufferA) == Emphasis::Filtered);
}

TEST_CASE("memory pools: a pool has its peaks, current and former holders, and history") {
  const auto document = test::memory_document();
  const PoolViewModel view_model =
      pool_view_model(*document, document->find(test::kMemoryKey)->graph);
  REQUIRE(view_model.pools.size() == 2);
  CHECK(view_model.pools[0].state.label == "model");
  CHECK(view_model.pools[0].device == "host (2 threads)");
  CHECK(view_model.pools[0].holders == "step");
  CHECK(view_model.pools[0].peak_device == 1 << 20);
  CHECK(view_model.pools[0].peak_host == 4096);
  CHECK(view_model.pools[0].peak_bytes == (3 << 20) + 4096);
  CHECK(view_model.pools[0].history.size() == 4);
  CHECK(view_model.pools[1].holders.empty());
  CHECK(view_model.pools[1].former_holders == "step");
  CHECK(view_model.pools[1].peak_buffers == 1);
}

TEST_CASE(
    "memory pools: the history has the resident memory including slabs, if the trace records it") {
  const auto document = test::memory_document();
  const PoolViewModel view_model = pool_view_model(*document, nullptr);
  REQUIRE(view_model.pools.size() == 2);
  CHECK(view_model.pools[0].has_residency());
  CHECK(view_model.pools[0].state.mapped == 1 << 20);
  CHECK(view_model.pools[0].state.trims == 1);
  std::vector<std::uint64_t> mapped;
  for (const PoolPoint& point : view_model.pools[0].history) mapped.push_back(point.mapped);
  CHECK(mapped == std::vector<std::uint64_t>{0, 0, 3 << 20, 1 << 20});
  CHECK_FALSE(view_model.pools[1].has_residency());
  CHECK(view_model.peak_bytes == 5 << 20);  // of the device
}

TEST_CASE(
    "memory pools: graphs that share a slab are listed, and a device has the history of its "
    "total") {
  const auto document = test::memory_document();
  const PoolViewModel view_model = pool_view_model(*document, nullptr);
  REQUIRE(view_model.pools.size() == 2);
  CHECK(view_model.pools[0].sharers == "step");
  CHECK(view_model.pools[0].former_sharers == "graph 9");
  CHECK(view_model.pools[1].sharers.empty());
  REQUIRE(view_model.devices.size() == 1);
  CHECK(view_model.devices[0].name == "host (2 threads)");
  CHECK(view_model.devices[0].totals.trims == 1);
  CHECK(view_model.devices[0].peak_buffers == 1 << 20);
  std::vector<std::uint64_t> mapped;
  for (const PoolPoint& point : view_model.devices[0].history) mapped.push_back(point.mapped);
  CHECK(mapped == std::vector<std::uint64_t>{1 << 20, 5 << 20, 2 << 20});
}

TEST_CASE("memory pools: a pool without a label is named in its row and in those of its buffers") {
  auto document = std::make_shared<model::Document>(*test::memory_document());
  auto pools = std::make_shared<std::map<std::uint32_t, trace::PoolState>>(*document->pools);
  pools->at(0).label.clear();
  document->pools = pools;
  const PoolViewModel view_model = pool_view_model(*document, nullptr);
  CHECK(view_model.pools[0].name == "pool 0");
  CHECK(view_model.pools[1].name == "lent");
  CHECK(row_of(view_model, "weights").pool == "pool 0");
}

TEST_CASE(
    "memory pools: every buffer of the trace and of the graph is listed once, of all four kinds") {
  const auto document = test::memory_document();
  const PoolViewModel view_model =
      pool_view_model(*document, document->find(test::kMemoryKey)->graph);
  CHECK(view_model.buffers.size() == 3 + 6);
  CHECK(row_of(view_model, "weights").buffer == test::kBufferWeights);
  CHECK(row_of(view_model, "weights").uses == 1);
  CHECK(row_of(view_model, "weights").pool == "model");
  CHECK(row_of(view_model, "pinned").kind == trace::BufferKind::PinnedHost);
  CHECK(row_of(view_model, "pinned").buffer == kNone);
  CHECK(row_of(view_model, "lent").kind == trace::BufferKind::Foreign);
  CHECK(row_of(view_model, "lent").freed == test::kMemoryBegin + 400);
  CHECK(row_of(view_model, "d").kind == trace::BufferKind::Transient);
  CHECK(row_of(view_model, "d").uses == 2);
  CHECK(row_of(view_model, "unused").uses == 0);
}

TEST_CASE(
    "memory pools: buffers sort by any column, and a filter keeps matching buffers of the graph") {
  const auto document = test::memory_document();
  const PoolViewModel view_model =
      pool_view_model(*document, document->find(test::kMemoryKey)->graph);
  const auto names = [&](BufferOrder order, const std::vector<std::uint8_t>& matches = {}) {
    std::vector<std::string> all;
    for (const std::uint32_t r : ordered_buffers(view_model, order, matches))
      all.push_back(view_model.buffers[r].name);
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

TEST_CASE("axis: ticks are round, in one unit, and at most the requested number") {
  CHECK(texts(byte_ticks(0, 3 * 1024 * 1024, 4)) ==
        std::vector<std::string>{"0 MiB", "1 MiB", "2 MiB", "3 MiB"});
  CHECK(texts(byte_ticks(0, 1536, 3)) ==
        std::vector<std::string>{"0.0 KiB", "0.5 KiB", "1.0 KiB", "1.5 KiB"});
  CHECK(texts(time_ticks(-500, 4'900'000, 5)) ==
        std::vector<std::string>{"0", "1 ms", "2 ms", "3 ms", "4 ms"});
  CHECK(texts(count_ticks(0, 2'500, 3)) == std::vector<std::string>{"0", "1,000", "2,000"});
  CHECK(texts(count_ticks(0, 2, 10)) == std::vector<std::string>{"0", "1", "2"});
  CHECK(byte_ticks(5, 5, 4).empty());
  for (const double length : {1.0, 7.0, 99.0, 1e6, 3e12}) {
    CAPTURE(length);
    CHECK(time_ticks(0, length, 8).size() <= 9);
    CHECK(byte_ticks(0, length, 8).size() <= 9);
  }
  CHECK(time_ticks(3e18, 3e18 + 4096, 8).size() <= 9);  // neighbouring doubles are 512 apart
}

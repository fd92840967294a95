// Documents with a given number of replays of a graph that is a chain of three nodes. Threads: pure
// functions.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "model/document_builder.hpp"

namespace reprise::test {

inline constexpr model::GraphKey kManyReplays{5, 1};
inline constexpr trace::Time kManyReplaysBegin = 1'000'000'000, kManyReplaysStep = 1'000'000;

// Replay `number`: starts every millisecond, 20 us after a launch call of 3 us.
inline trace::Replay make_replay(std::uint64_t number, trace::Time duration) {
  const trace::Time started =
      kManyReplaysBegin + static_cast<trace::Time>(number) * kManyReplaysStep;
  trace::Replay replay;
  replay.graph = kManyReplays.graph;
  replay.version = kManyReplays.version;
  replay.replay = number;
  replay.launched = started - 20'000;
  replay.launch_returned = started - 17'000;
  replay.started = started;
  replay.ended = started + duration;
  return replay;
}

inline trace::GraphVersion make_chain_graph() {
  trace::GraphVersion graph;
  graph.graph = kManyReplays.graph;
  graph.version = kManyReplays.version;
  graph.label = "many";
  graph.strings = {"", "first", "second", "third"};
  graph.labels = {{}};
  for (std::uint32_t n = 0; n < 3; ++n) {
    trace::Node node;
    node.kind = trace::NodeKind::Dispatch;
    node.name = n + 1;
    graph.nodes.push_back(node);
  }
  graph.edges = {{0, 1}, {1, 2}};
  return graph;
}

// A document with replays 1 to `count`; `each` may modify each replay.
inline std::shared_ptr<const model::Document> make_replays_document(
    std::uint64_t count, const std::function<void(trace::Replay&)>& each = {}) {
  model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
  trace::Records records;
  records.graph_versions.push_back(make_chain_graph());
  for (std::uint64_t number = 1; number <= count; ++number) {
    records.replays.push_back(
        make_replay(number, 100'000 + static_cast<trace::Time>(number * 7919 % 1000)));
    if (each) each(records.replays.back());
  }
  builder.add(std::move(records));
  return builder.publish();
}

}  // namespace reprise::test

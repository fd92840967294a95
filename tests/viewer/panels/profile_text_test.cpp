// The text that names the source of node times.
#include <doctest/doctest.h>

#include "model/document_builder.hpp"
#include "panels/inspector/inspector_panel.hpp"
#include "panels/replays/replays_panel.hpp"
#include "panels/widgets/profile_text.hpp"
#include "viewer/panels/panel_fixture.hpp"
#include "viewer/panels/replays_documents.hpp"

using namespace reprise;
using namespace reprise::viewer;
using test::kManyReplays;
using test::PanelFixture;

namespace {

// 100 replays: 11 to 14 sampled by CUPTI, and 51 and 52 by timestamps if requested.
enum class Timestamps : std::uint8_t { No, Yes };
std::shared_ptr<const model::Document> sampled_document(Timestamps timestamps) {
  model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
  trace::Records records;
  records.graph_versions.push_back(test::make_chain_graph());
  for (std::uint64_t number = 1; number <= 100; ++number) {
    trace::Replay replay = test::make_replay(number, 90'000);
    const bool by_cupti = number >= 11 && number <= 14,
               by_timestamps = timestamps == Timestamps::Yes && (number == 51 || number == 52);
    replay.sampled = by_cupti || by_timestamps ? 1 : 0;
    if (replay.sampled != 0) {
      trace::SampleBlock block{
          kManyReplays.graph,
          kManyReplays.version,
          0,
          number,
          by_cupti ? trace::SampleSource::Cupti : trace::SampleSource::Timestamp,
          {}};
      for (std::uint32_t node = 0; node < 3; ++node)
        block.samples.push_back({node, 0, replay.started + 30'000 * node, 20'000, 0});
      records.sample_blocks.push_back(std::move(block));
    }
    records.replays.push_back(replay);
  }
  builder.add(std::move(records));
  return builder.publish();
}

}  // namespace

TEST_CASE("profile text: measured_by() and sampled_text() name the source of node times") {
  const auto document = sampled_document(Timestamps::Yes);
  const model::GraphEntry& entry = *document->find(kManyReplays);
  CHECK(measured_by(entry, entry.replays[10]) == "by CUPTI");
  CHECK(measured_by(entry, entry.replays[50]) == "by device timestamps");
  CHECK(measured_by(entry, entry.replays[0]).empty());
  CHECK(sampled_text(entry, 6) == "6 sampled: 2 by device timestamps, 4 by CUPTI");
  const auto one = sampled_document(Timestamps::No);
  CHECK(sampled_text(*one->find(kManyReplays), 4) == "4 sampled by CUPTI");
  CHECK(sampled_text(model::GraphEntry{}, 0) == "0 sampled");
}

TEST_CASE(
    "profile text: the inspector names the source of a replay, and the strip draws both marks") {
  PanelFixture fixture({420, 3000}, sampled_document(Timestamps::Yes));
  fixture.view.selection = model::SelectedReplay{kManyReplays, 51};
  InspectorPanel inspector(fixture.background);
  fixture.settle(inspector);
  const std::string page = fixture.text([&] { fixture.draw(inspector); });
  CHECK_MESSAGE(page.find("measured by device timestamps") != std::string::npos, page);
  PanelFixture strip({1600, 106}, sampled_document(Timestamps::Yes));
  ReplaysPanel replays(strip.background);
  strip.settle(replays);
  CHECK(strip.is_drawable());
}

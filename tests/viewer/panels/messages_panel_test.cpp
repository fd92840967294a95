#include <doctest/doctest.h>

#include "model/document_builder.hpp"
#include "panels/messages/message_list.hpp"
#include "panels/messages/messages_panel.hpp"
#include "viewer/hand_made_trace.hpp"
#include "viewer/panels/panel_fixture.hpp"

using namespace reprise;
using namespace reprise::viewer;
using reprise::test::HandMadeTrace;
using reprise::test::PanelFixture;

namespace {

constexpr std::uint32_t kAll = 0xff;

// The messages of the hand-made trace, plus an update, an error, an info and a loss.
std::shared_ptr<const model::Document> eventful_document() {
  const auto hand_made = test::hand_made_document();
  model::DocumentBuilder builder(hand_made->samples);
  trace::Records records;
  records.graph_versions.push_back(hand_made->find({HandMadeTrace::kStep, 1})->graph->record());
  for (const trace::Message& message : hand_made->messages) records.messages.push_back(message);
  const trace::Time at = records.messages.front().at;
  records.messages.push_back({at + 1'000, trace::Severity::Error, "out-of-range",
                              "writes beyond its buffer", HandMadeTrace::kStep, 1, 3,
                              trace::kNone});
  records.messages.push_back({at - 1'000, trace::Severity::Info, "hint", "could run side by side",
                              trace::kNone, 0, trace::kNone, trace::kNone});
  records.updates.push_back({at + 2'000, HandMadeTrace::kStep, 1, 2, "grid of saxpy"});
  records.losses.push_back(
      {at + 3'000, trace::LossKind::Replays, 1'234, "the writer could not keep up"});
  builder.add(std::move(records));
  return builder.publish();
}

}  // namespace

TEST_CASE("message list: one list contains all kinds, newest first") {
  const MessageList list = make_message_list(*eventful_document(), {}, kAll);
  REQUIRE(list.lines.size() == 5);
  CHECK(list.all == 5);
  CHECK(list.lines[0].rank == MessageRank::Loss);
  CHECK(list.lines[0].text == "1,234 replays lost: the writer could not keep up");
  CHECK(list.lines[1].rank == MessageRank::Update);
  CHECK(list.lines[2].rank == MessageRank::Error);
  CHECK(list.lines[3].rank == MessageRank::Warning);
  CHECK(list.lines[4].rank == MessageRank::Info);
  for (const MessageRank rank : {MessageRank::Error, MessageRank::Warning, MessageRank::Info,
                                 MessageRank::Update, MessageRank::Loss}) {
    CHECK(list.counts[static_cast<std::size_t>(rank)] == 1);
  }
  CHECK(list.counts[static_cast<std::size_t>(MessageRank::Note)] == 0);
}

TEST_CASE("message list: what the trace lacks is listed as a loss, with the reason") {
  const auto document = test::hand_made_document();
  using model::FeedState;
  CHECK(incomplete_text(*document, {.state = FeedState::Ready}).empty());
  CHECK(incomplete_text(*document, {.state = FeedState::Loading, .reason = "waiting"}).empty());
  const model::FeedStatus cut{.state = FeedState::Ready, .reason = "the file ends in a chunk"};
  CHECK(incomplete_text(*document, cut) == "the file ends in a chunk");
  const MessageList list =
      make_message_list(*document, "incomplete", kAll, {}, incomplete_text(*document, cut));
  REQUIRE(list.lines.size() == 1);
  CHECK(list.lines[0].rank == MessageRank::Loss);
  CHECK(list.lines[0].text == "the file ends in a chunk");

  model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
  trace::Records records;
  records.graph_versions = {document->find({HandMadeTrace::kStep, 1})->graph->record()};
  records.replays = {{HandMadeTrace::kStep, 1, 0, 4, 1'234, 10, 20, 30, 40, 0, 0}};
  builder.add(std::move(records));
  CHECK(incomplete_text(*builder.publish(), {.state = FeedState::Live}) ==
        "step: the trace starts with replay 1,234");
}

TEST_CASE("message list: the end of a graph is not an update") {
  model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
  trace::Records records;
  records.updates.push_back({1'000, HandMadeTrace::kStep, 1, 1, "destroyed after 7 replays"});
  records.updates.push_back({2'000, HandMadeTrace::kStep, 1, 2, "2 kernels changed"});
  builder.add(std::move(records));
  const MessageList list = make_message_list(*builder.publish(), {}, kAll);
  REQUIRE(list.lines.size() == 2);
  CHECK(list.lines[0].rank == MessageRank::Update);
  CHECK(list.lines[0].id == "version 1 to 2");
  CHECK(list.lines[1].rank == MessageRank::Info);
  CHECK(list.lines[1].id == "version 1");
  CHECK(list.counts[static_cast<std::size_t>(MessageRank::Update)] == 1);
}

TEST_CASE("message list: the target of a finding is the node of its command") {
  const MessageList list = make_message_list(*eventful_document(), "beyond", kAll);
  REQUIRE(list.lines.size() == 1);
  CHECK(list.lines[0].target ==
        model::Selection(model::SelectedNode{{HandMadeTrace::kStep, 1}, 3}));
  CHECK(list.lines[0].location == "step, sum, main.cpp:13");
  CHECK(list.all == 5);
}

TEST_CASE("message list: filters by words and kinds do not change the counts") {
  const auto document = eventful_document();
  CHECK(make_message_list(*document, "WRITER keep", kAll).lines.size() == 1);
  CHECK(make_message_list(*document, "nothing like it", kAll).lines.empty());
  const MessageList errors =
      make_message_list(*document, {}, 1u << static_cast<unsigned>(MessageRank::Error));
  CHECK(errors.lines.size() == 1);
  CHECK(errors.counts[static_cast<std::size_t>(MessageRank::Warning)] == 1);
}

TEST_CASE("message list: a long list contains the newest lines and counts the omitted ones") {
  model::DocumentBuilder builder(std::make_shared<model::SampleStore>());
  trace::Records records;
  for (int i = 0; i < 1'200; ++i)
    records.losses.push_back({1'000 + i, trace::LossKind::Events, 1, {}});
  builder.add(std::move(records));
  const MessageList list = make_message_list(*builder.publish(), {}, kAll);
  CHECK(list.lines.size() == kMaxMessageLines);
  CHECK(list.omitted == 1'200 - kMaxMessageLines);
  CHECK(list.lines[0].at == 2'199);
}

TEST_CASE("messages panel: a click on a finding selects its node") {
  PanelFixture fixture({1200, 300}, eventful_document());
  MessagesPanel panel(fixture.background);
  fixture.settle(panel);
  const std::string text = fixture.text([&] { fixture.draw(panel); });
  CHECK(text.find("writes beyond its buffer") != std::string::npos);
  CHECK(text.find("1 error") != std::string::npos);
  // The rows are below the kinds and the header; the error is the third row.
  for (float y = 40; y < 200 && std::holds_alternative<std::monostate>(fixture.view.selection);
       y += 8) {
    fixture.click({500, y}, [&] { fixture.draw(panel); });
  }
  REQUIRE(std::holds_alternative<model::SelectedNode>(fixture.view.selection));
  CHECK(std::get<model::SelectedNode>(fixture.view.selection).node == 3);
  CHECK(fixture.view.reveal_selection);
}

TEST_CASE("messages panel: the list is exported with complete texts") {
  PanelFixture fixture({1200, 300}, eventful_document());
  MessagesPanel panel(fixture.background);
  fixture.settle(panel);
  const std::string text = fixture.csv(panel);
  INFO(text);
  CHECK(text.rfind("Time (ns),Kind,Id,Message,Location\r\n", 0) == 0);
  test::check_in_order(text, {",loss,", "\"1,234 replays lost", ",update,", ",error,out-of-range,",
                              ",info,hint,could run side by side,"});
}

TEST_CASE("messages panel: without messages the panel shows a placeholder") {
  PanelFixture fixture;
  fixture.document = model::DocumentBuilder(std::make_shared<model::SampleStore>()).publish();
  MessagesPanel panel(fixture.background);
  fixture.settle(panel);
  CHECK(fixture.text([&] { fixture.draw(panel); }).find("No messages") != std::string::npos);
}

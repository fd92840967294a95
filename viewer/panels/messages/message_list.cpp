#include "panels/messages/message_list.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "panels/messages/note_bar.hpp"
#include "panels/widgets/format.hpp"
#include "panels/widgets/widgets.hpp"

namespace reprise::viewer {

namespace {

constexpr std::size_t kLateGraphs = 3;  // that incomplete_text() names

MessageRank rank_of(trace::Severity severity) {
  switch (severity) {
    case trace::Severity::Info: return MessageRank::Info;
    case trace::Severity::Warning: return MessageRank::Warning;
    case trace::Severity::Error: return MessageRank::Error;
  }
  return MessageRank::Info;
}

class MessageListBuilder {
 public:
  MessageListBuilder(const model::Document& document, const std::string& filter,
                     std::uint32_t ranks)
      : document_(document), query_(filter), ranks_(ranks) {}

  void add(MessageLine line) {
    ++list_.all;
    ++list_.counts[static_cast<std::size_t>(line.rank)];
    if ((ranks_ >> static_cast<unsigned>(line.rank) & 1) == 0) return;
    if (!query_.matches_text(line.id + " " + line.text + " " + line.location)) return;
    if (line.rank != MessageRank::Note)
      line.at_text = line.at > document_.first
                         ? duration_text(static_cast<double>(line.at - document_.first))
                         : "0 ns";
    list_.lines.push_back(std::move(line));
  }

  MessageLine make_line(const trace::Message& message) const {
    MessageLine line{.at = message.at,
                     .rank = rank_of(message.severity),
                     .id = message.id,
                     .text = message.text};
    const model::GraphEntry* const entry =
        message.graph == trace::kNone ? nullptr : document_.find({message.graph, message.version});
    if (entry == nullptr) return line;
    line.location = entry->graph->name();
    const auto& nodes = entry->graph->record().nodes;
    for (std::uint32_t n = 0; n < nodes.size() && message.command != trace::kNone; ++n) {
      if (nodes[n].command != message.command) continue;
      line.target = model::SelectedNode{entry->graph->key(), n};
      line.location += ", " + entry->graph->node_name(n);
      const std::string source = source_location_text(*entry->graph, nodes[n].file, nodes[n].line);
      if (!source.empty()) line.location += ", " + source;
      break;
    }
    return line;
  }

  MessageLine make_line(const trace::Update& update) const {
    // An event that leaves the version as it is, such as the end of a graph, is no update.
    const bool is_update = update.from_version != update.to_version;
    MessageLine line{.at = update.at,
                     .rank = is_update ? MessageRank::Update : MessageRank::Info,
                     .id = "version " + std::to_string(update.from_version),
                     .text = update.description};
    if (is_update) line.id += " to " + std::to_string(update.to_version);
    const model::GraphEntry* const entry = document_.find({update.graph, update.to_version});
    line.location =
        entry != nullptr ? entry->graph->name() : "graph " + std::to_string(update.graph);
    return line;
  }

  static MessageLine make_line(const trace::Loss& loss) {
    return {.at = loss.at,
            .rank = MessageRank::Loss,
            .id = {},
            .text = count_text(loss.count) + " " + loss_name(loss.kind) + " lost" +
                    (loss.reason.empty() ? "" : ": " + loss.reason)};
  }

  MessageLine make_line(const Note& note) const {
    MessageLine line{.at = std::numeric_limits<trace::Time>::max(),
                     .rank = MessageRank::Note,
                     .id = "note",
                     .text = note.text};
    line.location = note_target_name(document_, note);
    line.target = note_target(document_, note);
    return line;
  }

  MessageList finish() {
    std::stable_sort(list_.lines.begin(), list_.lines.end(),
                     [](const MessageLine& a, const MessageLine& b) { return a.at > b.at; });
    if (list_.lines.size() > kMaxMessageLines) {
      list_.omitted = list_.lines.size() - kMaxMessageLines;
      list_.lines.resize(kMaxMessageLines);
    }
    return std::move(list_);
  }

 private:
  const model::Document& document_;
  model::Query query_;
  std::uint32_t ranks_;
  MessageList list_;
};

}  // namespace

std::string incomplete_text(const model::Document& document, const model::FeedStatus& status) {
  using model::FeedState;
  std::string text;
  const auto add = [&](const std::string& line) { text += (text.empty() ? "" : "\n") + line; };
  const bool is_over = status.state == FeedState::Ready || status.state == FeedState::Ended ||
                       status.state == FeedState::Failed;
  if (is_over && !status.reason.empty()) add(status.reason);
  std::size_t late = 0;
  for (const auto& [key, entry] : document.graphs) {
    // Replays of a graph are numbered from 1, over all its versions.
    const bool is_first =
        key.version == 0 || document.find({key.graph, key.version - 1}) == nullptr;
    if (!is_first || entry.replays.empty() || entry.dropped_replays != 0) continue;
    const std::uint64_t first = entry.replays[0].replay;
    if (first < 2 || ++late > kLateGraphs) continue;
    add(entry.graph->name() + ": the trace starts with replay " + count_text(first));
  }
  if (late > kLateGraphs) add(count_text(late - kLateGraphs) + " more graphs start late");
  return text;
}

MessageList make_message_list(const model::Document& document, const std::string& filter,
                              std::uint32_t ranks, std::span<const Note> notes,
                              const std::string& incomplete) {
  MessageListBuilder builder(document, filter, ranks);
  std::istringstream reasons(incomplete);
  for (std::string line; std::getline(reasons, line);) {
    builder.add({.at = document.last,
                 .rank = MessageRank::Loss,
                 .id = "incomplete",
                 .text = std::move(line)});
  }
  for (const trace::Message& message : document.messages) builder.add(builder.make_line(message));
  for (const trace::Update& update : document.updates) builder.add(builder.make_line(update));
  for (const trace::Loss& loss : document.losses) builder.add(MessageListBuilder::make_line(loss));
  for (const Note& note : notes) builder.add(builder.make_line(note));
  return builder.finish();
}

}  // namespace reprise::viewer

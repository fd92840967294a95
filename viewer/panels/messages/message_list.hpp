// The contents of the messages panel: user notes, followed by validation findings, graph updates
// and losses, newest first. Threads: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/document.hpp"
#include "model/selection.hpp"
#include "model/trace_feed.hpp"
#include "panels/shared/notes.hpp"

namespace reprise::viewer {

enum class MessageRank : std::uint8_t { Error, Warning, Info, Update, Loss, Note };
inline constexpr std::size_t kMessageRanks = 6;

struct MessageLine {
  trace::Time at = 0;
  MessageRank rank = MessageRank::Info;
  std::string id = {}, text = {};
  std::string at_text = {};      // relative to the start of the trace
  std::string location = {};     // "step, saxpy, main.cpp:12"; empty if no graph is involved
  model::Selection target = {};  // the node or replay that a click selects; may be empty
};

struct MessageList {
  std::vector<MessageLine> lines;                     // at most kMaxMessageLines
  std::array<std::uint64_t, kMessageRanks> counts{};  // before filtering
  std::uint64_t all = 0;                              // sum of `counts`
  std::uint64_t omitted = 0;  // older matching lines beyond kMaxMessageLines
};
inline constexpr std::size_t kMaxMessageLines = 500;

// The inputs of the list.
struct MessageListKey {
  std::size_t messages = 0, updates = 0, losses = 0, graphs = 0;
  std::string filter;
  std::uint32_t ranks = 0;
  std::uint64_t notes = 0;  // Notes::revision()
  std::string incomplete;   // PanelContext::incomplete
  friend bool operator==(const MessageListKey&, const MessageListKey&) = default;
};

// What the trace lacks, for PanelContext::incomplete: the end of a file that was cut, what a feed
// could not receive, and replays before the viewer attached.
[[nodiscard]] std::string incomplete_text(const model::Document& document,
                                          const model::FeedStatus& status);

// `filter`: a query, see Query::matches_text(), of id, text and location. `ranks`: a bit mask of
// the MessageRank values to include. `incomplete`: see PanelContext; each line is a loss.
[[nodiscard]] MessageList make_message_list(const model::Document& document,
                                            const std::string& filter, std::uint32_t ranks,
                                            std::span<const Note> notes = {},
                                            const std::string& incomplete = {});

}  // namespace reprise::viewer

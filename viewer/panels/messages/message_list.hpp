// What there is to say of a trace, in one list: findings of the validation, updates of graphs,
// losses, newest first, each with what it is about; and before them the notes that people wrote.
// Threads: pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/document.hpp"
#include "model/selection.hpp"
#include "panels/shared/notes.hpp"

namespace reprise::viewer {

enum class MessageRank : std::uint8_t { Error, Warning, Info, Update, Loss, Note };
inline constexpr std::size_t kMessageRanks = 6;

struct MessageLine {
  trace::Time at = 0;
  MessageRank rank = MessageRank::Info;
  std::string id = {}, text = {};
  std::string at_text = {};     // from the trace's first moment
  std::string place = {};       // "step, saxpy, main.cpp:12"; empty: of no graph
  model::Selection about = {};  // the node of its command; nothing: there is none
};

struct MessageList {
  std::vector<MessageLine> lines;                     // at most kMostMessageLines
  std::array<std::uint64_t, kMessageRanks> counts{};  // of all, whether or not they are in `lines`
  std::uint64_t all = 0, left_out = 0;  // left_out: pass, but are older than those in `lines`
};
inline constexpr std::size_t kMostMessageLines = 500;

// What the list depends on.
struct MessageListKey {
  std::size_t messages = 0, updates = 0, losses = 0, graphs = 0;
  std::string filter;
  std::uint32_t ranks = 0;
  std::uint64_t notes = 0;  // their revision
  friend bool operator==(const MessageListKey&, const MessageListKey&) = default;
};

// `filter`: words, all to be found in id, text or place, whatever their case. `ranks`: a bit each.
[[nodiscard]] MessageList make_message_list(const model::Document& document,
                                            const std::string& filter, std::uint32_t ranks,
                                            std::span<const Note> notes = {});

}  // namespace reprise::viewer

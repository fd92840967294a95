#include "collectives/agreement.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "collectives/call_rules.hpp"

namespace reprise::detail {
namespace {

// A command is a line of fields. Lists in a field are separated by commas, calls by semicolons.
constexpr char kField = '\x1f', kCommand = '\n';

std::string without_controls(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < ' '; }, ' ');
  return text;
}

// Takes the text up to `separator` from the front of `text`.
std::string_view take(std::string_view& text, char separator) {
  const std::size_t at = text.find(separator);
  const std::string_view part = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  return part;
}

std::uint64_t number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty())
    fail(ErrorCode::RankMismatch, Stage::Validate, "",
         "a rank sent a list of collectives that this version of the library cannot read; install "
         "one version on all ranks");
  return value;
}

template <class Enum>
Enum enumerator(std::string_view text, Enum last) {
  const std::uint64_t value = number(text);
  if (value > static_cast<std::uint64_t>(last)) static_cast<void>(number("?"));
  return static_cast<Enum>(value);
}

std::string text_of(const ComparedCommand& command) {
  std::ostringstream out;
  for (const ComparedCall& call : command.calls)
    out << (&call == command.calls.data() ? "" : " with ")
        << describe({call.kind, call.type, call.reduce, call.peer, call.count});
  if (!command.label.empty()) out << ", \"" << command.label << "\"";
  if (!command.location.empty()) out << ", " << command.location;
  return std::move(out).str();
}

// The part of a command that needs both ranks.
struct SharedCommand {
  const ComparedCommand* whole = nullptr;
  std::vector<ComparedCall> common;
  // Type and count of each send to the other rank, and of each receive from it.
  std::vector<std::pair<ElementType, std::uint64_t>> sent, received;
};

std::vector<SharedCommand> shared_with(const RankCommands& own, std::uint32_t other) {
  std::vector<SharedCommand> shared;
  for (const ComparedCommand& command : *own.commands) {
    const auto& members = command.members;
    if (std::find(members.begin(), members.end(), other) == members.end()) continue;
    SharedCommand part{&command, {}, {}, {}};
    for (const ComparedCall& call : command.calls) {
      if (!is_point_to_point(call.kind)) {
        part.common.push_back(call);
      } else if (call.peer == other) {
        (call.kind == CollectiveKind::Send ? part.sent : part.received)
            .emplace_back(call.type, call.count);
      }
    }
    if (!part.common.empty() || !part.sent.empty() || !part.received.empty())
      shared.push_back(std::move(part));
  }
  return shared;
}

bool match(const SharedCommand& a, const SharedCommand& b) {
  return a.whole->communicator == b.whole->communicator && a.common == b.common &&
         a.sent == b.received && a.received == b.sent;
}

}  // namespace

std::string encode(const std::vector<ComparedCommand>& commands) {
  std::ostringstream out;
  for (const ComparedCommand& command : commands) {
    out << command.communicator << kField;
    for (const std::uint32_t member : command.members) out << member << ',';
    out << kField;
    for (const ComparedCall& call : command.calls)
      out << static_cast<unsigned>(call.kind) << ',' << static_cast<unsigned>(call.type) << ','
          << static_cast<unsigned>(call.reduce) << ',' << call.peer << ',' << call.count << ';';
    out << kField << without_controls(command.label) << kField << without_controls(command.location)
        << kCommand;
  }
  return std::move(out).str();
}

std::vector<ComparedCommand> decode(std::string_view text) {
  std::vector<ComparedCommand> commands;
  while (!text.empty()) {
    std::string_view line = take(text, kCommand);
    ComparedCommand& command = commands.emplace_back();
    command.communicator = number(take(line, kField));
    for (std::string_view members = take(line, kField); !members.empty();)
      command.members.push_back(static_cast<std::uint32_t>(number(take(members, ','))));
    for (std::string_view calls = take(line, kField); !calls.empty();) {
      std::string_view fields = take(calls, ';');
      ComparedCall& call = command.calls.emplace_back();
      call.kind = enumerator(take(fields, ','), CollectiveKind::Receive);
      call.type = enumerator(take(fields, ','), ElementType::F64);
      call.reduce = enumerator(take(fields, ','), ReduceOperator::Average);
      call.peer = static_cast<std::uint32_t>(number(take(fields, ',')));
      call.count = number(fields);
    }
    command.label = take(line, kField);
    command.location = line;
  }
  return commands;
}

std::string find_mismatch(const RankCommands& a, const RankCommands& b) {
  const std::vector<SharedCommand> ours = shared_with(a, b.rank), theirs = shared_with(b, a.rank);
  const auto [at, other] =
      std::mismatch(ours.begin(), ours.end(), theirs.begin(), theirs.end(), match);
  if (at == ours.end() && other == theirs.end()) return {};
  if (a.rank == b.rank) {
    return concat("rank ", a.rank, " has ", text_of(*at->whole),
                  ", and does not receive from itself, in the same group, what it sends to itself");
  }
  const auto describe = [](std::uint32_t rank, const SharedCommand* command) {
    return command == nullptr ? concat("rank ", rank, " has no further collective")
                              : concat("rank ", rank, " has ", text_of(*command->whole));
  };
  return concat("collective ", at - ours.begin() + 1, " of ranks ", a.rank, " and ", b.rank,
                " differs: ", describe(a.rank, at == ours.end() ? nullptr : &*at), "; ",
                describe(b.rank, other == theirs.end() ? nullptr : &*other));
}

namespace {

// The other ranks without which a command does not complete.
std::vector<std::uint32_t> partners_of(const ComparedCommand& command, std::uint32_t rank) {
  std::vector<std::uint32_t> partners;
  for (const ComparedCall& call : command.calls) {
    if (is_point_to_point(call.kind)) {
      partners.push_back(call.peer);
    } else {
      partners.insert(partners.end(), command.members.begin(), command.members.end());
    }
  }
  std::ranges::sort(partners);
  partners.erase(std::ranges::unique(partners).begin(), partners.end());
  std::erase(partners, rank);
  return partners;
}

}  // namespace

std::string find_deadlock(std::span<const RankCommands> ranks) {
  struct Rank {
    std::size_t at = 0;
    std::vector<std::size_t> partners;                   // of the command at `at`
    std::unordered_map<std::size_t, std::size_t> begun;  // commands, by partner
  };
  std::unordered_map<std::uint32_t, std::size_t> index_of;
  for (std::size_t i = 0; i < ranks.size(); ++i) index_of[ranks[i].rank] = i;
  std::vector<Rank> state(ranks.size());
  const auto begin = [&](std::size_t i) {
    Rank& rank = state[i];
    rank.partners.clear();
    if (rank.at == ranks[i].commands->size()) return;
    for (const std::uint32_t partner : partners_of((*ranks[i].commands)[rank.at], ranks[i].rank)) {
      const auto known = index_of.find(partner);
      if (known == index_of.end()) continue;
      rank.partners.push_back(known->second);
      ++rank.begun[known->second];
    }
  };
  // The partner that has not begun the command of rank `i`.
  const auto awaited_by = [&](std::size_t i) {
    return std::ranges::find_if(state[i].partners, [&](std::size_t partner) {
      return state[partner].begun[i] < state[i].begun[partner];
    });
  };
  for (std::size_t i = 0; i < ranks.size(); ++i) begin(i);
  for (bool has_moved = true; has_moved;) {
    has_moved = false;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      for (Rank& rank = state[i];
           rank.at < ranks[i].commands->size() && awaited_by(i) == rank.partners.end();
           has_moved = true) {
        ++rank.at;
        begin(i);
      }
    }
  }
  std::size_t next = 0;
  while (next < ranks.size() && state[next].at == ranks[next].commands->size()) ++next;
  if (next == ranks.size()) return {};
  std::vector<std::size_t> path;
  while (std::ranges::find(path, next) == path.end()) {
    path.push_back(next);
    next = *awaited_by(next);
    if (state[next].at == ranks[next].commands->size()) return {};  // the two mismatch
  }
  std::string text = "the ranks wait for each other in a cycle: ";
  for (auto at = std::ranges::find(path, next); at != path.end(); ++at) {
    text += concat("rank ", ranks[*at].rank, " has ",
                   text_of((*ranks[*at].commands)[state[*at].at]), " and waits for rank ",
                   ranks[*awaited_by(*at)].rank, *at == path.back() ? "" : "; ");
  }
  return text;
}

}  // namespace reprise::detail

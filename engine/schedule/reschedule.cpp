#include "schedule/reschedule.hpp"

#include <algorithm>
#include <utility>

#include "base/huge_pages.hpp"
#include "schedule/hazards.hpp"
#include "schedule/matched_commands.hpp"
#include "schedule/reduce.hpp"

namespace reprise::detail {

namespace {

// Where commands are the nodes, and accesses the only reason of edges.
bool has_accesses_alone(const Recording& recording) {
  const auto is_barrier = [](const Command& command) { return command.kind == CommandKind::Barrier; };
  return recording.ordering == Ordering::Inferred && recording.edges.empty() && recording.shapes.empty() &&
         std::none_of(recording.commands.begin(), recording.commands.end(), is_barrier);
}

// Ranges of bytes, by buffer.
class ByteSet {
 public:
  explicit ByteSet(std::size_t buffers) : list_of_(buffers, kNone) {}

  void add(std::uint32_t buffer, std::uint64_t begin, std::uint64_t end) {
    if (begin >= end) return;
    if (list_of_[buffer] == kNone) {
      list_of_[buffer] = static_cast<std::uint32_t>(lists_.size());
      lists_.emplace_back();
    }
    lists_[list_of_[buffer]].push_back({begin, end});
  }
  // After the last add(), before the first touches().
  void finish() {
    for (auto& list : lists_) {
      std::sort(list.begin(), list.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
      std::size_t kept = 0;
      for (const Range& range : list) {
        if (kept != 0 && range.begin <= list[kept - 1].end) {
          list[kept - 1].end = std::max(list[kept - 1].end, range.end);
        } else {
          list[kept++] = range;
        }
      }
      list.resize(kept);
    }
  }
  [[nodiscard]] bool touches(const Recording& recording, const Command& command) const {
    for (std::uint32_t i = 0; i < command.access_count; ++i) {
      const BufferAccess& access = recording.accesses[command.first_access + i];
      if (list_of_[access.buffer] == kNone || access.begin >= access.end) continue;
      const auto& list = lists_[list_of_[access.buffer]];
      const auto above = std::lower_bound(list.begin(), list.end(), access.end, [](const Range& range, std::uint64_t end) { return range.begin < end; });
      if (above != list.begin() && std::prev(above)->end > access.begin) return true;
    }
    return false;
  }

 private:
  struct Range {
    std::uint64_t begin = 0, end = 0;
  };
  std::vector<std::uint32_t> list_of_;     // by buffer; kNone: none
  std::vector<std::vector<Range>> lists_;  // ascending, once finished
};

class Rescheduling {
 public:
  Rescheduling(const Recording& now, const Recording& before, const Schedule& schedule_before, const MatchedCommands& matched)
      : now_(now), before_(before), schedule_before_(schedule_before), matched_(matched), count_(static_cast<std::uint32_t>(now.commands.size())) {}

  std::optional<Schedule> run() {
    if (!find_asked()) return std::nullopt;
    collect_history();
    begin_schedule();
    HazardSweep sweep(history_);
    std::uint32_t visited = 0;
    for (std::uint32_t command = 0; command < count_; ++command) {
      std::span<const Conflict> conflicts;
      if (part_[command] != Part::Neither) conflicts = sweep.visit(visited++);
      schedule_.first_edge[command] = static_cast<std::uint32_t>(schedule_.edges.size());
      if (part_[command] == Part::Asked) {
        add_found(command, conflicts);
      } else {
        add_known(command);
      }
    }
    schedule_.first_edge[count_] = static_cast<std::uint32_t>(schedule_.edges.size());
    reduce(schedule_);
    return std::move(schedule_);
  }

 private:
  // Asked: what it conflicts with is looked for. Seen: those conflict with it, perhaps, or it has a part in the history of their bytes.
  enum class Part : std::uint8_t { Neither, Seen, Asked };

  void add_bytes(ByteSet& bytes, const Command& command) const {
    for (std::uint32_t i = 0; i < command.access_count; ++i) {
      const BufferAccess& access = now_.accesses[command.first_access + i];
      bytes.add(access.buffer, access.begin, access.end);
    }
  }

  // Bytes that none of the commands touches which are new or went have the history that they had.
  [[nodiscard]] bool find_asked() {
    ByteSet changed(now_.buffers.size()), history(now_.buffers.size());
    for (std::uint32_t i = 0; i < count_; ++i) {
      if (matched_.before_of[i] == kNone) add_bytes(changed, now_.commands[i]);
    }
    for (std::uint32_t i = 0; i < before_.commands.size(); ++i) {
      if (matched_.now_of[i] != kNone) continue;
      const Command& gone = before_.commands[i];
      for (std::uint32_t a = 0; a < gone.access_count; ++a) {
        const BufferAccess& access = before_.accesses[gone.first_access + a];
        if (const std::uint32_t buffer = matched_.buffer_now[access.buffer]; buffer != kNone) changed.add(buffer, access.begin, access.end);
      }
    }
    changed.finish();
    part_.assign(count_, Part::Neither);
    std::uint32_t asked = 0;
    for (std::uint32_t i = 0; i < count_; ++i) {
      if (matched_.before_of[i] != kNone && !changed.touches(now_, now_.commands[i])) continue;
      part_[i] = Part::Asked;
      add_bytes(history, now_.commands[i]);
      if (++asked > count_ / 2) return false;
    }
    history.finish();
    for (std::uint32_t i = 0; i < count_; ++i) {
      if (part_[i] == Part::Neither && history.touches(now_, now_.commands[i])) part_[i] = Part::Seen;
    }
    return true;
  }

  // The sweep costs what the commands cost that it looks at: they are a recording of their own, with buffers of its own.
  void collect_history() {
    std::vector<std::uint32_t> number(now_.buffers.size(), kNone);
    for (std::uint32_t i = 0; i < count_; ++i) {
      if (part_[i] == Part::Neither) continue;
      const Command& command = now_.commands[i];
      Command& copy = history_.commands.emplace_back();
      copy.kind = command.kind;
      copy.first_access = static_cast<std::uint32_t>(history_.accesses.size());
      copy.access_count = command.access_count;
      command_of_.push_back(i);
      for (std::uint32_t a = 0; a < command.access_count; ++a) {
        BufferAccess& access = history_.accesses.emplace_back(now_.accesses[command.first_access + a]);
        if (number[access.buffer] == kNone) {
          number[access.buffer] = static_cast<std::uint32_t>(buffer_of_.size());
          buffer_of_.push_back(access.buffer);
        }
        access.buffer = number[access.buffer];
      }
    }
    history_.buffers.resize(buffer_of_.size());
  }

  void begin_schedule() {
    schedule_.node_command.resize(count_);
    for (std::uint32_t i = 0; i < count_; ++i) schedule_.node_command[i] = i;
    schedule_.is_join.assign(count_, 0);
    schedule_.first_edge.resize(std::size_t{count_} + 1);
    reserve_huge(schedule_.edges, schedule_before_.edges.size() + schedule_before_.implied.size() + now_.accesses.size() / 8);
  }

  void add_found(std::uint32_t command, std::span<const Conflict> conflicts) {
    const std::size_t first = schedule_.edges.size();
    for (const Conflict& conflict : conflicts) {
      Edge& edge = schedule_.edges.emplace_back(Edge{command_of_[conflict.from], command, cause_of(conflict)});
      edge.cause.buffer = buffer_of_[conflict.buffer];
    }
    std::sort(schedule_.edges.begin() + static_cast<std::ptrdiff_t>(first), schedule_.edges.end(), [](const Edge& a, const Edge& b) { return a.from < b.from; });
  }

  // The edges that it had, those that others implied included.
  void add_known(std::uint32_t command) {
    const std::uint32_t known = matched_.before_of[command];
    const auto needed = schedule_before_.edges_into(known);
    const auto& implied = schedule_before_.implied;
    auto edge = needed.begin();
    for (; next_implied_ < implied.size() && implied[next_implied_].to <= known; ++next_implied_) {
      const Edge& other = implied[next_implied_];
      if (other.to < known) continue;
      for (; edge != needed.end() && edge->from < other.from; ++edge) add_renumbered(*edge, command);
      add_renumbered(other, command);
    }
    for (; edge != needed.end(); ++edge) add_renumbered(*edge, command);
  }
  void add_renumbered(const Edge& edge, std::uint32_t command) {
    Edge& added = schedule_.edges.emplace_back(edge);
    added.from = matched_.now_of[edge.from];
    added.to = command;
    added.cause.buffer = matched_.buffer_now[edge.cause.buffer];
  }

  const Recording &now_, &before_;
  const Schedule& schedule_before_;
  const MatchedCommands& matched_;
  const std::uint32_t count_;
  std::vector<Part> part_;  // by command
  Recording history_;       // those that are asked or seen
  std::vector<std::uint32_t> command_of_, buffer_of_;  // what those of history_ are here
  std::size_t next_implied_ = 0;
  Schedule schedule_;
};

}  // namespace

std::optional<Schedule> reschedule(const Recording& now, const Recording& before, const Schedule& schedule_before) {
  if (!has_accesses_alone(now) || !has_accesses_alone(before)) return std::nullopt;
  const std::optional<MatchedCommands> matched = match_commands(now, before);
  if (!matched) return std::nullopt;
  return Rescheduling(now, before, schedule_before, *matched).run();
}

}  // namespace reprise::detail

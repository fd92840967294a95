#include "validate/check_uses.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <vector>

#include "base/text.hpp"
#include "dependencies/describe.hpp"

namespace reprise::detail {

namespace {

std::span<const BufferAccess> accesses_of(const Recording& recording, const Command& command) {
  return {recording.accesses.data() + command.first_access, command.access_count};
}

// Kernels and transfers have no effect but their declared writes.
bool has_declared_effects_only(CommandKind kind) {
  switch (kind) {
    case CommandKind::Dispatch:
    case CommandKind::Copy:
    case CommandKind::Fill:
    case CommandKind::Update: return true;
    case CommandKind::Host:
    case CommandKind::Op:
    case CommandKind::Barrier:
    case CommandKind::Nested:
    case CommandKind::Conditional: break;
  }
  return false;
}

// Reports a transient that nothing reads if it is all that its writers write: a kernel may use a
// transient as scratch memory, or have a result that is not needed here.
void report_unread_transients(const Recording& recording, Findings& findings) {
  std::vector<std::uint8_t> is_needed(recording.buffers.size(), 0);
  std::vector<std::uint32_t> writer(recording.buffers.size(), kNone);  // the first
  for (std::uint32_t i = 0; i < recording.commands.size(); ++i) {
    const auto accesses = accesses_of(recording, recording.commands[i]);
    std::uint32_t written = kNone;
    bool is_only_effect = has_declared_effects_only(recording.commands[i].kind);
    for (const BufferAccess& access : accesses) {
      if (!writes(access.access)) continue;
      is_only_effect = is_only_effect && (written == kNone || written == access.buffer);
      written = access.buffer;
    }
    for (const BufferAccess& access : accesses) {
      if (reads(access.access) || !is_only_effect) is_needed[access.buffer] = 1;
      if (writer[access.buffer] == kNone) writer[access.buffer] = i;
    }
  }
  for (std::size_t b = 0; b < is_needed.size(); ++b) {
    const BufferCore& buffer = *recording.buffers[b];
    if (is_needed[b] != 0 || writer[b] == kNone || buffer.kind != BufferKind::Transient) continue;
    findings.add(Rule::TransientNeverRead, writer[b],
                 concat("it writes ", describe_buffer(buffer),
                        ", a transient that no command reads, and nothing else; transients do not "
                        "outlive the replay. Remove it, or declare the missing read"));
  }
}

// Follows the bytes that no command has read since they were written.
class DeadWrites {
 public:
  DeadWrites(const Recording& recording, Findings& findings)
      : recording_(recording),
        findings_(findings),
        unread_(recording.buffers.size()),
        writers_(recording.commands.size()),
        buffers_of_(recording.places.size()) {
    for (const MemoryPlace& place : recording.places) ++buffers_of_[place.memory];
  }

  void run() {
    for (std::uint32_t i = 0; i < recording_.commands.size(); ++i) visit(i);
  }

 private:
  struct Writer {
    std::uint64_t bytes = 0;  // written and not overwritten
    bool is_needed = false;
  };
  struct Segment {
    std::uint64_t end = 0;
    std::uint32_t writer = 0;
  };
  using Segments = std::map<std::uint64_t, Segment>;  // by first byte; disjoint

  [[nodiscard]] bool shares_memory(std::uint32_t buffer) const {
    return !buffers_of_.empty() && buffers_of_[recording_.places[buffer].memory] > 1;
  }
  // Others may access memory of the application and pinned memory during a replay.
  [[nodiscard]] bool is_private(const BufferAccess& access) const {
    const BufferCore& buffer = *recording_.buffers[access.buffer];
    return buffer.kind == BufferKind::Transient ||
           (buffer.kind == BufferKind::Device && !buffer.is_adopted &&
            !shares_memory(access.buffer));
  }

  void visit(std::uint32_t command) {
    const Command& c = recording_.commands[command];
    const auto accesses = accesses_of(recording_, c);
    // A kernel may write less than it declares.
    const bool writes_every_byte =
        has_declared_effects_only(c.kind) && c.kind != CommandKind::Dispatch;
    const bool may_be_dead =
        has_declared_effects_only(c.kind) &&
        std::all_of(accesses.begin(), accesses.end(), [this](const BufferAccess& access) {
          return !writes(access.access) || is_private(access);
        });
    for (const BufferAccess& access : accesses) {
      if (reads(access.access)) need(access);
    }
    for (const BufferAccess& access : accesses) {
      if (!writes(access.access) || access.begin == access.end || !is_private(access)) continue;
      if (writes_every_byte && access.shape == 0) {
        overwrite(access, command);
      } else {
        need(access);
      }
      if (!may_be_dead) continue;
      unread_[access.buffer].emplace(access.begin, Segment{access.end, command});
      writers_[command].bytes += access.end - access.begin;
    }
  }

  // Removes the access's bytes. Calls visit(writer, command, bytes) for each segment that had some.
  template <class Visit>
  void cut(const BufferAccess& access, Visit visit) {
    Segments& segments = unread_[access.buffer];
    auto at = segments.upper_bound(access.begin);
    if (at != segments.begin() && std::prev(at)->second.end > access.begin) --at;
    while (at != segments.end() && at->first < access.end) {
      const std::uint64_t begin = at->first;
      const Segment segment = at->second;
      at = segments.erase(at);
      if (begin < access.begin) segments.emplace(begin, Segment{access.begin, segment.writer});
      if (segment.end > access.end)
        segments.emplace(access.end, Segment{segment.end, segment.writer});
      visit(writers_[segment.writer], segment.writer,
            std::min(segment.end, access.end) - std::max(begin, access.begin));
    }
  }

  void need(const BufferAccess& access) {
    cut(access, [](Writer& writer, std::uint32_t, std::uint64_t) { writer.is_needed = true; });
  }

  void overwrite(const BufferAccess& access, std::uint32_t by) {
    cut(access, [&](Writer& writer, std::uint32_t command, std::uint64_t bytes) {
      writer.bytes -= bytes;
      if (writer.bytes != 0 || writer.is_needed || !findings_.count(Rule::DeadWrite)) return;
      findings_.add_counted(
          Rule::DeadWrite, command, by,
          concat(describe_command(recording_, command),
                 " has no effect: no command reads the bytes that it writes before ",
                 describe_command(recording_, by),
                 " overwrites them. Remove it, or declare the missing read"));
    });
  }

  const Recording& recording_;
  Findings& findings_;
  std::vector<Segments> unread_;  // by buffer
  std::vector<Writer> writers_;   // by command
  std::vector<std::uint32_t> buffers_of_;  // number by memory; empty: no two buffers share bytes
};

}  // namespace

void check_uses(const Recording& recording, Findings& findings) {
  report_unread_transients(recording, findings);
  if (recording.ordering != Ordering::Explicit) DeadWrites(recording, findings).run();
}

}  // namespace reprise::detail

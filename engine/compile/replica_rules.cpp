#include "compile/replica_rules.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "record/rank_agreement.hpp"

namespace reprise::detail {
namespace {

[[noreturn]] void refuse(const Recording& recording, std::uint32_t command, ErrorCode code,
                         const std::string& text) {
  ErrorDetails details;
  details.code = code;
  details.stage = Stage::Validate;
  details.command = command;
  details.label = recording.label_path(recording.commands[command].label);
  throw Error(std::move(details), text);
}

// Whether the buffer orders the collectives of all replicas, instead of holding data of theirs.
bool is_order_of_collectives(const Recording& recording, std::uint32_t command,
                             const BufferCore& buffer) {
  if (recording.commands[command].kind != CommandKind::Op) return false;
  const GraphOp& op = *recording.ops[recording.payload<OpPayload>(command).op]->op;
  const RankAgreement* const ranks = ranks_of(op);
  return ranks != nullptr && core_of(ranks->order()).get() == &buffer;
}

bool writes_callers_memory(const Recording& recording, std::uint32_t command) {
  if (recording.commands[command].kind != CommandKind::Copy) return false;
  const Endpoint& to = recording.payload<CopyPayload>(command).destination;
  return to.buffer == kNone;
}

// The order of the commands is the same in all replicas, so what replicas use instead of a buffer
// must not be memory of another buffer of the recording.
void require_separate_copies(const Recording& recording, std::uint32_t replicas,
                             std::string_view graph) {
  const auto has_copies = [](const auto& buffer) { return !buffer->copies.empty(); };
  if (std::none_of(recording.buffers.begin(), recording.buffers.end(), has_copies)) return;
  struct Copy {
    const BufferCore* memory;
    std::uint32_t buffer, number;
  };
  std::vector<Copy> copies;  // by address
  for (std::uint32_t b = 0; b < recording.buffers.size(); ++b) {
    const BufferCore& buffer = *recording.buffers[b];
    if (buffer.address == nullptr) continue;
    copies.push_back({&buffer, b, 0});
    for (std::uint32_t i = 1; i < std::min<std::size_t>(replicas, buffer.copies.size() + 1); ++i)
      copies.push_back({buffer.copies[i - 1].get(), b, i});
  }
  std::sort(copies.begin(), copies.end(), [](const Copy& a, const Copy& b) {
    return std::less<>()(a.memory->address, b.memory->address);
  });
  const Copy* last = nullptr;  // of those so far, the one that ends last
  for (const Copy& copy : copies) {
    if (last != nullptr && last->buffer != copy.buffer && last->number + copy.number != 0 &&
        overlaps(*last->memory, copy.memory->address, copy.memory->bytes)) {
      const Copy& one = copy.number != 0 ? copy : *last;
      const Copy& other = copy.number != 0 ? *last : copy;
      fail(ErrorCode::NotPerReplica, Stage::Validate, graph,
           concat("graph ", graph, " with ", replicas, " replicas uses ",
                  display_name(*recording.buffers[other.buffer]), ", which is the memory of copy ",
                  one.number, " of ", display_name(*recording.buffers[one.buffer]),
                  ", and commands of replica ", one.number,
                  " are not ordered for that; name only one of them"));
    }
    if (last == nullptr ||
        last->memory->address + last->memory->bytes < copy.memory->address + copy.memory->bytes)
      last = &copy;
  }
}

}  // namespace

void require_per_replica(const Recording& recording, std::uint32_t replicas,
                         std::string_view graph) {
  if (replicas <= 1) return;
  require_separate_copies(recording, replicas, graph);
  for (std::uint32_t command = 0; command < recording.commands.size(); ++command) {
    const Command& c = recording.commands[command];
    const auto subject = [&] {
      return concat("graph ", graph, " with ", replicas, " replicas: command ", command, ", ",
                    recording.command_name(command));
    };
    if (writes_callers_memory(recording, command)) {
      refuse(
          recording, command, ErrorCode::NotPerReplica,
          concat(subject(),
                 ", writes memory of the caller, which all replicas would write at the same time; "
                 "copy to a pinned buffer, CapturePool::host with PerReplica, instead"));
    }
    for (std::uint32_t a = c.first_access; a < c.first_access + c.access_count; ++a) {
      const BufferAccess& access = recording.accesses[a];
      const BufferCore& buffer = *recording.buffers[access.buffer];
      if (buffer.kind == BufferKind::Transient || buffer.kind == BufferKind::Condition) continue;
      if (is_order_of_collectives(recording, command, buffer)) continue;
      const std::size_t copies = buffer.copies.size() + 1;
      if (copies < replicas && (copies > 1 || writes(access.access))) {
        refuse(recording, command, ErrorCode::NotPerReplica,
               copies > 1 ? concat(subject(), ", uses ", display_name(buffer), ", which has only ",
                                   copies, " copies; allocate it with PerReplica{", replicas, "}")
                          : concat(subject(), ", writes ", display_name(buffer),
                                   ", which all replicas would write at the same time; allocate it "
                                   "with PerReplica{",
                                   replicas, "}"));
      }
      if (copies > 1 && c.kind == CommandKind::Host) {
        refuse(recording, command, ErrorCode::Unsupported,
               concat(subject(), ", is a function that captured one copy of ", display_name(buffer),
                      ", which every replica would use"));
      }
    }
  }
  for (const auto& body : recording.bodies) require_per_replica(*body, replicas, graph);
}

}  // namespace reprise::detail

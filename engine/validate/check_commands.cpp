#include "validate/check_commands.hpp"

#include <string>

#include "base/text.hpp"
#include "dependencies/describe.hpp"

namespace reprise::detail {

namespace {

// The first command that uses a buffer or kernel; empty if unused.
std::optional<std::uint32_t> first_user_of_buffer(const Recording& recording,
                                                  std::uint32_t buffer) {
  for (std::uint32_t i = 0; i < recording.commands.size(); ++i) {
    const Command& c = recording.commands[i];
    if (c.kind == CommandKind::Barrier && recording.payload<BarrierPayload>(i).buffer == buffer)
      return i;
    for (std::uint32_t a = 0; a < c.access_count; ++a) {
      if (recording.accesses[c.first_access + a].buffer == buffer) return i;
    }
  }
  return std::nullopt;
}

std::optional<std::uint32_t> first_user_of_kernel(const Recording& recording,
                                                  std::uint32_t kernel) {
  for (std::uint32_t i = 0; i < recording.commands.size(); ++i) {
    if (recording.commands[i].kind == CommandKind::Dispatch &&
        recording.payload<DispatchPayload>(i).kernel == kernel)
      return i;
  }
  return std::nullopt;
}

void add_handle_finding(const Recording& recording, Rule rule, std::optional<std::uint32_t> user,
                        const std::string& text, Findings& findings) {
  if (!findings.count(rule)) return;
  findings.add_counted(rule, user, std::nullopt,
                       user ? concat(describe_command(recording, *user), ": ", text) : text);
}

bool is_foreign(const Recording& recording, const std::shared_ptr<DeviceStatus>& device) {
  return recording.device && device != recording.device;
}

void add_range(const Recording& recording, std::uint32_t command, std::uint32_t buffer,
               std::uint64_t begin, std::uint64_t end, Findings& findings) {
  const BufferCore& core = *recording.buffers[buffer];
  findings.add(Rule::RangeOutOfBounds, command,
               concat(describe_range(core, begin, end), " exceed its ", core.bytes,
                      " bytes. Use a smaller range or a larger buffer"));
}

void check_pitch(Rule rule, std::uint32_t command, const Extent& extent, const Pitch& pitch,
                 const DeviceLimits& limits, Findings& findings) {
  if ((extent.height == 1 && extent.depth == 1) || pitch.row <= limits.max_pitch) return;
  findings.add(
      rule, command,
      limits.max_pitch == 0
          ? std::string("the device supports no pitched copies and fills. Use one command per row")
          : concat("the row pitch is ", pitch.row, " bytes; the device allows ", limits.max_pitch,
                   ". Use one command per row"));
}

void check_copy(const Recording& recording, std::uint32_t command, const DeviceLimits& limits,
                Findings& findings) {
  const auto& copy = recording.payload<CopyPayload>(command);
  const Command& c = recording.commands[command];
  if (c.access_count == 2) {
    const BufferAccess& from = recording.accesses[c.first_access];
    const BufferAccess& to = recording.accesses[c.first_access + 1];
    if (overlaps(recording, recording.in_memory(from), recording.in_memory(to))) {
      findings.add(
          Rule::CopyOverlap, command,
          concat("source ", describe_range(*recording.buffers[from.buffer], from.begin, from.end),
                 " and destination ",
                 describe_range(*recording.buffers[to.buffer], to.begin, to.end),
                 " share bytes. Copy through another buffer"));
    }
  }
  if (!findings.checks(Validation::Basic)) return;
  check_pitch(Rule::CopyPitchTooLarge, command, copy.extent, copy.source_pitch, limits, findings);
  check_pitch(Rule::CopyPitchTooLarge, command, copy.extent, copy.destination_pitch, limits,
              findings);
}

void check_fill(const Recording& recording, std::uint32_t command, const DeviceLimits& limits,
                Findings& findings) {
  if (!findings.checks(Validation::Basic)) return;
  const auto& fill = recording.payload<FillPayload>(command);
  check_pitch(Rule::FillPitchTooLarge, command, fill.extent, fill.pitch, limits, findings);
  const std::uint64_t element = fill.element_bytes;
  const bool is_size = element == 1 || element == 2 || element == 4;
  const bool has_rows = fill.extent.height > 1 || fill.extent.depth > 1;
  if (!is_size || fill.offset % element != 0 || fill.extent.width % element != 0 ||
      (has_rows && fill.pitch.row % element != 0)) {
    findings.add(Rule::FillElementInvalid, command,
                 concat("elements of ", element, " bytes do not fit ", fill.extent.width,
                        " bytes at offset ", fill.offset, " with a row pitch of ", fill.pitch.row,
                        " bytes. Elements have 1, 2 or 4 bytes; offset, width and pitch must be "
                        "multiples of the element size"));
  }
}

}  // namespace

void check_handles(const Recording& recording, Findings& findings) {
  for (std::uint32_t b = 0; b < recording.buffers.size(); ++b) {
    const BufferCore& buffer = *recording.buffers[b];
    if (is_foreign(recording, buffer.device)) {
      add_handle_finding(
          recording, Rule::DeviceForeign, first_user_of_buffer(recording, b),
          concat(describe_buffer(buffer),
                 " belongs to another device than the command buffer. Allocate it from a "
                 "pool of the same device"),
          findings);
    } else if (buffer.is_stale()) {
      add_handle_finding(recording, Rule::HandleStale, first_user_of_buffer(recording, b),
                         concat(describe_buffer(buffer),
                                " is stale: its pool was cleared or its device was lost. Record "
                                "again with a new one"),
                         findings);
    }
  }
  for (std::uint32_t k = 0; k < recording.kernels.size(); ++k) {
    const KernelCore& kernel = *recording.kernels[k];
    if (is_foreign(recording, kernel.device)) {
      add_handle_finding(
          recording, Rule::DeviceForeign, first_user_of_kernel(recording, k),
          concat("kernel ", kernel.name,
                 " belongs to another device than the command buffer. Load it on the same device"),
          findings);
    } else if (kernel.is_stale()) {
      add_handle_finding(recording, Rule::HandleStale, first_user_of_kernel(recording, k),
                         concat("kernel ", kernel.name,
                                " is stale: its device was lost or shut down. Load it again and "
                                "record again"),
                         findings);
    }
  }
  for (const UserEdge& edge : recording.edges) {
    for (const std::uint32_t end : {edge.before, edge.after}) {
      const bool is_command = end < recording.commands.size();
      if ((is_command && recording.commands[end].kind != CommandKind::Barrier) ||
          !findings.count(Rule::EdgeInvalid))
        continue;
      findings.add_counted(
          Rule::EdgeInvalid, end, std::nullopt,
          concat("an edge (", edge.where.file, ':', edge.where.line, ") names command ", end,
                 ", which is ", is_command ? "a barrier" : "not in this command buffer",
                 ". Use a CommandRef that this command buffer returned"));
    }
  }
}

void check_commands(const Recording& recording, const DeviceLimits& limits, Findings& findings) {
  std::vector<std::uint64_t> bytes;
  bytes.reserve(recording.buffers.size());
  for (const auto& buffer : recording.buffers) bytes.push_back(buffer->bytes);
  for (std::uint32_t i = 0; i < recording.commands.size(); ++i) {
    const Command& c = recording.commands[i];
    for (std::uint32_t a = 0; a < c.access_count; ++a) {
      const BufferAccess& access = recording.accesses[c.first_access + a];
      if (access.begin > access.end || access.end > bytes[access.buffer])
        add_range(recording, i, access.buffer, access.begin, access.end, findings);
    }
    switch (c.kind) {
      case CommandKind::Dispatch: check_dispatch(recording, i, limits, findings); break;
      case CommandKind::Copy: check_copy(recording, i, limits, findings); break;
      case CommandKind::Fill: check_fill(recording, i, limits, findings); break;
      case CommandKind::Barrier: {
        const auto& barrier = recording.payload<BarrierPayload>(i);
        if (barrier.buffer != kNone &&
            (barrier.begin > barrier.end || barrier.end > bytes[barrier.buffer])) {
          add_range(recording, i, barrier.buffer, barrier.begin, barrier.end, findings);
        }
        break;
      }
      case CommandKind::Update:
      case CommandKind::Host:
      case CommandKind::Op:
      case CommandKind::Nested:
      case CommandKind::Conditional: break;
    }
  }
}

}  // namespace reprise::detail

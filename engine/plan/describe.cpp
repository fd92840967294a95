#include "plan/describe.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace reprise::detail {

namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

std::string_view hazard_name(Hazard hazard) {
  switch (hazard) {
    case Hazard::ReadAfterWrite: return "RAW";
    case Hazard::WriteAfterRead: return "WAR";
    case Hazard::WriteAfterWrite: return "WAW";
  }
  return "?";
}

}  // namespace

std::string hex(std::uint64_t value) {
  std::string out = "0x";
  for (int shift = 60; shift >= 0; shift -= 4) out += kDigits[(value >> shift) & 15];
  return out;
}

std::string range_text(std::uint64_t begin, std::uint64_t end) {
  return concat('[', begin, ", ", end, ')');
}

std::string_view access_name(Access access) {
  switch (access) {
    case Access::Read: return "read";
    case Access::Write: return "write";
    case Access::ReadWrite: return "read_write";
  }
  return "?";
}

std::string_view kind_name(BufferKind kind) {
  switch (kind) {
    case BufferKind::Device: return "device";
    case BufferKind::Transient: return "transient";
    case BufferKind::PinnedHost: return "pinned host";
    case BufferKind::Condition: return "condition";
    case BufferKind::BorrowedHost: return "borrowed host";
  }
  return "?";
}

std::string_view ordering_name(Ordering ordering) {
  switch (ordering) {
    case Ordering::Inferred: return "inferred";
    case Ordering::Explicit: return "explicit";
    case Ordering::Linear: return "linear";
  }
  return "?";
}

std::string cause_text(const Recording& recording, const EdgeCause& cause) {
  switch (cause.kind) {
    case CauseKind::Hazard:
      return concat(hazard_name(cause.hazard), ' ', display_name(*recording.buffers[cause.buffer]),
                    ' ', range_text(cause.begin, cause.end));
    case CauseKind::Barrier:
      return concat(
          recording.payload<BarrierPayload>(cause.barrier).dependency == Dependency::Programmatic
              ? "programmatic barrier "
              : "barrier ",
          cause.barrier,
          cause.buffer == kNone ? std::string()
                                : concat(" on ", display_name(*recording.buffers[cause.buffer])));
    case CauseKind::User: return "edge()";
    case CauseKind::Linear: return "recorded order";
    case CauseKind::Captured: return "captured";
  }
  return "?";
}

const Edge* find_edge(const DependencyGraph& dependencies, std::uint32_t from, std::uint32_t to) {
  const auto edges = dependencies.edges_into(to);
  const auto found =
      std::lower_bound(edges.begin(), edges.end(), from,
                       [](const Edge& edge, std::uint32_t node) { return edge.from < node; });
  return found != edges.end() && found->from == from ? &*found : nullptr;
}

std::string location_text(const SourceLocation& where) {
  const std::string_view file = where.file;
  const std::size_t folder = file.find_last_of("/\\");
  return concat(folder == std::string_view::npos ? file : file.substr(folder + 1), ':', where.line);
}

}  // namespace reprise::detail

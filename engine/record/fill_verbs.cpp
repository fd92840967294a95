// RecorderCore::fill and update: commands that write one buffer.
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "record/recorder_core.hpp"

namespace reprise::detail {

CommandRef RecorderCore::fill(const BufferView& destination, std::uint32_t bits,
                              std::uint32_t element_bytes, Extent extent, Pitch pitch,
                              SourceLocation where) {
  const Verb verb{"fill", where};
  require_recording(verb);
  check_memory(verb, destination, "destination");
  const auto name = [&] { return display_name(*core_of(destination)); };
  if (element_bytes != 1 && element_bytes != 2 && element_bytes != 4) {
    fail(verb, ErrorCode::InvalidArgument,
         concat("elements of ", element_bytes, " bytes for ", name(),
                "; a fill sets elements of 1, 2 or 4 bytes"));
  }
  if (extent.depth != 1) {
    fail(verb, ErrorCode::InvalidArgument,
         concat("extent.depth is ", extent.depth, " for ", name(),
                "; a fill has one slice, record one fill per slice"));
  }
  const std::uint64_t needed = checked_span(verb, "destination", extent, pitch);
  const auto check_multiple = [&](std::uint64_t value, std::string_view role) {
    if (value % element_bytes == 0) return;
    fail(verb, ErrorCode::InvalidArgument,
         concat(role, " of ", value, " bytes in ", name(),
                " is not a multiple of the element size of ", element_bytes, " bytes"));
  };
  check_multiple(extent.width, "a row");
  check_multiple(pitch.row, "the row pitch");
  check_multiple(destination.offset(), "an offset");
  if (needed > destination.bytes()) {
    fail(verb, ErrorCode::OutOfRange,
         concat("the extent needs ", needed, " bytes (", extent.width, " bytes x ", extent.height,
                " rows, row pitch ", pitch.row, ") and the destination ", name(), " has ",
                destination.bytes()));
  }
  if (is_dense(extent, pitch)) {
    extent = {needed, 1, 1};
    pitch = {needed, needed};
  }

  if (element_bytes < sizeof bits) bits &= (1u << 8 * element_bytes) - 1;

  const FillPayload* payload = nullptr;
  transact(1, [&](Arena& arena) {
    BufferAccess* const access = lists_.accesses.reserve(arena, 1);
    const std::uint32_t buffer = intern(core_of(destination));
    write_access(access, buffer, Access::Write, destination.offset(), extent, pitch);
    payload =
        arena.make<FillPayload>(buffer, destination.offset(), bits, element_bytes, extent, pitch);
  });
  return commit(CommandKind::Fill, payload, 1, where);
}

CommandRef RecorderCore::update(const BufferView& destination, std::span<const std::byte> bytes,
                                SourceLocation where) {
  const Verb verb{"update", where};
  require_recording(verb);
  check_memory(verb, destination, "destination");
  if (bytes.empty()) {
    fail(verb, ErrorCode::InvalidArgument,
         concat("no bytes for ", display_name(*core_of(destination)), "; omit the command"));
  }
  if (bytes.data() == nullptr) {
    fail(
        verb, ErrorCode::InvalidArgument,
        concat(bytes.size(), " bytes at a null address for ", display_name(*core_of(destination))));
  }
  if (bytes.size() > Recorder::kMaxUpdateBytes) {
    fail(verb, ErrorCode::InvalidArgument,
         concat(bytes.size(), " bytes for ", display_name(*core_of(destination)),
                " and the limit is ", Recorder::kMaxUpdateBytes, "; copy a snapshot() instead"));
  }
  if (bytes.size() > destination.bytes()) {
    fail(verb, ErrorCode::OutOfRange,
         concat(bytes.size(), " bytes exceed the ", destination.bytes(),
                " bytes of the destination ", display_name(*core_of(destination))));
  }

  const UpdatePayload* payload = nullptr;
  transact(1, [&](Arena& arena) {
    BufferAccess* const access = lists_.accesses.reserve(arena, 1);
    const std::byte* const data = arena.copy_bytes(bytes.data(), bytes.size());
    const std::uint32_t buffer = intern(core_of(destination));
    *access = {buffer, Access::Write, 0, destination.offset(), destination.offset() + bytes.size()};
    payload = arena.make<UpdatePayload>(buffer, destination.offset(), bytes.size(), data);
  });
  return commit(CommandKind::Update, payload, 1, where);
}

}  // namespace reprise::detail

// RecorderCore::copy: flat and pitched copies between buffers and host memory.
#include <algorithm>

#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "record/recorder_core.hpp"

namespace reprise::detail {

namespace {

std::uint64_t side_bytes(const CopySide& side) {
  return side.view != nullptr ? side.view->bytes() : side.host->bytes;
}

std::string side_name(const CopySide& side) {
  if (side.view != nullptr) return display_name(*core_of(*side.view));
  return side.host->lifetime == HostBytes::Lifetime::Snapshot ? "snapshot" : "borrowed host memory";
}

// The address of the first byte; nullopt for a transient and a snapshot.
std::optional<std::uint64_t> address_of(const CopySide& side) {
  if (side.view != nullptr) {
    const std::byte* const address = core_of(*side.view)->address;
    if (address == nullptr) return std::nullopt;
    return reinterpret_cast<std::uintptr_t>(address) + side.view->offset();
  }
  if (side.host->lifetime == HostBytes::Lifetime::Snapshot) return std::nullopt;
  return reinterpret_cast<std::uintptr_t>(side.host->data);
}

void make_flat(CopyPayload& copy) {
  copy.extent = {copy.extent.width * copy.extent.height * copy.extent.depth, 1, 1};
  copy.source_pitch = copy.destination_pitch = {copy.extent.width, copy.extent.width};
}

}  // namespace

CommandRef RecorderCore::copy(const CopySide& source, const CopySide& destination,
                              SourceLocation where) {
  const Verb verb{"copy", where};
  require_recording(verb);
  if (source.view != nullptr) check_memory(verb, *source.view, "source");
  if (destination.view != nullptr) check_memory(verb, *destination.view, "destination");
  const std::uint64_t bytes = side_bytes(source);
  if (bytes != side_bytes(destination)) {
    fail(verb, ErrorCode::OutOfRange,
         concat("the source ", side_name(source), " has ", bytes, " bytes, the destination ",
                side_name(destination), ' ', side_bytes(destination),
                "; sizes must be equal, take a subview of the larger one"));
  }
  return record_copy(verb, source, destination,
                     {.source = {},
                      .destination = {},
                      .extent = {bytes, 1, 1},
                      .source_pitch = {},
                      .destination_pitch = {}});
}

CommandRef RecorderCore::copy(const CopySide& source, const CopySide& destination,
                              const CopyDesc& desc, SourceLocation where) {
  const Verb verb{"copy", where};
  require_recording(verb);
  if (source.view != nullptr) check_memory(verb, *source.view, "source");
  if (destination.view != nullptr) check_memory(verb, *destination.view, "destination");
  return record_copy(verb, source, destination,
                     {.source = {},
                      .destination = {},
                      .extent = desc.extent,
                      .source_pitch = desc.source,
                      .destination_pitch = desc.destination});
}

CommandRef RecorderCore::record_copy(const Verb& verb, const CopySide& source,
                                     const CopySide& destination, CopyPayload payload) {
  if (destination.host != nullptr && !destination.host->writable) {
    const bool is_snapshot = destination.host->lifetime == HostBytes::Lifetime::Snapshot;
    fail(verb, ErrorCode::InvalidArgument,
         is_snapshot ? "the destination is a snapshot, whose bytes were taken while recording; use "
                       "borrowed(bytes)"
                     : "the destination is borrowed constant memory; borrow writable bytes");
  }
  check_copy_side(verb, source, "source", payload.extent, payload.source_pitch);
  check_copy_side(verb, destination, "destination", payload.extent, payload.destination_pitch);
  if (is_dense(payload.extent, payload.source_pitch) &&
      is_dense(payload.extent, payload.destination_pitch)) {
    make_flat(payload);
  }
  check_no_overlap(verb, source, destination, payload);

  const CopyPayload* recorded = nullptr;
  std::uint32_t access_count = 0;
  transact(1, [&](Arena& arena) {
    BufferAccess* const accesses = lists_.accesses.reserve(arena, 2);
    const auto add_side = [&](const CopySide& side, Endpoint& endpoint, const Pitch& pitch,
                              Access access) {
      if (side.view != nullptr) {
        endpoint.buffer = intern(core_of(*side.view));
        endpoint.offset = side.view->offset();
        write_access(accesses + access_count++, endpoint.buffer, access, endpoint.offset,
                     payload.extent, pitch);
        return;
      }
      endpoint.lifetime = side.host->lifetime;
      switch (endpoint.lifetime) {
        case HostBytes::Lifetime::Snapshot:
          endpoint.host = arena.copy_bytes(side.host->data, *span_bytes(payload.extent, pitch));
          return;
        case HostBytes::Lifetime::Borrowed:
          endpoint.host = side.host->data;
          write_access(accesses + access_count++, intern(*side.host), access, 0, payload.extent,
                       pitch);
          return;
      }
    };
    add_side(source, payload.source, payload.source_pitch, Access::Read);
    add_side(destination, payload.destination, payload.destination_pitch, Access::Write);
    recorded = arena.make<CopyPayload>(payload);
  });
  return commit(CommandKind::Copy, recorded, access_count, verb.where);
}

std::uint64_t RecorderCore::checked_span(const Verb& verb, std::string_view role,
                                         const Extent& extent, Pitch& pitch) const {
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0) {
    fail(verb, ErrorCode::InvalidArgument,
         concat("the extent is ", extent.width, " bytes x ", extent.height, " rows x ",
                extent.depth, " slices, which is empty; omit the command"));
  }
  const Pitch requested = pitch;
  switch (normalise(extent, pitch)) {
    case PitchFault::None: break;
    case PitchFault::RowBelowWidth:
      fail(verb, ErrorCode::InvalidArgument,
           concat("the ", role, "'s row pitch of ", requested.row,
                  " bytes is smaller than a row of ", extent.width, " bytes"));
    case PitchFault::SliceBelowRows:
      fail(verb, ErrorCode::InvalidArgument,
           concat("the ", role, "'s slice pitch of ", requested.slice, " bytes is smaller than ",
                  extent.height, " rows of ", requested.row == 0 ? extent.width : requested.row,
                  " bytes"));
    case PitchFault::SliceNoMultipleOfRow:
      fail(verb, ErrorCode::InvalidArgument,
           concat("the ", role, "'s slice pitch of ", requested.slice,
                  " bytes is not a multiple of its row pitch of ", pitch.row, " bytes"));
    case PitchFault::TooLarge:
      fail(verb, ErrorCode::OutOfRange, concat("the ", role, "'s size in bytes exceeds 64 bits"));
  }
  const std::optional<std::uint64_t> span = span_bytes(extent, pitch);
  if (!span)
    fail(verb, ErrorCode::OutOfRange, concat("the ", role, "'s size in bytes exceeds 64 bits"));
  return *span;
}

void RecorderCore::check_copy_side(const Verb& verb, const CopySide& side, std::string_view role,
                                   const Extent& extent, Pitch& pitch) const {
  const std::uint64_t needed = checked_span(verb, role, extent, pitch);
  if (side.host != nullptr) check_enumerator(verb, "HostBytes::lifetime", side.host->lifetime);
  if (side.host != nullptr && side.host->data == nullptr) {
    fail(verb, ErrorCode::InvalidArgument,
         concat("the ", role, " is host memory at a null address"));
  }
  if (needed > side_bytes(side)) {
    fail(verb, ErrorCode::OutOfRange,
         concat("the ", role, ' ', side_name(side), " has ", side_bytes(side),
                " bytes and the extent needs ", needed, " (", extent.width, " bytes x ",
                extent.height, " rows x ", extent.depth, " slices, row pitch ", pitch.row,
                ", slice pitch ", pitch.slice, ")"));
  }
}

void RecorderCore::check_no_overlap(const Verb& verb, const CopySide& source,
                                    const CopySide& destination, const CopyPayload& payload) const {
  const bool is_one_buffer = source.view != nullptr && destination.view != nullptr &&
                             core_of(*source.view) == core_of(*destination.view);
  const std::optional<std::uint64_t> from_begin =
      is_one_buffer ? source.view->offset() : address_of(source);
  const std::optional<std::uint64_t> to_begin =
      is_one_buffer ? destination.view->offset() : address_of(destination);
  if (!from_begin || !to_begin) return;
  const Rows from{*from_begin, payload.extent, payload.source_pitch};
  const Rows to{*to_begin, payload.extent, payload.destination_pitch};
  const std::uint64_t from_end = from.begin + *span_bytes(from.extent, from.pitch);
  const std::uint64_t to_end = to.begin + *span_bytes(to.extent, to.pitch);
  if (from.begin >= to_end || to.begin >= from_end || !intersects(from, to)) return;
  fail(verb, ErrorCode::Overlap,
       is_one_buffer
           ? concat("source [", from.begin, ", ", from_end, ") and destination [", to.begin, ", ",
                    to_end, ") of ", side_name(source), " share bytes; copy through another buffer")
           : concat("source ", side_name(source), " and destination ", side_name(destination),
                    " share bytes of memory; copy through another buffer"));
}

}  // namespace reprise::detail

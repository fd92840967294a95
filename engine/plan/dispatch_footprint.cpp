#include "plan/dispatch_footprint.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/kernel_name.hpp"

namespace reprise::detail {

namespace {

// The bytes of a dispatch's footprint by linear index of the block; nothing if there is no such
// order.
bool to_linear(const BlockBytes& bytes, const Dim3& grid, std::int64_t base,
               BlockAccess::Bytes& linear) {
  const std::int64_t row = std::int64_t{grid.x}, slice = row * grid.y;
  const auto& [x, y, z] = bytes.step;
  std::int64_t step = x;
  if (grid.x == 1) step = grid.y == 1 ? z : y;
  if (step < 0 || (grid.x > 1 && grid.y > 1 && y != x * row) ||
      (grid.z > 1 && (grid.x > 1 || grid.y > 1) && z != step * (grid.x > 1 ? slice : grid.y)))
    return false;
  linear = {step, bytes.begin + base, bytes.end + base, bytes.lowest + base, bytes.highest + base};
  return true;
}

// Whether all blocks together can access each byte of [begin, end).
bool covers(const std::vector<BlockAccess::Bytes>& all, std::int64_t blocks, std::int64_t begin,
            std::int64_t end) {
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
  for (const BlockAccess::Bytes& one : all) {
    if (one.end - one.begin < one.step) return false;  // with gaps
    ranges.emplace_back(std::max(one.begin, one.lowest),
                        std::min(one.end + one.step * (blocks - 1), one.highest));
  }
  std::sort(ranges.begin(), ranges.end());
  for (const auto& [from, to] : ranges) {
    if (from > begin) return false;
    begin = std::max(begin, to);
  }
  return begin >= end;
}

// Sets the bytes of one access of a dispatch. `footprint`: null without PTX. Returns why there are
// none; empty: there are some.
std::string_view set_bytes(const DispatchPayload& dispatch, const Footprint* footprint,
                           std::span<const MemoryPlace> places, BlockAccess& of) {
  const auto begin = static_cast<std::int64_t>(of.access.begin),
             end = static_cast<std::int64_t>(of.access.end);
  bool is_argument = false;
  std::vector<BlockAccess::Bytes> bytes;
  const auto add = [&](BlockAccess::Bytes made) {
    made.lowest = std::max(made.lowest, begin);
    made.highest = std::min(made.highest, end);
    if (made.lowest < made.highest) bytes.push_back(made);
  };
  for (std::uint32_t i = 0; i < dispatch.buffer_argument_count; ++i) {
    const BufferArgument& argument = dispatch.buffer_arguments[i];
    const MemoryPlace& place = places[argument.buffer];
    if (place.memory != of.access.buffer) continue;
    is_argument = true;
    const auto base = static_cast<std::int64_t>(place.offset + argument.offset);
    if (const BlockSlice slice =
            dispatch.block_slices != nullptr ? dispatch.block_slices[i] : BlockSlice{};
        slice.bytes != 0) {
      const auto step = static_cast<std::int64_t>(slice.bytes),
                 around = static_cast<std::int64_t>(slice.around);
      constexpr std::int64_t kFar = std::int64_t{1} << 60;  // offsets below have 64 bits
      if (step > kFar / static_cast<std::int64_t>(dispatch.grid.volume()))
        return "declares blocks beyond all memory";
      add({step, base - around, base + step + around, base,
           base + static_cast<std::int64_t>(slice.view_bytes)});
      of.is_declared = true;
      continue;
    }
    if (footprint == nullptr) return "has no PTX that can be read";
    if (!footprint->problem.empty()) return footprint->problem;
    const PointerFootprint& pointer = footprint->pointers[i];
    if (pointer.is_unbounded) return "indexes that depend on values in memory or on a long loop";
    for (const BlockBytes& one : pointer.bytes) {
      BlockAccess::Bytes linear;
      if (!to_linear(one, dispatch.grid, base, linear))
        return "the blocks of a row and of a column access different bytes";
      add(linear);
    }
  }
  if (!is_argument) return "a declared buffer is no argument";
  if (!covers(bytes, static_cast<std::int64_t>(dispatch.grid.volume()), begin, end))
    return "blocks do not access all declared bytes";
  of.bytes = std::move(bytes);
  return {};
}

// The bytes of an access by row of threads, in terms of memory, as far as they are declared.
std::optional<std::vector<BlockBytes>> bytes_of_rows(const DispatchPayload& dispatch,
                                                     std::span<const PointerFootprint> rows,
                                                     std::span<const MemoryPlace> places,
                                                     const BufferAccess& access) {
  std::vector<BlockBytes> result;
  for (std::uint32_t i = 0; i < dispatch.buffer_argument_count; ++i) {
    const BufferArgument& argument = dispatch.buffer_arguments[i];
    const MemoryPlace& place = places[argument.buffer];
    if (place.memory != access.buffer) continue;
    const bool is_declared =
        dispatch.block_slices != nullptr && dispatch.block_slices[i].bytes != 0;
    if (is_declared || rows.empty() || rows[i].is_unbounded) return std::nullopt;
    const auto base = static_cast<std::int64_t>(place.offset + argument.offset);
    for (BlockBytes one : rows[i].bytes) {
      for (std::int64_t* const bound : {&one.begin, &one.end, &one.lowest, &one.highest})
        *bound += base;
      if (one.lowest < static_cast<std::int64_t>(access.end) &&
          one.highest > static_cast<std::int64_t>(access.begin))
        result.push_back(one);
    }
  }
  std::sort(result.begin(), result.end(),
            [](const BlockBytes& a, const BlockBytes& b) { return a.begin < b.begin; });
  return result;
}

// Sets the tiles of one access of a dispatch, if its blocks access tiles of a matrix that together
// are all declared bytes.
void set_tiles(const DispatchPayload& dispatch, const Footprint& footprint,
               std::span<const MemoryPlace> places, BlockAccess& of) {
  const auto begin = static_cast<std::int64_t>(of.access.begin),
             end = static_cast<std::int64_t>(of.access.end);
  std::array<std::vector<BlockBytes>, 2> parts;
  for (std::size_t i = 0; i < 2; ++i) {
    auto bytes = bytes_of_rows(dispatch, footprint.rows[i], places, of.access);
    if (!bytes || bytes->empty()) return;
    parts[i] = std::move(*bytes);
  }
  const BlockBytes &first = parts[0].front(), &last = parts[1].front();
  if (first.begin != begin || last.begin <= begin) return;
  const std::int64_t columns = dispatch.grid.x, rows = dispatch.block.y;
  const BlockAccess::Tiles tiles{.begin = begin,
                                 .pitch = rows > 1 ? first.step[2] : first.step[1],
                                 .width = columns > 2 ? first.step[0] : last.begin - first.begin,
                                 .rows = rows,
                                 .columns = columns};
  if (tiles.pitch <= 0 || tiles.pitch > end - begin || tiles.width <= 0 ||
      tiles.width > (tiles.pitch - 1) / (columns - 1))
    return;
  const std::int64_t declared_rows = (end - begin + tiles.pitch - 1) / tiles.pitch;
  if (declared_rows > rows * dispatch.grid.y) return;
  for (const bool is_last : {false, true}) {
    const std::int64_t last_tile = tiles.width * (columns - 1),
                       from = begin + (is_last ? last_tile : 0),
                       to = begin + (is_last ? tiles.pitch : tiles.width),
                       furthest = (is_last ? 0 : last_tile - tiles.width) +
                                  tiles.pitch * (declared_rows - 1);
    const std::array<std::int64_t, 3> step = {is_last || columns == 2 ? 0 : tiles.width,
                                              dispatch.grid.y > 1 ? rows * tiles.pitch : 0,
                                              rows > 1 ? tiles.pitch : 0};
    std::int64_t covered = from;
    for (const BlockBytes& one : parts[is_last ? 1 : 0]) {
      // In the tile, without gaps, and not cut where other rows or columns are declared.
      if (one.step != step || one.begin < from || one.end > to || one.begin > covered ||
          one.lowest > one.begin || one.highest < std::min(one.end + furthest, end))
        return;
      covered = std::max(covered, one.end);
    }
    if (covered < to) return;
  }
  of.tiles = tiles;
}

}  // namespace

const PtxFunction* find_kernel(const PtxModule& module, std::string_view name) {
  if (!module.problem().empty()) return nullptr;
  if (const PtxFunction* const entry = module.find_entry(name)) return entry;
  for (const PtxFunction& function : module.functions())
    if (function.is_entry && function.has_body && readable_kernel_name(function.name) == name)
      return &function;
  return nullptr;
}

std::shared_ptr<const Footprint> find_footprint(KernelFootprints& kernel,
                                                const DispatchPayload& dispatch) {
  std::vector<std::uint32_t> pointers;
  std::vector<FootprintLaunch::Range> unknown;
  for (std::uint32_t i = 0; i < dispatch.buffer_argument_count; ++i)
    pointers.push_back(dispatch.buffer_arguments[i].parameter_offset);
  for (std::uint32_t i = 0; i < dispatch.slot_argument_count; ++i) {
    const SlotArgument& slot = dispatch.slot_arguments[i];
    unknown.push_back({slot.parameter_offset, static_cast<std::uint32_t>(slot.type->size)});
  }
  return kernel.find({.grid = {dispatch.grid.x, dispatch.grid.y, dispatch.grid.z},
                      .block = {dispatch.block.x, dispatch.block.y, dispatch.block.z},
                      .parameters = {dispatch.parameters, dispatch.parameter_bytes},
                      .pointers = pointers,
                      .unknown = unknown});
}

bool BlockAccess::contains(std::int64_t first, std::int64_t end, std::int64_t block) const {
  if (tiles) {
    if (first < tiles->begin) return false;
    const std::int64_t column = block % tiles->columns, row = block / tiles->columns,
                       line = (first - tiles->begin) / tiles->pitch,
                       from = tiles->begin + line * tiles->pitch + column * tiles->width,
                       to = column + 1 < tiles->columns ? from + tiles->width
                                                        : tiles->begin + (line + 1) * tiles->pitch;
    return line / tiles->rows == row && first >= from && end <= to;
  }
  return bytes.empty() || std::any_of(bytes.begin(), bytes.end(), [&](const Bytes& of) {
           const std::int64_t moved = of.step * block;
           return first >= std::max(of.begin + moved, of.lowest) &&
                  end <= std::min(of.end + moved, of.highest);
         });
}

std::vector<BlockAccess> block_accesses(const Recording& recording, std::uint32_t command,
                                        std::span<const BufferAccess> accesses,
                                        std::span<const MemoryPlace> places, std::string* reason) {
  std::vector<BlockAccess> result;
  for (const BufferAccess& access : accesses) result.push_back({access});
  if (recording.commands[command].kind != CommandKind::Dispatch) return result;
  const auto note = [&](std::string_view problem) {
    if (reason != nullptr && reason->empty()) *reason = problem;
  };
  const auto& dispatch = recording.payload<DispatchPayload>(command);
  const KernelCore& kernel = *recording.kernels[dispatch.kernel];
  const std::shared_ptr<const Footprint> footprint =
      kernel.backend ? kernel.backend->footprint(dispatch) : nullptr;
  for (BlockAccess& of : result) {
    if (of.access.shape != 0) {
      note("accesses rows with gaps");
      continue;
    }
    const std::string_view problem = set_bytes(dispatch, footprint.get(), places, of);
    if (!problem.empty() && footprint) set_tiles(dispatch, *footprint, places, of);
    if (!of.is_by_block()) note(problem);
  }
  return result;
}

}  // namespace reprise::detail

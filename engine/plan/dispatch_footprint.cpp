#include "plan/dispatch_footprint.hpp"

#include <algorithm>
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
  if (of.access.shape != 0) return "accesses rows with gaps";
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
  for (BlockAccess& of : result) note(set_bytes(dispatch, footprint.get(), places, of));
  return result;
}

}  // namespace reprise::detail

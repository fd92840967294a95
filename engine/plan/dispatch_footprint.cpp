#include "plan/dispatch_footprint.hpp"

#include <algorithm>
#include <string>

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
  const auto give_up = [&](std::string_view why) {
    if (reason != nullptr && reason->empty()) *reason = why;
  };
  if (recording.commands[command].kind != CommandKind::Dispatch) return result;
  const auto& dispatch = recording.payload<DispatchPayload>(command);
  const KernelCore& kernel = *recording.kernels[dispatch.kernel];
  const std::shared_ptr<const Footprint> footprint =
      kernel.backend ? kernel.backend->footprint(dispatch) : nullptr;
  if (!footprint || !footprint->problem.empty()) {
    give_up(footprint ? footprint->problem : "has no PTX that can be read");
    return result;
  }
  const auto blocks = static_cast<std::int64_t>(dispatch.grid.volume());
  for (BlockAccess& of : result) {
    bool is_known = of.access.shape == 0, is_argument = false;
    if (!is_known) give_up("accesses rows with gaps");
    const auto begin = static_cast<std::int64_t>(of.access.begin),
               end = static_cast<std::int64_t>(of.access.end);
    for (std::uint32_t i = 0; i < dispatch.buffer_argument_count && is_known; ++i) {
      const BufferArgument& argument = dispatch.buffer_arguments[i];
      const MemoryPlace& place = places[argument.buffer];
      if (place.memory != of.access.buffer) continue;
      is_argument = true;
      const PointerFootprint& pointer = footprint->pointers[i];
      if (pointer.is_unbounded) {
        give_up("indexes that depend on values in memory or on a long loop");
        is_known = false;
      }
      for (const BlockBytes& bytes : pointer.bytes) {
        BlockAccess::Bytes linear;
        if (!to_linear(bytes, dispatch.grid,
                       static_cast<std::int64_t>(place.offset + argument.offset), linear)) {
          give_up("the blocks of a row and of a column access different bytes");
          is_known = false;
        }
        linear.lowest = std::max(linear.lowest, begin);
        linear.highest = std::min(linear.highest, end);
        if (linear.lowest < linear.highest) of.bytes.push_back(linear);
      }
    }
    if (is_known && !is_argument) give_up("a declared buffer is no argument");
    if (is_known && is_argument && !covers(of.bytes, blocks, begin, end))
      give_up("blocks do not access all declared bytes");
    if (!is_known || !is_argument || !covers(of.bytes, blocks, begin, end)) of.bytes.clear();
  }
  return result;
}

}  // namespace reprise::detail

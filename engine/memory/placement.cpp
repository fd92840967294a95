#include "memory/placement.hpp"

#include <algorithm>

namespace reprise::detail {

Placement place_transients(const Recording& recording, const Schedule&, const LoweredGraph&, std::uint32_t alignment) {
  Placement placement;
  for (std::uint32_t i = 0; i < recording.buffers.size(); ++i) {
    const BufferCore& buffer = *recording.buffers[i];
    if (buffer.kind != BufferKind::Transient) continue;
    placement.buffers.push_back({i, placement.naive_bytes, buffer.bytes});
    placement.naive_bytes += (buffer.bytes + alignment - 1) / alignment * alignment;
    placement.lower_bound = std::max(placement.lower_bound, buffer.bytes);
  }
  placement.slab_bytes = placement.naive_bytes;
  return placement;
}

}  // namespace reprise::detail

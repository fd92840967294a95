#include "runtime/graph/slab_residency.hpp"

namespace reprise::detail {

TrimResult SlabResidency::unmap_own(TransientMemory& memory, const QueuePoint& last,
                                    std::uint64_t& bytes) {
  Slab* const slab = memory.own.get();
  if (slab == nullptr || slab->is_unmapped()) return TrimResult::AlreadyTrimmed;
  if (!slab->is_pageable()) return TrimResult::NotPageable;
  if (is_pinned() || !is_complete(last)) return TrimResult::Busy;
  bytes = slab->footprint_bytes();
  slab->unmap();
  mark_unmapped();
  return TrimResult::Trimmed;
}

bool SlabResidency::map(TransientMemory& memory, std::string_view graph) {
  if (!needs_map()) return false;
  bool mapped = true;
  if (memory.lease) {
    mapped = memory.lease->slab().map(graph);
  } else {
    memory.own->map(graph);
  }
  unmapped_.store(false, std::memory_order_release);
  return mapped;
}

}  // namespace reprise::detail

// QueuePoint: one submission of a queue, and how it accesses something. Threads: values.
#pragma once

#include <cstdint>
#include <memory>

#include <reprise/types.hpp>

namespace reprise::detail {

class QueueCore;

struct QueuePoint {
  std::shared_ptr<QueueCore> queue;  // null: no submission; no handle (without_handle())
  std::uint64_t serial = 0;
  Access access = Access::ReadWrite;
};

// True once everything up to the point has completed, or never will because its device is lost.
// Never blocks.
[[nodiscard]] bool is_complete(const QueuePoint& point) noexcept;

}  // namespace reprise::detail

// Point: a use of something, at one place on the timeline of a queue. Threads: values.
#pragma once

#include <cstdint>
#include <memory>

#include <reprise/types.hpp>

namespace reprise::detail {

class QueueCore;

struct QueuePoint {
  std::shared_ptr<QueueCore> queue;  // null: never used
  std::uint64_t serial = 0;
  Access access = Access::ReadWrite;
};

// True once everything up to the point has completed, or never will because its device is lost.
// Never blocks.
[[nodiscard]] bool is_complete(const QueuePoint& point) noexcept;

}  // namespace reprise::detail

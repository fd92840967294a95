// ConditionCore: what a recording knows of a Condition: a buffer of four bytes without memory, so
// that its hazards, barriers and edges are those of buffers. Threads: immutable.
#pragma once

#include <reprise/condition.hpp>

#include "record/buffer_core.hpp"

namespace reprise::detail {

struct ConditionCore final : BufferCore {
  std::uint32_t initial = 0;

  // The condition that a buffer of kind Condition is.
  [[nodiscard]] static const ConditionCore& of(const BufferCore& buffer) {
    return static_cast<const ConditionCore&>(buffer);
  }
};

[[nodiscard]] Condition make_condition(std::shared_ptr<DeviceStatus> device,
                                       const ConditionDesc& desc);

}  // namespace reprise::detail

// ConditionCore: the recorded form of a Condition: a four-byte buffer without memory. Hazards,
// barriers and edges treat it like any buffer. Threads: immutable.
#pragma once

#include <reprise/condition.hpp>

#include "record/buffer_core.hpp"

namespace reprise::detail {

struct ConditionCore final : BufferCore {
  std::uint32_t initial = 0;

  // Downcast of a buffer of kind Condition.
  [[nodiscard]] static const ConditionCore& of(const BufferCore& buffer) {
    return static_cast<const ConditionCore&>(buffer);
  }
};

[[nodiscard]] Condition make_condition(std::shared_ptr<DeviceStatus> device,
                                       const ConditionDesc& desc);

}  // namespace reprise::detail

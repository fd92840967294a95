#include "record/condition_core.hpp"

#include <utility>

#include "base/handle_access.hpp"

namespace reprise::detail {

Condition make_condition(std::shared_ptr<DeviceStatus> device, const ConditionDesc& desc) {
  auto core = std::make_shared<ConditionCore>();
  core->kind = BufferKind::Condition;
  core->bytes = sizeof(std::uint32_t);
  core->alignment = alignof(std::uint32_t);
  core->name = desc.name;
  core->generation = device->generation.load(std::memory_order_acquire);
  core->device = std::move(device);
  core->initial = desc.initial;
  const std::uint64_t bytes = core->bytes;
  return make_handle<Condition>(make_handle<BufferView>(std::move(core), 0u, bytes));
}

}  // namespace reprise::detail

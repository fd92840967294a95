#include "run/shared_slab.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "run/device_core.hpp"
#include "run/failure.hpp"
#include "run/pool_buffer.hpp"
#include "run/pool_core.hpp"

namespace reprise::detail {

SharedSlab shared_slab(const DeviceCore& device, const GpuRef<std::byte>& slab, const Plan& plan) {
  if (!slab) return {};
  const auto refuse = [&](ErrorCode code, const std::string& text) {
    fail(code, Stage::Memory, plan.label, concat("the slab of graph ", plan.label, ": ", text));
  };
  auto buffer = PoolBuffer::of(slab.core());
  if (!buffer || buffer->kind != BufferKind::Device) {
    refuse(ErrorCode::InvalidArgument, concat(display_name(*slab.core()), " is no Device buffer of a pool; take one from CapturePool::allocate"));
  }
  if (buffer->device != device.status()) {
    refuse(ErrorCode::WrongDevice, concat(display_name(*buffer), " is of ", buffer->device->selector, ", the graph of ", device.status()->selector));
  }
  if (buffer->is_stale()) refuse(ErrorCode::StaleHandle, concat(display_name(*buffer), " is stale: ", why_stale(*buffer)));
  if (std::any_of(plan.recording->buffers.begin(), plan.recording->buffers.end(), [&](const auto& used) { return used == slab.core(); })) {
    refuse(ErrorCode::InvalidArgument, concat(display_name(*buffer), " is used by a command of the graph too"));
  }
  const std::uint32_t alignment = device.info().limits.buffer_alignment;
  const std::uint64_t at = buffer->is_adopted() ? slab.raw_device_ptr() : slab.offset();  // the device's own memory is aligned well enough
  if (at % alignment != 0) {
    refuse(ErrorCode::InvalidArgument, concat(display_name(*buffer), " has to be aligned to ", alignment, " bytes"));
  }
  if (slab.bytes() < plan.placement.slab_bytes) {
    refuse(ErrorCode::OutOfMemory,
           concat(display_name(*buffer), " has ", slab.bytes(), " bytes, and its transient buffers need ", plan.placement.slab_bytes));
  }
  return {std::move(buffer), slab.access().data};
}

}  // namespace reprise::detail

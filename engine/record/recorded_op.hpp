// RecordedOp: an added GraphOp and its declarations. OpTarget: the backend's receiver of the op's
// work. Knows no device. Threads: a RecordedOp is immutable; one thread uses a target.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <reprise/buffer.hpp>
#include <reprise/command_desc.hpp>
#include <reprise/fwd.hpp>

#include "record/buffer_core.hpp"
#include "record/kernel_core.hpp"

namespace reprise::detail {

struct Recording;

struct RecordedOp {
  std::shared_ptr<const GraphOp> op;
  std::string name, parameters;
  // As declared; the first buffers of the payload, in this order.
  std::vector<AccessedView> views;
  std::uint32_t workspace_count = 0;  // the last buffers of the payload
};

class OpTarget {
 public:
  virtual ~OpTarget() = default;
  [[nodiscard]] virtual const DeviceLimits& limits() const noexcept = 0;
  // index into recording.buffers
  [[nodiscard]] virtual std::byte* address(std::uint32_t buffer) const = 0;
  virtual void dispatch(const KernelCore& kernel, const DispatchDesc& desc,
                        std::span<const std::byte> parameters) = 0;
  // GraphRecordCtx calls of the following what the device has.
  virtual void host(std::function<void(std::uint32_t)> step, std::uint32_t pieces) = 0;
  virtual void host_async(std::function<void(std::function<void(std::exception_ptr)>)> start) = 0;
  [[nodiscard]] virtual void* native_stream() = 0;
  virtual void keep(std::shared_ptr<const void> object) = 0;
};

// Records the command's op into `target`. Propagates exceptions of the op.
void record_op(const Recording& recording, std::uint32_t command, OpTarget& target);

// Creates a transient that belongs to one op and to no pool.
[[nodiscard]] std::shared_ptr<BufferCore> make_workspace(
    const std::shared_ptr<DeviceStatus>& device, std::string name, std::uint64_t bytes,
    std::uint32_t alignment);
// Recreates a workspace after its device was rebuilt; null if `old` is not a workspace.
[[nodiscard]] std::shared_ptr<BufferCore> recreate_workspace(const BufferCore& old);

}  // namespace reprise::detail

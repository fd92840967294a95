// RecordedOp: a GraphOp as it was added, with what it declared. OpTarget: where a backend takes
// what the op records. Knows no device. Threads: a RecordedOp is immutable; a target belongs to one
// thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <reprise/buffer.hpp>
#include <reprise/command_desc.hpp>

#include "record/buffer_core.hpp"
#include "record/kernel_core.hpp"

namespace reprise {
class GraphOp;
}

namespace reprise::detail {

struct Recording;

struct RecordedOp {
  std::shared_ptr<const GraphOp> op;
  std::string name, parameters;
  std::vector<BufferView> views;      // as declared; the payload's first buffers, in this order
  std::uint32_t workspace_count = 0;  // the payload's last ones
};

class OpTarget {
 public:
  virtual ~OpTarget() = default;
  [[nodiscard]] virtual std::byte* address(std::uint32_t buffer) const = 0;  // in recording.buffers
  virtual void dispatch(const KernelCore& kernel, const DispatchDesc& desc,
                        std::span<const std::byte> parameters) = 0;
  // Each throws Unsupported where the device has no such thing.
  virtual void host(std::function<void(std::uint32_t)> step, std::uint32_t pieces) = 0;
  [[nodiscard]] virtual void* native_stream() = 0;
  virtual void keep(std::shared_ptr<const void> thing) = 0;
};

// Lets the op of a command record into `target`. Throws what the op throws.
void record_op(const Recording& recording, std::uint32_t command, OpTarget& target);

// A transient that belongs to one op of a recording and to no pool.
[[nodiscard]] std::shared_ptr<BufferCore> make_workspace(
    const std::shared_ptr<DeviceStatus>& device, std::string name, std::uint64_t bytes,
    std::uint32_t alignment);
// The same for a device that was rebuilt; null for a buffer that is no workspace.
[[nodiscard]] std::shared_ptr<BufferCore> make_workspace_again(const BufferCore& before);

}  // namespace reprise::detail

// SegmentKernels and CudaSegments: the segments of plans on a GPU. One persistent kernel, compiled
// from the PTX of their kernels, runs all segments of a plan; each has its own records.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cuda/cuda_context.hpp"
#include "backend/cuda/cuda_kernel.hpp"
#include "backend/cuda/cuda_memory.hpp"
#include "backend/cuda/segment_records.hpp"

namespace reprise::detail {

struct SegmentKernel {
  PersistentKernel code;
  std::shared_ptr<const CudaKernel> kernel;
};

// The persistent kernels of a device, compiled once for each set of parts; many unused ones are
// unloaded. Threads: any.
class SegmentKernels {
 public:
  // Throws NativeFailure with the log of the driver's compiler, and Unsupported for too many parts.
  [[nodiscard]] std::shared_ptr<const SegmentKernel> get(
      const std::shared_ptr<const CudaContext>& context, const Plan& plan,
      const SegmentParts& parts);

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const SegmentKernel>> by_code_;
};

// The segments of an executable. Threads: one at a time, as launches.
class CudaSegments {
 public:
  // Throws LaunchLimits if the blocks cannot all be resident, and OutOfMemory.
  CudaSegments(std::shared_ptr<const CudaContext> context, SegmentKernels& kernels,
               const Plan& plan, const Bindings& bindings);

  // True if another plan's segments have the same parts in the same nodes.
  [[nodiscard]] bool has_parts_of(const Plan& plan) const { return segment_parts(plan) == parts_; }
  // The kernel node of a segment. Valid until write().
  [[nodiscard]] CUDA_KERNEL_NODE_PARAMS node(std::uint32_t segment);
  // Writes the records of a segment again; launches so far use the earlier ones. The node has to be
  // set again. Throws OutOfMemory.
  void write(std::uint32_t segment, const Plan& plan, const Bindings& bindings);
  // Returns to the records before the last write(), if no launch has used that.
  void undo_write(std::uint32_t segment) noexcept;
  void count_launch() noexcept { ++launches_; }

 private:
  // Records in device memory.
  struct Table {
    Table(const std::shared_ptr<const CudaContext>& context, std::uint64_t capacity)
        : memory(context, BufferKind::Device, capacity, Stage::Instantiate, "records of a segment"),
          bytes(capacity) {}
    const CudaMemory memory;
    const std::uint64_t bytes;
    std::uint64_t first_at = 0, waits_at = 0;  // after the records
    std::uint64_t last_launch = 0;             // that may read it, if it is not the current one
  };
  struct Parameters {  // of the persistent kernel, in its order
    std::byte *records, *first, *counters, *state, *more_waits, *times, *progress;
  };
  struct State {
    State(const std::shared_ptr<const CudaContext>& context, std::uint32_t counters);
    void use_last_table() noexcept;
    const CudaMemory counters;  // by node, then the kernel's own state
    const CudaMemory progress;  // pinned; the kernel stores the number of its completed launches
    std::vector<std::unique_ptr<Table>> tables;  // the last one is current
    std::uint32_t lists = 0;
    Parameters parameters{};
    void* addresses[sizeof(Parameters) / sizeof(void*)] = {};
  };
  // A table that no launch reads.
  [[nodiscard]] std::unique_ptr<Table> take_table(State& state, std::uint64_t bytes) const;

  const std::shared_ptr<const CudaContext> context_;
  const SegmentParts parts_;
  const std::shared_ptr<const SegmentKernel> kernel_;
  const std::uint32_t shared_bytes_;            // of each block
  std::vector<std::unique_ptr<State>> states_;  // by segment
  std::uint64_t launches_ = 0;
};

}  // namespace reprise::detail

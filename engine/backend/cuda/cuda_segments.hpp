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
#include "backend/cuda/segment_times.hpp"

namespace reprise::detail {

struct SegmentKernel {
  PersistentKernel code;
  std::shared_ptr<const CudaKernel> kernel;
};

// The persistent kernels of a device, compiled once for each set of parts; many unused ones are
// unloaded. Threads: any.
class SegmentKernels {
 public:
  enum class Variant : std::uint8_t { Plain, Timed };
  // Throws NativeFailure with the log of the driver's compiler, and Unsupported for too many parts.
  [[nodiscard]] std::shared_ptr<const SegmentKernel> get(
      const std::shared_ptr<const CudaContext>& context, const Plan& plan,
      const SegmentParts& parts, Variant variant);

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const SegmentKernel>> by_code_;
};

// The segments of an executable and of its profiling clone, which share records and counters.
// Threads: one at a time, as launches.
class CudaSegments {
 public:
  // Throws LaunchLimits if the blocks cannot all be resident, and OutOfMemory.
  CudaSegments(std::shared_ptr<const CudaContext> context, std::shared_ptr<SegmentKernels> kernels,
               const Plan& plan, const Bindings& bindings);

  // True if another plan's segments have the same parts in the same nodes.
  [[nodiscard]] bool has_parts_of(const Plan& plan) const { return segment_parts(plan) == parts_; }
  // The kernel node of a segment. Valid until write() and time().
  [[nodiscard]] CUDA_KERNEL_NODE_PARAMS node(std::uint32_t segment);
  // Timed nodes write to `times`, and to the row that `ring`, of a TimestampRing, tells. Compiles
  // their kernel at the first call. Throws as the constructor.
  void time(const Plan& plan, const SegmentTimes& times, std::uint64_t* ring);
  // As node(), after time().
  [[nodiscard]] CUDA_KERNEL_NODE_PARAMS timed_node(std::uint32_t segment);
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
  struct Parameters {  // of the persistent kernel
    std::byte *records, *first, *counters, *state, *more_waits, *progress, *times;
    std::uint64_t* ring;
    std::uint32_t row_mask, row_bytes;
  };
  struct State {
    State(const std::shared_ptr<const CudaContext>& context, std::uint32_t counters);
    void use_last_table() noexcept;
    const CudaMemory counters;  // by node, then the kernel's own state
    const CudaMemory progress;  // pinned; the kernel stores the number of its completed launches
    std::vector<std::unique_ptr<Table>> tables;  // the last one is current
    std::uint32_t lists = 0;
    Parameters parameters{};
    void* addresses[10] = {};  // of the parameters, in the kernel's order
  };
  [[nodiscard]] std::shared_ptr<const SegmentKernel> load(const Plan& plan,
                                                          SegmentKernels::Variant variant) const;
  [[nodiscard]] CUDA_KERNEL_NODE_PARAMS node_of(std::uint32_t segment, const SegmentKernel& kernel);
  // A table that no launch reads.
  [[nodiscard]] std::unique_ptr<Table> take_table(State& state, std::uint64_t bytes) const;

  const std::shared_ptr<const CudaContext> context_;
  const std::shared_ptr<SegmentKernels> kernels_;
  const SegmentParts parts_;
  const std::shared_ptr<const SegmentKernel> kernel_;
  std::shared_ptr<const SegmentKernel> timed_kernel_;  // null: not loaded yet
  std::vector<std::unique_ptr<State>> states_;  // by segment
  std::uint64_t launches_ = 0;
};

}  // namespace reprise::detail

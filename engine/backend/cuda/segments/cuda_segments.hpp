// SegmentKernels and CudaSegments: the segments of plans on a GPU. One persistent kernel, compiled
// from the PTX of their kernels, runs all segments of a plan; each has its own records.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cuda/cuda_context.hpp"
#include "backend/cuda/cuda_kernel.hpp"
#include "backend/cuda/cuda_memory.hpp"
#include "backend/cuda/segments/segment_records.hpp"
#include "backend/cuda/timing/segment_times.hpp"

namespace reprise::detail {

class CudaQueue;

struct SegmentKernel {
  PersistentKernel code;
  std::shared_ptr<const CudaKernel> kernel;
};

// The persistent kernels of a device, compiled once for each set of parts; many unused ones are
// unloaded. Threads: any.
class SegmentKernels {
 public:
  using Variant = PersistentKernelDesc::Variant;
  explicit SegmentKernels(TransferKernels transfers) : transfers_(std::move(transfers)) {}
  [[nodiscard]] const TransferKernels& transfers() const noexcept { return transfers_; }
  // Throws NativeFailure with the log of the driver's compiler, and Unsupported for too many parts.
  [[nodiscard]] std::shared_ptr<const SegmentKernel> get(
      const std::shared_ptr<const CudaContext>& context, const Plan& plan,
      const SegmentParts& parts, Variant variant);

 private:
  const TransferKernels transfers_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const SegmentKernel>> by_code_;
};

// The segments of an executable and of its profiling clone, which share records and counters. Nodes
// have their numbers in timing_layout(), segments those in the lowered graph of their plan, which
// is the plan itself (body kNone) or a body of it. Threads: one at a time, as launches.
class CudaSegments {
 public:
  // Segments of a plan with fault markers record what their warps do. Throws LaunchLimits if the
  // blocks cannot all be resident, and OutOfMemory.
  CudaSegments(std::shared_ptr<const CudaContext> context, std::shared_ptr<SegmentKernels> kernels,
               const Plan& plan, const Bindings& bindings);
  // True if segments of a plan or of its bodies are to be made.
  [[nodiscard]] static bool has_segments(const Plan& plan);

  [[nodiscard]] bool contains(std::uint32_t node) const noexcept {
    return parts_.part_of[node] != kNone;
  }
  // True if the segments of two plans contain the same nodes.
  [[nodiscard]] static bool are_of_same_nodes(const Plan& plan, const Plan& other);
  // True if another plan has the same segments as the plan that these run, of the same kernels in
  // `nodes`, of the plan itself; empty: in all nodes, also those of bodies.
  [[nodiscard]] bool has_same_segments(
      const Plan& plan, const Plan& other,
      std::optional<std::span<const std::uint32_t>> nodes = std::nullopt) const;
  // For a body whose segment is a loop (see LoweredGraph::loop_condition), before node(): where it
  // counts its iterations, and their maximum number. 0: no limit.
  void set_loop(std::uint32_t body, std::uint64_t* counters, std::uint64_t limit) noexcept;
  // The kernel node of a segment. Valid until the next call for this segment.
  [[nodiscard]] CUDA_KERNEL_NODE_PARAMS node(std::uint32_t body, std::uint32_t segment);
  // Timed nodes, of the plan itself, write to `times`, in the row after that in `ring`, the counter
  // of a TimestampRing. Compiles their kernel at the first call. Throws as the constructor.
  void time(const Plan& plan, const SegmentTimes& times, std::uint64_t* ring);
  // As node(), after time().
  [[nodiscard]] CUDA_KERNEL_NODE_PARAMS timed_node(std::uint32_t segment);

  // Nodes of the plan itself. Any thread, but not concurrently with take().
  [[nodiscard]] std::vector<UnfinishedNode> unfinished() const;

  // Changes apply from the next launch on, before which send_changes() puts them into its queue.
  // set() takes the parameters of a node that `plan`, the plan or the body with it, contains.
  // False: the node then has blocks of another shape, or its bytes do not fit; nothing has changed.
  [[nodiscard]] bool set(std::uint32_t node, const Plan& plan, const Bindings& bindings) noexcept;
  void set_enabled(std::uint32_t node, bool enabled) noexcept;
  // The records of all segments for another plan with the same segments. Null: they do not fit.
  class Records;
  [[nodiscard]] std::unique_ptr<Records> prepare(const Plan& plan, const Bindings& bindings) const;
  void take(Records& records) noexcept;
  // The segments of another plan. Throws as the constructor.
  [[nodiscard]] std::unique_ptr<CudaSegments> make_for(const Plan& plan,
                                                       const Bindings& bindings) const {
    return std::make_unique<CudaSegments>(context_, kernels_, plan, bindings);
  }
  [[nodiscard]] bool has_changes() const noexcept { return has_changes_; }
  void send_changes(CudaQueue& queue);

 private:
  struct Parameters {  // of the persistent kernel, and of its variants
    std::byte *records, *first, *counters, *state, *more_waits;
    std::byte* times;
    std::uint64_t* ring;
    std::uint32_t row_mask, row_bytes;
    std::byte* marks;
    const std::byte* condition;
    std::uint64_t* loop;
    std::uint64_t limit;
  };
  // A segment.
  struct State {
    State(const std::shared_ptr<const CudaContext>& context, SegmentRecords made,
          std::uint32_t nodes);
    // The record table in device memory: records, first records, more waits, bytes outside.
    struct Offsets {
      std::uint64_t first = 0, more_waits = 0, outside = 0, end = 0;
    };
    [[nodiscard]] static Offsets offsets_of(const SegmentRecords& records) noexcept;
    void add_change(const SegmentRecords::Range& range) noexcept;

    SegmentRecords records;
    const Offsets offsets;
    const CudaMemory table;
    const CudaMemory counters;  // by node, then the kernel's own state
    std::uint32_t lists = 0;
    Parameters parameters{};
    std::unique_ptr<const CudaMemory> marks;  // pinned; null: the kernel is not marked
    std::vector<void*> addresses;             // of the parameters that node_of() returned last
    // Not yet in device memory.
    static constexpr std::size_t kMaxChanges = 8;
    std::array<SegmentRecords::Range, kMaxChanges> changes;
    std::size_t change_count = 0;
  };
  [[nodiscard]] std::shared_ptr<const SegmentKernel> load(const Plan& plan,
                                                          SegmentKernels::Variant variant) const;
  // Of a persistent kernel with this dynamic shared memory, on a multiprocessor.
  [[nodiscard]] std::uint32_t resident_blocks(const SegmentKernel& kernel,
                                              std::uint32_t shared_bytes) const;
  // The dynamic shared memory of a segment with this number of lists.
  [[nodiscard]] std::uint32_t shared_bytes(const SegmentKernel& kernel, std::uint32_t lists) const;
  [[nodiscard]] CUDA_KERNEL_NODE_PARAMS node_of(State& state, const SegmentKernel& kernel,
                                                SegmentKernels::Variant variant) const;
  void add_marks(State& state) const;
  [[nodiscard]] State& state(std::uint32_t body, std::uint32_t segment) noexcept {
    return *states_[first_state_[body == kNone ? 0 : body + 1] + segment];
  }
  // Where a node is: its segment, and its number in the lowered graph.
  struct Place {
    State& state;
    std::uint32_t node = 0;
  };
  [[nodiscard]] Place place_of(std::uint32_t node) const noexcept;
  [[nodiscard]] std::vector<SegmentRecords> make_records(const Plan& plan,
                                                         const Bindings& bindings) const;
  // The condition of a segment that is a loop.
  [[nodiscard]] const std::byte* condition_of(std::uint32_t state) const noexcept;
  void make_conditions(const Plan& plan);

  const std::shared_ptr<const CudaContext> context_;
  const std::shared_ptr<SegmentKernels> kernels_;
  const SegmentParts parts_;
  const std::shared_ptr<const SegmentKernel> kernel_;
  std::shared_ptr<const SegmentKernel> timed_kernel_;  // null before time()
  std::shared_ptr<const SegmentKernel> loop_kernel_;   // null if no segment is a loop
  std::unique_ptr<const CudaMemory> conditions_;       // likewise; by segment
  std::vector<std::unique_ptr<State>> states_;         // by plan, in order
  std::vector<std::uint32_t> first_state_;             // by plan, of numbered_plans()
  std::vector<std::uint32_t> first_node_;              // likewise
  std::uint32_t own_segments_ = 0;                     // of the plan itself, which come first
  std::vector<std::uint32_t> state_of_;                // by node; kNone outside segments
  bool has_changes_ = false;
};

class CudaSegments::Records {
 private:
  friend class CudaSegments;
  std::vector<SegmentRecords> by_state_;
};

}  // namespace reprise::detail

// SegmentRecords: the records of a segment as its persistent kernel reads them, and the parts of
// that kernel. Makes no CUDA call. Threads: values and pure functions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cuda/cuda_kernel.hpp"
#include "ptx/persistent_kernel.hpp"
#include "ptx/segment_record.hpp"

namespace reprise::detail {

// The kernels of transfers, which take a CopyRows and a FillRows.
struct TransferKernels {
  std::shared_ptr<const CudaKernel> copy, fill;
};

// The kernel and the launch that a command of a segment runs.
struct SegmentWork {
  const CudaKernel* kernel = nullptr;
  Dim3 grid = {}, block = {};
  std::uint32_t shared_bytes = 0;
};
[[nodiscard]] SegmentWork segment_work(const Plan& plan, std::uint32_t node,
                                       const TransferKernels& transfers);

// A plan with one of its bodies or itself, whose nodes timing_layout() numbers from `first_node`.
struct NumberedPlan {
  const Plan* plan = nullptr;
  std::uint32_t first_node = 0;
};
// The plan itself, then its bodies by their number. Valid as long as `plan`.
[[nodiscard]] std::vector<NumberedPlan> numbered_plans(const Plan& plan);
// The bindings of each body, by number; `bindings` are those of the plan itself. `plans`:
// numbered_plans().
[[nodiscard]] std::vector<Bindings> bindings_of_bodies(std::span<const NumberedPlan> plans,
                                                       const Bindings& bindings);

// The kernels of the segments of a plan and its bodies.
struct SegmentParts {
  std::vector<const RewrittenPart*> parts;                    // the most frequent one first
  std::vector<std::shared_ptr<const CudaLibrary>> libraries;  // by part, which keep it
  std::vector<std::uint32_t> dynamic_shared_bytes;  // by part: the max that a command requests
  // By number in timing_layout(); kNone outside segments.
  std::vector<std::uint32_t> part_of;
  std::uint32_t threads = 0;  // of a persistent block, which can run each of them
  std::uint32_t lists = 0;    // of the largest segment
};
[[nodiscard]] SegmentParts segment_parts(const Plan& plan, const TransferKernels& transfers);
// The dynamic shared memory of a persistent block.
[[nodiscard]] std::uint32_t segment_shared_bytes(const SegmentParts& parts,
                                                 const PersistentKernel& code);

// The records of a segment in host memory. At first all commands are enabled.
class SegmentRecords {
 public:
  // `plan` contains the segment. `code` was made of `parts`, those of the executable's plan.
  // `condition`: what parameters get in the place of a condition, in a segment that is a loop.
  SegmentRecords(const NumberedPlan& plan, const Bindings& bindings, const Segment& segment,
                 const SegmentParts& parts, const PersistentKernel& code,
                 const std::byte* condition = nullptr);

  // A range of records, and a range of bytes outside them.
  struct Range {
    std::size_t first_record = 0, end_record = 0, first_byte = 0, end_byte = 0;
  };
  // Both take a lowered node of the segment and return what they wrote, apart from records between
  // those of the node. set() takes the node's parameters from a plan with the same segments and
  // from its bindings. Empty, and unchanged: the node has blocks of another shape there, or its
  // bytes do not fit.
  [[nodiscard]] std::optional<Range> set(std::uint32_t node, const Plan& plan,
                                         const Bindings& bindings) noexcept;
  // Disabled commands only wait and publish.
  [[nodiscard]] Range set_enabled(std::uint32_t node, bool enabled) noexcept;
  // The bytes outside the records are at `memory` on the device; records contain such addresses.
  void place_outside(const std::byte* memory) noexcept;

  [[nodiscard]] std::span<const SegmentRecord> records() const noexcept { return records_; }
  // Record of each list, and the end of the last one.
  [[nodiscard]] std::span<const std::uint32_t> first() const noexcept { return first_; }
  [[nodiscard]] std::span<const SegmentRecord::Wait> more_waits() const noexcept {
    return more_waits_;
  }
  // The lowered node of a record, the records of a node, and the nodes that a record waits for.
  [[nodiscard]] std::uint32_t node_of(std::uint32_t record) const noexcept {
    return first_node_ + records_[record].counter;
  }
  [[nodiscard]] std::span<const std::uint32_t> records_of(std::uint32_t node) const noexcept {
    return records_of(nodes_[node - first_node_]);
  }
  [[nodiscard]] std::vector<std::uint32_t> waits_of(std::uint32_t record) const;
  // Parameter blocks that do not fit into a record, and the bytes of updates.
  [[nodiscard]] std::span<const std::byte> outside() const noexcept { return outside_; }

 private:
  struct Node {
    bool has_inline_parameters = true, ends_together = false;
    std::uint32_t first_record = 0, records = 0;  // in by_node_
    // Its bytes in outside_, and the byte of its parameters where their address is.
    std::size_t outside_at = 0, outside_bytes = 0;
    std::uint32_t address_at = 0;
  };
  [[nodiscard]] std::span<const std::uint32_t> records_of(const Node& node) const noexcept {
    return {by_node_.data() + node.first_record, node.records};
  }
  void add_nodes(const NumberedPlan& plan, const SegmentParts& parts, const PersistentKernel& code);

  std::uint32_t first_node_;
  std::uint32_t disabled_index_;  // of the part that does nothing
  const std::byte *condition_, *memory_ = nullptr;
  std::vector<SegmentRecord> records_;
  std::vector<std::uint32_t> words_;  // by record, of the enabled command
  std::vector<std::uint32_t> first_;
  std::vector<SegmentRecord::Wait> more_waits_;
  std::vector<std::byte> outside_;
  std::vector<Node> nodes_;             // from first_node_
  std::vector<std::uint32_t> by_node_;  // records
};

}  // namespace reprise::detail

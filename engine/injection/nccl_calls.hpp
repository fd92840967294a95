// The operations of NCCL that a program calls, as NCCL's NVTX ranges describe them, and the
// collectives that kernels of NCCL execute. Knows nothing about CUPTI. Threads: an NcclCalls
// belongs to one thread; the rest are pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "trace/records.hpp"

namespace reprise::detail {

// nvtxPayloadData_t
struct NvtxPayload {
  std::uint64_t schema = 0;
  std::size_t bytes = 0;
  const void* data = nullptr;
};

struct NcclOperation {
  trace::CollectiveKind kind = trace::CollectiveKind::Group;  // Group: an unknown kind
  std::uint64_t communicator = 0;                             // see trace::Collective; 0: unknown
  std::uint64_t bytes = 0;
  std::uint32_t peer = trace::kNone;
  friend bool operator==(const NcclOperation&, const NcclOperation&) = default;
};
using NcclOperations = std::vector<NcclOperation>;

// A communicator of NCCL on one of its ranks.
struct NcclCommunicator {
  std::uint64_t id = 0;
  std::uint32_t device = 0, ranks = 0, rank = 0;
  friend bool operator==(const NcclCommunicator&, const NcclCommunicator&) = default;
};

// NCCL launches the kernels of an operation before its call returns or, in a group, before the
// outermost ncclGroupEnd returns. Ignores ranges of others. Reads no payload whose layout is
// unknown.
class NcclCalls {
 public:
  void push(std::uint64_t domain, std::string_view name, std::span<const NvtxPayload> payloads);
  // Returns the communicator that the call created.
  std::optional<NcclCommunicator> pop(std::uint64_t domain,
                                      std::span<const NvtxPayload> payloads = {});
  // The operations whose kernels the thread launches now. Null: none.
  [[nodiscard]] std::shared_ptr<const NcclOperations> operations();

 private:
  enum class Call : std::uint8_t { Operation, GroupStart, GroupEnd, Other };
  void complete();

  std::uint64_t domain_ = 0;  // of NCCL; 0: unknown
  std::vector<Call> open_;
  std::uint32_t operation_depth_ = 0, group_depth_ = 0;
  NcclOperations operations_;
  std::shared_ptr<const NcclOperations> shared_;  // copy of operations_; null: outdated
};

// The collective that a kernel of NCCL executes, without node, number and index. `kernel`: see
// nccl_operation(). `launched`: null if unknown.
[[nodiscard]] trace::Collective nccl_collective(std::string_view kernel,
                                                const NcclOperations* launched);

}  // namespace reprise::detail

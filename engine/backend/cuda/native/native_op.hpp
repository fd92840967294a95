// Nodes of an application's CUDA graph that have no matching command: events, semaphores, memory,
// conditionals. They are described by name and driver parameters. CUDA 13.0 has no call that
// returns the bodies of conditionals. Threads: one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "backend/cuda/native/native_nodes.hpp"
#include "record/recorded_op.hpp"

namespace reprise::detail {

// "host callback"
[[nodiscard]] std::string_view name_of(CUgraphNodeType type) noexcept;

// The ops of one graph. Numbers events, allocations and semaphores in order of first use, so that
// texts and hashes are the same in every run.
class NativeOps {
 public:
  // The context outlives this object.
  explicit NativeOps(const CudaContext& context) noexcept : context_(context) {}

  // An op that describes the node and cannot be recorded again. Kernels, copies and fills become
  // such ops if their parameters could not be read.
  [[nodiscard]] std::shared_ptr<const RecordedOp> make(const NativeNode& node);

 private:
  // Number of each handle or address, in the order of first use, from 1.
  using Numbers = std::unordered_map<std::uint64_t, std::size_t>;
  [[nodiscard]] std::string parameters_of(const NativeNode& node);
  [[nodiscard]] std::string event_of(const NativeNode& node);
  template <class Parameters>
  [[nodiscard]] std::string semaphores_of(const Parameters& parameters);

  const CudaContext& context_;
  Numbers events_, allocations_, semaphores_;
};

}  // namespace reprise::detail

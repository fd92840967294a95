// Nodes of somebody else's CUDA graph that no command of the engine stands for: events, semaphores,
// memory, conditionals. Known by name and by what the driver tells of them. What CUDA 13.0 has no
// call for stays untold: the bodies of conditionals. Threads: one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "backend/cuda/native_nodes.hpp"
#include "record/recorded_op.hpp"

namespace reprise::detail {

// Of one graph. Events, allocations and semaphores are numbered in the order that nodes name them,
// so that texts and hashes are the same on every run.
class NativeOps {
 public:
  // The context outlives this.
  explicit NativeOps(const CudaContext& context) noexcept : context_(context) {}

  // An op that says what the node is and cannot be recorded again. A kernel, copy or fill is one
  // where its parameters could not be read.
  [[nodiscard]] std::shared_ptr<const RecordedOp> make(const NativeNode& node);

 private:
  using Numbers =
      std::unordered_map<std::uint64_t, std::size_t>;  // of handles or addresses, from 1
  [[nodiscard]] std::string parameters_of(const NativeNode& node);
  [[nodiscard]] std::string event_of(const NativeNode& node);
  template <class Parameters>
  [[nodiscard]] std::string semaphores_of(const Parameters& parameters);

  const CudaContext& context_;
  Numbers events_, allocations_, semaphores_;
};

}  // namespace reprise::detail

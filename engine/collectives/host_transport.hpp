// HostTransport: moves the data of collectives between ranks whose buffers are in host memory.
// Threads: one at a time for each transport, apart from abort(), which any thread calls, and
// Operation::poll(), which any one thread calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>

#include <reprise/collectives.hpp>

namespace reprise::detail {

// The part of one rank in one collective. Counts are in elements.
struct CollectiveCall {
  CollectiveKind kind = CollectiveKind::AllReduce;
  ElementType type = ElementType::F32;
  ReduceOperator reduce = ReduceOperator::Sum;
  std::uint32_t peer = 0;  // the root, or the other rank of a send or receive
  // Elements of one rank's contribution: all_gather sends them, reduce_scatter receives them,
  // all_to_all sends them to each rank; all other kinds send or receive exactly these.
  std::uint64_t count = 0;
  const void* send = nullptr;  // null where the rank sends nothing
  void* receive = nullptr;     // may be `send` (in place); null where the rank receives nothing
};

[[nodiscard]] inline const std::byte* at(const void* base, std::uint64_t bytes) noexcept {
  return static_cast<const std::byte*>(base) + bytes;
}
[[nodiscard]] inline std::byte* at(void* base, std::uint64_t bytes) noexcept {
  return static_cast<std::byte*>(base) + bytes;
}
// Nothing for a call in place.
inline void copy_bytes(void* into, const void* from, std::uint64_t bytes) noexcept {
  if (into != from) std::memcpy(into, from, bytes);
}

class HostTransport {
 public:
  // Calls that are in progress. Their buffers outlive the operation; an operation over MPI that is
  // destroyed before poll() returned true keeps using them for the rest of the process.
  class Operation {
   public:
    virtual ~Operation() = default;
    // True once the buffers may be used again. Does not block. Throws Error (RankLost,
    // RankMismatch).
    [[nodiscard]] virtual bool poll() = 0;
  };

  virtual ~HostTransport() = default;
  [[nodiscard]] virtual std::uint32_t rank() const noexcept = 0;
  [[nodiscard]] virtual std::uint32_t size() const noexcept = 0;
  // Starts the calls as one group: none waits for another of the group. Ranks start groups in the
  // same order. Does not block. Throws Error (RankLost, RankMismatch; InvalidArgument: no call of
  // the group has started).
  [[nodiscard]] virtual std::unique_ptr<Operation> start(std::span<const CollectiveCall> group) = 0;
  // Collective: a transport of the ranks with the same `color`, in the order of their ranks here.
  [[nodiscard]] virtual std::unique_ptr<HostTransport> split(std::uint32_t color) = 0;
  // From now on the calls of this transport, of those split from it, of the one that it was split
  // from and of their operations throw RankLost with `reason`; only the first reason counts. Does
  // not block.
  virtual void abort(std::string reason) noexcept = 0;
};

}  // namespace reprise::detail

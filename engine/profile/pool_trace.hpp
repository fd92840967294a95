// PoolTrace: one pool in the trace: what it holds, who holds it, and when its buffers came and
// went. Knows no pool: it is told. Threads: any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include <reprise/pool.hpp>
#include <reprise/types.hpp>

#include "profile/describe_graph.hpp"
#include "profile/trace_session.hpp"

namespace reprise::detail {

// A buffer while it is alive, as its owner keeps it.
struct TracedBuffer {
  std::uint32_t id = trace::kNone;  // kNone: a transient, which lives in replays only
  trace::Time allocated = 0;        // 0: not traced
};

class PoolTrace {
 public:
  // `memory` is asked for each state, from any thread.
  using Memory = std::function<MemoryStatistics()>;
  PoolTrace(std::shared_ptr<TraceSession> session, std::uint32_t device, std::string_view label,
            Memory memory);

  [[nodiscard]] std::uint32_t id() const noexcept { return state_.pool; }
  [[nodiscard]] TracedBuffer add(const BufferCore& buffer, BufferIdentity::Memory memory);
  void remove(const BufferCore& buffer, BufferIdentity::Memory memory,
              const TracedBuffer& traced) noexcept;
  void add_holder(std::uint32_t graph) noexcept;
  void remove_holder(std::uint32_t graph) noexcept;
  void note_memory() noexcept;  // what it takes has changed
  // Transients of `graph` lie in a slab that it shares; as often as there are executables of it.
  void add_sharer(std::uint32_t graph) noexcept;
  void remove_sharer(std::uint32_t graph) noexcept;

 private:
  enum class Change : std::uint8_t { Added, Removed };
  void push_state();    // under mutex_
  void push_sharers();  // under mutex_
  void count(const BufferCore& buffer, Change change);
  void push_life(const BufferCore& buffer, BufferIdentity::Memory memory,
                 const TracedBuffer& traced, trace::Time freed);

  std::shared_ptr<TraceSession> session_;
  const Memory memory_;
  std::mutex mutex_;
  trace::PoolState state_;              // under mutex_, but for the ids
  std::vector<std::uint32_t> sharers_;  // under mutex_: one for each executable
};

}  // namespace reprise::detail

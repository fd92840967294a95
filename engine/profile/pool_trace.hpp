// PoolTrace: records the state of one pool, the graphs that use it and the lifetimes of its
// buffers. Knows nothing about the pool's implementation. Threads: any.
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

// The trace data of a live buffer, stored by the buffer's owner.
struct TracedBuffer {
  std::uint32_t id = trace::kNone;  // kNone: transient
  trace::Time allocated = 0;        // 0: not traced
};

class PoolTrace {
 public:
  // Called for every state record, on any thread.
  using Memory = std::function<MemoryStatistics()>;
  PoolTrace(std::shared_ptr<TraceSession> session, std::uint32_t device, std::string_view label,
            Memory memory);

  [[nodiscard]] std::uint32_t id() const noexcept { return state_.pool; }
  [[nodiscard]] TracedBuffer add(const BufferCore& buffer, BufferIdentity::Memory memory);
  void remove(const BufferCore& buffer, BufferIdentity::Memory memory,
              const TracedBuffer& traced) noexcept;
  void add_holder(std::uint32_t graph) noexcept;
  void remove_holder(std::uint32_t graph) noexcept;
  void record_memory() noexcept;  // called after the pool's memory changed
  // `graph` uses a shared slab. Called once per executable.
  void add_sharer(std::uint32_t graph) noexcept;
  void remove_sharer(std::uint32_t graph) noexcept;

 private:
  enum class Change : std::uint8_t { Added, Removed };
  void push_state();    // requires mutex_
  void push_sharers();  // requires mutex_
  void count(const BufferCore& buffer, Change change);
  void push_lifetime(const BufferCore& buffer, BufferIdentity::Memory memory,
                     const TracedBuffer& traced, trace::Time freed);

  std::shared_ptr<TraceSession> session_;
  const Memory memory_;
  std::mutex mutex_;
  trace::PoolState state_;              // guarded by mutex_, except the ids
  std::vector<std::uint32_t> sharers_;  // guarded by mutex_; one entry per executable
};

}  // namespace reprise::detail

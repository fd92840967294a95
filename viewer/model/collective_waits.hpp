// For whom ranks wait in one execution of a collective. In one that waits for all
// (trace::waits_for_all()), every rank waits for the last one to arrive; in a Broadcast for the
// root; in a Reduce only the root waits, for the last one of the others. There is no statement
// about other kinds. Threads: values and pure functions.
#pragma once

#include <cstdint>

#include "trace/collective_runs.hpp"

namespace reprise::model {

// Whether the rank of a record waits for others in the collective, and whether others wait for it.
struct WaitRole {
  bool waits = false, is_awaited = false;
};
[[nodiscard]] WaitRole wait_role(const trace::Collective& call) noexcept;

// The arrival that ranks wait for: the last one of those that are awaited.
struct AwaitedArrival {
  std::uint32_t member = trace::kNone;  // its rank, as the caller numbers them; kNone: unknown
  trace::Time at = 0;
  std::uint32_t known_ranks = 0;  // with times
  bool is_awaited = false;        // by a rank with times

  // Adds a rank, each once.
  void add(const trace::Collective& call, std::uint32_t of, trace::Time started) noexcept;
  [[nodiscard]] bool has_waits() const noexcept {
    return is_awaited && member != trace::kNone && known_ranks > 1;
  }
  // The part of a rank's execution that it spends waiting; -1: unknown.
  [[nodiscard]] trace::Time wait_of(const trace::Collective& call, trace::Time started,
                                    trace::Time ended) const noexcept;
};

}  // namespace reprise::model

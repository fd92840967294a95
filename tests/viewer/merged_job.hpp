// The records of a merged trace, of a hand-made job without skew and drift: one session per rank,
// whose ids of graphs, devices, queues and threads are its rank. Threads: pure functions.
#pragma once

#include <memory>

#include "model/document.hpp"
#include "trace/codec.hpp"
#include "viewer/hand_made_ranks.hpp"

namespace reprise::test {

// Options of a job whose ranks need no alignment.
[[nodiscard]] inline HandMadeRanks aligned_ranks(HandMadeRanks options = {}) {
  options.skew = 0;
  options.drift = 0;
  return options;
}

// `error`: of the clock of every host but the first.
[[nodiscard]] trace::Records merged_topology(const HandMadeJob& job, trace::Time error = 0);
[[nodiscard]] trace::Records merged_events(const HandMadeJob& job);
[[nodiscard]] std::shared_ptr<const model::Document> merged_document(const HandMadeJob& job,
                                                                     trace::Time error = 0);

}  // namespace reprise::test

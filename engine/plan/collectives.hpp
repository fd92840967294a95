// The collectives of a recording: ops that run only together with those of other ranks. Threads:
// pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "record/rank_agreement.hpp"
#include "record/recording.hpp"

namespace reprise::detail {

struct RecordedCollective {
  const Recording* recording = nullptr;  // or the body that contains the command
  std::uint32_t command = 0;
  const GraphOp* op = nullptr;
  bool is_conditional = false;  // in a body of a conditional
};
// In the recorded order, which is that of the replays: collectives of a device depend on each
// other. Valid as long as the recording.
[[nodiscard]] std::vector<RecordedCollective> collectives_of(const Recording& recording);

// The collectives of a graph as each launch reports them to the other ranks.
struct LaunchedCollectives {
  std::vector<RankAgreement*> ranks;  // of each job; empty: the graph has no collectives
  std::uint64_t hash = 0;             // 0: none
};
[[nodiscard]] LaunchedCollectives launched_collectives(const Recording& recording);

}  // namespace reprise::detail

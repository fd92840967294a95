// The samples of a range of replays. Threads: pure functions, except for the document's
// SampleStore, which is thread-safe; they may read the disk and throw TraceError.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "model/document.hpp"
#include "model/replay_statistics.hpp"

namespace reprise::model {

// Calls `each` for every sampled replay of the range whose samples are still there, in order. If
// more than `max_replays` are sampled, for that many, evenly spread.
void for_each_sampled(
    const Document& document, const GraphEntry& entry, const ReplayRange& range,
    std::size_t max_replays,
    const std::function<void(const trace::Replay&, const SampleStore::Block&)>& each);

// The blocks of for_each_sampled(); none if the document lacks the graph.
[[nodiscard]] std::vector<SampleStore::Block> blocks_of(const Document& document, GraphKey graph,
                                                        const ReplayRange& range,
                                                        std::size_t max_blocks);

// The statistics of the range's samples: the document's own for all replays, others are read. Never
// null.
[[nodiscard]] std::shared_ptr<const GraphStatistics> statistics_of(const Document& document,
                                                                   const GraphEntry& entry,
                                                                   const ReplayRange& range);

}  // namespace reprise::model

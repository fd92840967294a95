// The merge of the traces of ranks, as the commands show it. Threads: main thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "merge/merge_traces.hpp"
#include "model/temporary_files.hpp"

namespace reprise::cli {

// Merges with a progress line on stderr, then prints the warnings to it. Throws what
// trace::merge_traces() throws.
trace::MergeReport merge_with_progress(const std::vector<std::string>& inputs,
                                       const std::string& output);

// Replaces the traces of the ranks of one job by their merged trace, which exists as long as the
// result; leaves one, and two others, which are compared (null). Throws trace::TraceError.
[[nodiscard]] std::unique_ptr<model::MergedTraceFile> merge_ranks(
    std::vector<std::string>& targets);

// How the clocks are aligned: "8 ranks on 2 hosts, aligned to rank 0 within 12.3 us by 214
// exchanges and 1,000 collectives". Both lists are by session.
[[nodiscard]] std::string alignment_text(const std::vector<trace::Session>& sessions,
                                         const std::vector<trace::ClockAlignment>& alignments);

}  // namespace reprise::cli

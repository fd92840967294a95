// Merges the traces of the ranks of one job into one trace. Memory: about one chunk, the index of
// one trace, a RankTopology per trace and what RankAligner keeps. Threads: pure functions.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "trace/records.hpp"

namespace reprise::trace {

struct MergeDesc {
  std::vector<std::filesystem::path> inputs;
  // Replaced atomically at the end; no more public than any of the inputs (AtomicFile).
  std::filesystem::path output;
  // Receives the number of bytes processed and their total.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress = {};
};

struct MergeReport {
  std::vector<Session> sessions;           // by rank
  std::vector<ClockAlignment> alignments;  // by session
  std::uint64_t replays = 0, samples = 0;
  std::vector<std::string> warnings;  // also messages of the merged trace
};

// Throws TraceError: NotAllowed, with the files, unless each is the trace of one rank, all of the
// same job and of different ranks, and none is the output; others if an input cannot be read.
// Throws detail::FileError if the output cannot be written. Unless it returns, the output is
// unchanged.
MergeReport merge_traces(const MergeDesc& desc);

}  // namespace reprise::trace

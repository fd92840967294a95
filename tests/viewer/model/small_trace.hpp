// A trace made by hand: one graph of three nodes, three replays of it with their samples, and
// something of everything else; and how records become a file. Threads: values and pure functions.
#pragma once

#include <filesystem>
#include <utility>
#include <vector>

#include "trace/chunk.hpp"

namespace reprise::test {

[[nodiscard]] trace::Records small_topology();
[[nodiscard]] trace::Records small_events();  // the second replay comes before the first
[[nodiscard]] trace::Records small_samples();

using Chunks = std::vector<std::pair<trace::ChunkKind, trace::Records>>;

// Replaces the file.
void write_trace(const std::filesystem::path& path, const Chunks& chunks);
// Behind what is there.
void append_trace(const std::filesystem::path& path, const Chunks& chunks);

}  // namespace reprise::test

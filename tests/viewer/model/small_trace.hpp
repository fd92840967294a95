// A hand-made trace: one graph of three nodes, three replays with samples, and one record of every
// other kind; and conversion of records to a file. Threads: values and pure functions.
#pragma once

#include <filesystem>
#include <utility>
#include <vector>

#include "trace/chunk.hpp"

namespace reprise::test {

[[nodiscard]] trace::Records small_topology();
[[nodiscard]] trace::Records small_events();  // the second replay precedes the first
[[nodiscard]] trace::Records small_samples();

using Chunks = std::vector<std::pair<trace::ChunkKind, trace::Records>>;

// Replaces the file.
void write_trace(const std::filesystem::path& path, const Chunks& chunks);
// Appends to the file.
void append_trace(const std::filesystem::path& path, const Chunks& chunks);

}  // namespace reprise::test

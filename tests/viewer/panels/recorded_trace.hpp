// A trace that the engine records on the host device: the graph "frame" with concurrent tiles,
// labels, aliased transients, a required barrier and a redundant one. Threads: one at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "model/document.hpp"

namespace reprise::test {

inline constexpr std::uint32_t kRecordedTiles = 6;
inline constexpr std::uint64_t kRecordedReplays = 30;

void write_recorded_trace(const std::filesystem::path& path);
// The document of the recorded trace, which is written once per process. Its first graph has
// kRecordedReplays replays, all sampled.
[[nodiscard]] std::shared_ptr<const model::Document> recorded_document();

}  // namespace reprise::test

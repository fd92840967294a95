// A trace that the engine wrote: a graph "frame" of tiles side by side on the host device, with
// labels, transients that share bytes, a barrier that orders something and one that does not.
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "model/document.hpp"

namespace reprise::test {

inline constexpr std::uint32_t kRecordedTiles = 6;
inline constexpr std::uint64_t kRecordedReplays = 30;

void write_recorded_trace(const std::filesystem::path& path);
// Of such a file, written once a process. Its first graph has kRecordedReplays replays, all of them
// sampled.
[[nodiscard]] std::shared_ptr<const model::Document> recorded_document();

}  // namespace reprise::test

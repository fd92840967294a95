// Variants of recordings: the same buffers with some commands changed, added or removed.
// Deterministic. Threads: pure functions.
#pragma once

#include <cstdint>

#include "support/recording_builder.hpp"

namespace reprise::test {

struct EditDesc {
  std::uint64_t seed = 1;
  std::uint32_t changed = 0;  // commands that access another range of one of their buffers
  std::uint32_t moved = 0;    // commands that access another buffer
  std::uint32_t added = 0;    // copies of commands at other positions
  std::uint32_t removed = 0;
};
[[nodiscard]] RecordingPtr edited(const RecordingPtr& recording, const EditDesc& desc);

}  // namespace reprise::test

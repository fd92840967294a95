// Recordings that are nearly others: the same buffers, with some commands changed, added or gone.
// The same arguments give the same recording.
#pragma once

#include <cstdint>

#include "support/recording_builder.hpp"

namespace reprise::test {

struct EditDesc {
  std::uint64_t seed = 1;
  std::uint32_t changed = 0;  // commands that touch another range of one of their buffers
  std::uint32_t moved = 0;    // that touch another buffer in the place of one
  std::uint32_t added = 0;    // copies of commands, put somewhere else
  std::uint32_t removed = 0;
};
[[nodiscard]] RecordingPtr edited(const RecordingPtr& recording, const EditDesc& desc);

}  // namespace reprise::test

// Tuning files: tuned lowerings by device and plan hash, as JSON that people can read, merge and
// keep beside a program. Threads: pure functions of a file; of two concurrent writers, one wins
// completely.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "lowering/lowering_config.hpp"

namespace reprise::detail {

struct TuningKey {
  std::string_view device = {};  // name
  std::uint64_t plan_hash = 0;
};

// Empty if the file does not exist or has no entry for the key. Throws InvalidArgument naming the
// path and the problem if it is no tuning file or one of a later version.
[[nodiscard]] std::optional<LoweringConfig> read_tuning(const std::filesystem::path& path,
                                                        const TuningKey& key);

// Adds or replaces the entry for the key. Throws as read_tuning(), and NativeFailure if the file
// cannot be written.
void write_tuning(const std::filesystem::path& path, const TuningKey& key,
                  const LoweringConfig& choice);

}  // namespace reprise::detail

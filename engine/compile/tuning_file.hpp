// Tuning files: what graphs were tuned to, by device and plan hash, as JSON that people can read,
// merge and keep beside a program. Threads: pure functions of a file; whoever writes one at the
// same time as another wins as a whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "lowering/lowering_config.hpp"

namespace reprise::detail {

struct TuningKey {
  std::string_view device = {};  // its name
  std::uint64_t plan_hash = 0;
};

// Empty where there is no such file, or nothing in it for the key. Throws InvalidArgument naming
// the path and what is wrong for what is no tuning file, or one of a later version.
[[nodiscard]] std::optional<LoweringConfig> read_tuning(const std::filesystem::path& path,
                                                        const TuningKey& key);

// Adds the choice to what is in the file, in the place of one for the same key. Throws as
// read_tuning(), and NativeFailure where it can't write.
void write_tuning(const std::filesystem::path& path, const TuningKey& key,
                  const LoweringConfig& choice);

}  // namespace reprise::detail

// validate: checks one recording against a device's limits and, under Ordering::Explicit, against
// the user's own order. Ignores edges that later stages add. Threads: pure functions.
#pragma once

#include <vector>

#include <reprise/device_info.hpp>
#include <reprise/error.hpp>
#include <reprise/message.hpp>

#include "record/recording.hpp"

namespace reprise::detail {

struct Finding {
  Message message;
  ErrorCode code = ErrorCode::InvalidArgument;  // thrown if message.severity is Error
};

// Returns findings in command order. Off: memory safety (ranges, sizes, overlap). Basic: also every
// rule about one command. Full: also unordered hazards and redundant barriers.
[[nodiscard]] std::vector<Finding> validate(const Recording& recording, const DeviceInfo& device,
                                            Validation level);

// Throws the first finding of Severity::Error as Error (Stage::Validate), with the count of further
// errors.
void throw_first_error(const std::vector<Finding>& findings, const Recording& recording);

}  // namespace reprise::detail

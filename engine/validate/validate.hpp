// validate: checks one recording against a device's limits and, under Ordering::Explicit, against
// the user's own order. A pure function; never looks at edges that a later stage adds.
#pragma once

#include <vector>

#include <reprise/device_info.hpp>
#include <reprise/error.hpp>
#include <reprise/message.hpp>

#include "record/recording.hpp"

namespace reprise::detail {

struct Finding {
  Message message;
  ErrorCode code =
      ErrorCode::InvalidArgument;  // what it is thrown as, where message.severity is Error
};

// Findings in command order. Off: what keeps the process safe (ranges, sizes, overlap); Basic:
// every rule about one command; Full: hazards that nothing orders, barriers that order nothing.
[[nodiscard]] std::vector<Finding> validate(const Recording& recording, const DeviceInfo& device,
                                            Validation level);

// Throws the first Severity::Error as Error (Stage::Validate), telling how many more there are.
void throw_first_error(const std::vector<Finding>& findings, const Recording& recording);

}  // namespace reprise::detail

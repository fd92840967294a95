// How messages name a command: "command 4, dispatch saxpy in "forward/layer 1" (app.cpp:12)". Threads: pure functions.
#pragma once

#include <string>

#include "record/recording.hpp"

namespace reprise::detail {

[[nodiscard]] std::string describe_command(const Recording& recording, std::uint32_t command);

}  // namespace reprise::detail

// Descriptions for messages: "command 4, dispatch saxpy in "forward/layer 1" (app.cpp:12)"; "bytes
// [0, 64) of buffer "x"". Threads: pure functions.
#pragma once

#include <string>

#include "record/recording.hpp"

namespace reprise::detail {

[[nodiscard]] std::string describe_command(const Recording& recording, std::uint32_t command);
[[nodiscard]] std::string describe_buffer(const BufferCore& buffer);
[[nodiscard]] std::string describe_range(const BufferCore& buffer, std::uint64_t begin,
                                         std::uint64_t end);

}  // namespace reprise::detail

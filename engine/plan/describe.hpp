// Text shared by the text and DOT forms of a plan. Deterministic across platforms. Threads: pure
// functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "plan/plan.hpp"

namespace reprise::detail {

// "0x" and 16 digits.
[[nodiscard]] std::string hex(std::uint64_t value);
// "[0, 4096)"
[[nodiscard]] std::string range_text(std::uint64_t begin, std::uint64_t end);
[[nodiscard]] std::string_view access_name(Access access);
[[nodiscard]] std::string_view kind_name(BufferKind kind);
[[nodiscard]] std::string_view ordering_name(Ordering ordering);
// "RAW x [0, 4096)", "barrier 3 on x", "edge()", "recorded order"
[[nodiscard]] std::string cause_text(const Recording& recording, const EdgeCause& cause);
// The dependency edge `from` -> `to`; null if there is none. O(log parents).
[[nodiscard]] const Edge* find_edge(const DependencyGraph& dependencies, std::uint32_t from,
                                    std::uint32_t to);
// "app.cpp:12": the file name without its folders.
[[nodiscard]] std::string location_text(const SourceLocation& where);

}  // namespace reprise::detail

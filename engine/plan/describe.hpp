// Words that text and DOT of a plan share. Pure functions; the same input gives the same words on
// every machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "plan/plan.hpp"

namespace reprise::detail {

// In double quotes; quotes, backslashes and control characters escaped.
[[nodiscard]] std::string quote_text(std::string_view text);
// 16 digits after 0x.
[[nodiscard]] std::string hex(std::uint64_t value);
// "[0, 4096)"
[[nodiscard]] std::string range_text(std::uint64_t begin, std::uint64_t end);
[[nodiscard]] std::string_view access_name(Access access);
[[nodiscard]] std::string_view kind_name(BufferKind kind);
[[nodiscard]] std::string_view ordering_name(Ordering ordering);
// "RAW x [0, 4096)", "barrier 3 on x", "edge()", "recorded order"
[[nodiscard]] std::string cause_text(const Recording& recording, const EdgeCause& cause);
// Why schedule node `to` needs `from` to be over; null where the schedule has no such edge. O(log
// parents).
[[nodiscard]] const Edge* find_edge(const DependencyGraph& dependencies, std::uint32_t from,
                                    std::uint32_t to);
// "app.cpp:12": the file without its folders.
[[nodiscard]] std::string location_text(const SourceLocation& where);

}  // namespace reprise::detail

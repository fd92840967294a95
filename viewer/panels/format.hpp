// Numbers as people read them: with their unit, a thin choice of digits, and thousands separators. Threads: pure functions.
#pragma once

#include <cstdint>
#include <string>

namespace reprise::viewer {

// "812 ns", "361.2 us", "12.05 ms", "3.412 s"; below 0 with a sign; three to four digits that matter.
[[nodiscard]] std::string duration_text(double nanoseconds);
// All of one column or axis in the unit that suits `largest`: "0.361 ms" below "12.050 ms".
[[nodiscard]] std::string duration_text(double nanoseconds, double largest);
// "512 B", "3.2 KiB", "1.25 GiB".
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);
// "26,800".
[[nodiscard]] std::string count_text(std::uint64_t count);
// Of how many a second: "2,731", "59.8", "0.25".
[[nodiscard]] std::string rate_text(double per_second);
// "12.3 %"; "<0.1 %" where it is more than nothing.
[[nodiscard]] std::string percent_text(double part);
// "+12.3 %", "-0.4 %".
[[nodiscard]] std::string change_text(double part);
// At most `length` characters: the middle of a longer one becomes an ellipsis.
[[nodiscard]] std::string shortened(const std::string& text, std::size_t length);
// The last component of a path.
[[nodiscard]] std::string file_name(const std::string& path);

}  // namespace reprise::viewer

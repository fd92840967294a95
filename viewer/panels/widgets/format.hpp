// Text of numbers with units, a fitting precision and thousands separators. Threads: pure
// functions.
#pragma once

#include <cstdint>
#include <string>

namespace reprise::viewer {

// "812 ns", "361.2 us", "12.05 ms", "3.412 s": three to four significant digits, with a sign if
// negative.
[[nodiscard]] std::string duration_text(double nanoseconds);
// In the unit that suits `largest`, for the values of one column or axis: "0.361 ms" and
// "12.050 ms".
[[nodiscard]] std::string duration_text(double nanoseconds, double largest);
// "512 B", "3.2 KiB", "1.25 GiB".
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);
// The same of a change, with a sign if negative.
[[nodiscard]] std::string bytes_change_text(std::int64_t bytes);
// "26,800".
[[nodiscard]] std::string count_text(std::uint64_t count);
// "1 edge", "26,800 edges". `one`: the singular of a noun that ends in "s" in the plural.
[[nodiscard]] std::string counted_text(std::uint64_t count, const char* one);
// "2,731", "59.8", "0.25".
[[nodiscard]] std::string rate_text(double per_second);
// "12.3 %"; "<0.1 %" for small values above 0. `part` is a fraction.
[[nodiscard]] std::string percent_text(double part);
// "+12.3 %", "-0.4 %"; "x 2,295" for more than ten times. `part` is a fraction.
[[nodiscard]] std::string change_text(double part);
// At most `length` characters; an ellipsis replaces the middle of a longer text.
[[nodiscard]] std::string shortened(const std::string& text, std::size_t length);
// The last component of a path.
[[nodiscard]] std::string file_name(const std::string& path);

}  // namespace reprise::viewer

// Texts of wide characters, which traces have as UTF-8. Knows no profiler. Threads: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace reprise::detail {

// What is no character of Unicode becomes U+FFFD.
[[nodiscard]] std::string utf8_of(std::wstring_view wide);

}  // namespace reprise::detail

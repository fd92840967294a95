// Conversion of wide characters to UTF-8. Threads: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace reprise::detail {

// Invalid code points become U+FFFD.
[[nodiscard]] std::string utf8_of(std::wstring_view wide);

}  // namespace reprise::detail

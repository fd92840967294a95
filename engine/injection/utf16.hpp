// Conversion of wide characters to UTF-8. Threads: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace reprise::detail {

// Invalid code points become U+FFFD.
[[nodiscard]] std::string to_utf8(std::wstring_view wide);

}  // namespace reprise::detail

// The page of the browser: one HTML file with script and style, embedded by the build. Threads:
// any.
#pragma once

#include <string_view>

namespace reprise::viewer {

// "{{nonce}}" is replaced by the nonce of the response's Content-Security-Policy.
extern const std::string_view kPage;

}  // namespace reprise::viewer

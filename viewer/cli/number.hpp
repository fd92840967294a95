// The numbers of a command line. Threads: pure functions.
#pragma once

#include <charconv>
#include <limits>
#include <string>
#include <system_error>

#include <CLI/CLI.hpp>

namespace reprise::cli {

// A check for an option of type T: the whole text is a decimal number from `min` to `max`; neither
// nan nor a number that T cannot represent is one.
template <class T>
[[nodiscard]] CLI::Validator number(T min = std::numeric_limits<T>::lowest(),
                                    T max = std::numeric_limits<T>::max()) {
  return {[min, max](const std::string& text) {
            T value{};
            const char* const end = text.data() + text.size();
            const auto [stop, error] = std::from_chars(text.data(), end, value);
            // nan is not within any limits.
            if (error == std::errc() && stop == end && value >= min && value <= max)
              return std::string();
            const char* const kind = std::numeric_limits<T>::is_integer ? "an integer" : "a number";
            char limits[2][32] = {};
            std::to_chars(limits[0], limits[0] + 31, min);
            std::to_chars(limits[1], limits[1] + 31, max);
            return "\"" + text + "\" is not " + kind + " from " + limits[0] + " to " + limits[1];
          },
          ""};
}

}  // namespace reprise::cli

// The common part of the examples: the option --device, the check of a result, and exit codes.
// Knows the engine's public headers. Threads: the main thread.
#pragma once

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

#include <reprise/reprise.hpp>

namespace example {

// Thrown by an example that needs a feature which the device lacks; the text names both.
class Skipped : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline void check(bool is_right, const std::string& otherwise) {
  if (!is_right) throw std::runtime_error(otherwise);
}

// Calls `body` with the device of `--device NAME` or, without the option, with the best one.
// Returns the exit code: 0 success, 1 an error or a wrong result, 2 an invalid command line,
// 77 skipped.
inline int run(int argc, char** argv, void (*body)(const reprise::DeviceSelector&)) {
  const std::string_view path = argv[0];
  const std::string name(path.substr(path.rfind('/') + 1));
  const bool named = argc == 3 && std::string_view(argv[1]) == "--device";
  const bool help = argc == 2 && std::string_view(argv[1]) == "--help";
  if (argc > 1 && !named) {
    std::fprintf(help ? stdout : stderr, "usage: %s [--device NAME]\n", name.c_str());
    return help ? 0 : 2;
  }
  try {
    body(named ? reprise::DeviceSelector::named(argv[2]) : reprise::DeviceSelector::best());
    std::printf("%s: correct\n", name.c_str());
    return 0;
  } catch (const Skipped& skipped) {
    std::printf("%s: skipped: %s\n", name.c_str(), skipped.what());
    return 77;
  } catch (const std::exception& error) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s: %s\n", name.c_str(), error.what());
    return 1;
  }
}

}  // namespace example

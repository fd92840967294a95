// The commands of the program `reprise`: each adds its subcommand to the application and, if the
// command line names it, is called. A command returns the exit code of the program; it throws
// UsageError for a command line that parses and makes no sense, and any other exception for work
// that failed. Threads: the main thread's.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>

#include <CLI/CLI.hpp>

namespace reprise::cli {

inline constexpr int kDone = 0, kFailed = 1, kWrongUsage = 2,
                     kDoesNotFit = 3;  // the last of `plan` alone

class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What main calls if the subcommand was named.
struct Command {
  CLI::App* options = nullptr;
  std::function<int()> run;
};

[[nodiscard]] Command add_stats(CLI::App& program);
[[nodiscard]] Command add_export(CLI::App& program);
[[nodiscard]] Command add_diff(CLI::App& program);
[[nodiscard]] Command add_record(CLI::App& program);
[[nodiscard]] Command add_run(CLI::App& program);
[[nodiscard]] Command add_devices(CLI::App& program);
[[nodiscard]] Command add_view(CLI::App& program);
[[nodiscard]] Command add_sessions(CLI::App& program);
[[nodiscard]] Command add_plan(CLI::App& program);
[[nodiscard]] Command add_costs(CLI::App& program);

}  // namespace reprise::cli

// The commands of `reprise`. Each function adds a subcommand and returns the function to run if the
// command line selects it. A command returns the exit code. It throws UsageError for a command line
// that parses but is invalid, and any other exception for a failure. Threads: main thread.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>

#include <CLI/CLI.hpp>

namespace reprise::cli {

// kDoesNotFit: `plan` only
inline constexpr int kDone = 0, kFailed = 1, kWrongUsage = 2, kDoesNotFit = 3;

class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A subcommand and the function that runs it.
struct Command {
  CLI::App* options = nullptr;
  std::function<int()> run;
};

[[nodiscard]] Command add_stats(CLI::App& program);
[[nodiscard]] Command add_export(CLI::App& program);
[[nodiscard]] Command add_diff(CLI::App& program);
[[nodiscard]] Command add_merge(CLI::App& program);
[[nodiscard]] Command add_record(CLI::App& program);
[[nodiscard]] Command add_run(CLI::App& program);
[[nodiscard]] Command add_devices(CLI::App& program);
[[nodiscard]] Command add_view(CLI::App& program);
[[nodiscard]] Command add_serve(CLI::App& program);
[[nodiscard]] Command add_sessions(CLI::App& program);
[[nodiscard]] Command add_plan(CLI::App& program);
[[nodiscard]] Command add_costs(CLI::App& program);
[[nodiscard]] Command add_inspect(CLI::App& program);
[[nodiscard]] Command add_strip(CLI::App& program);

}  // namespace reprise::cli

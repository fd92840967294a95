// The `reprise` command-line program. Exit codes: 0 success, 1 failure, 2 wrong usage.
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/text.hpp"

namespace {

using reprise::detail::print_message;

void print_error(const std::string& text) {
  std::fflush(stdout);
  print_message(text);
}

std::string command_line(int argc, char** argv) {
  std::string text = "reprise";
  for (int i = 1; i < argc; ++i) text += std::string(" ") + argv[i];
  return text;
}

int wrong_usage(const CLI::App& program, const std::string& reason) {
  std::string which = "reprise";
  for (const CLI::App* named : program.get_subcommands()) which += " " + named->get_name();
  print_error(reason);
  std::fprintf(stderr, "Try %s --help.\n", which.c_str());  // names of our own
  return reprise::cli::kWrongUsage;
}

// Flushes stdout, so that a failed write (for example to a full disk) becomes a failure.
int finish(int code) {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    print_message("cannot write to stdout");
    return reprise::cli::kFailed;
  }
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace reprise::cli;
  const std::string whole_command = command_line(argc, argv);  // for a lack of memory
  CLI::App program(
      "Record, inspect and compare traces of graph replays, with the time of every node. "
      "Plan memory.",
      "reprise");
  program.set_version_flag("--version", "reprise " REPRISE_VERSION);
  program.require_subcommand(0, 1);
  program.footer(
      "Run 'reprise COMMAND --help' for options and examples.\nExit codes: 0 success, 1 failure, "
      "2 wrong usage.");
  const std::vector<Command> commands = {
      add_view(program),     add_serve(program),  add_stats(program),  add_inspect(program),
      add_costs(program),    add_strip(program),  add_export(program), add_diff(program),
      add_merge(program),    add_record(program), add_run(program),    add_devices(program),
      add_sessions(program), add_plan(program)};
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    return finish(program.exit(success));
  } catch (const CLI::ExtrasError& error) {
    const bool names_none = program.get_subcommands().empty() && argc > 1 && *argv[1] != '-';
    return wrong_usage(
        program, names_none ? "unknown command \"" + std::string(argv[1]) + "\"" : error.what());
  } catch (const CLI::ParseError& error) {
    return wrong_usage(program, error.what());
  }
  try {
    for (const Command& command : commands) {
      if (command.options->parsed()) return finish(command.run());
    }
    return wrong_usage(program, "a command is required");
  } catch (const UsageError& error) {
    return wrong_usage(program, error.what());
  } catch (const std::exception& error) {
    print_error(reprise::detail::failure_text(error, "running ", whole_command));
  }
  return finish(kFailed);
}

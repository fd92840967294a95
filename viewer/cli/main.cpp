// The program `reprise`. Exit codes: 0 done, 1 the work failed, 2 the command line is wrong.
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "cli/commands.hpp"

namespace {

void complain(const std::string& text) {
  std::fflush(stdout);
  std::fprintf(stderr, "reprise: %s\n", text.c_str());
}

int wrong_usage(const CLI::App& program, const std::string& reason) {
  std::string which = "reprise";
  for (const CLI::App* named : program.get_subcommands()) which += " " + named->get_name();
  complain(reason);
  std::fprintf(stderr, "Try %s --help.\n", which.c_str());
  return reprise::cli::kWrongUsage;
}

// What was written has to have arrived: a full disk behind stdout is a failure.
int finish(int code) {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    std::fputs("reprise: cannot write to stdout\n", stderr);
    return reprise::cli::kFailed;
  }
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace reprise::cli;
  CLI::App program(
      "Looks at traces of Reprise, replays of graphs and every node's time in them; and plans "
      "memory.",
      "reprise");
  program.set_version_flag("--version", "reprise " REPRISE_VERSION);
  program.require_subcommand(0, 1);
  program.footer(
      "Each command has a --help of its own with examples.\nExit codes: 0 done, 1 the work failed, "
      "2 the command line is wrong.");
  const std::vector<Command> commands = {
      add_view(program),     add_stats(program),  add_costs(program), add_export(program),
      add_diff(program),     add_record(program), add_run(program),   add_devices(program),
      add_sessions(program), add_plan(program)};
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    return finish(program.exit(success));
  } catch (const CLI::ExtrasError& error) {
    const bool names_none = program.get_subcommands().empty() && argc > 1 && *argv[1] != '-';
    return wrong_usage(program, names_none ? "there is no command \"" + std::string(argv[1]) + "\""
                                           : error.what());
  } catch (const CLI::ParseError& error) {
    return wrong_usage(program, error.what());
  }
  try {
    for (const Command& command : commands) {
      if (command.options->parsed()) return finish(command.run());
    }
    return wrong_usage(program, "which command?");
  } catch (const UsageError& error) {
    return wrong_usage(program, error.what());
  } catch (const std::exception& error) {
    complain(error.what());
  }
  return finish(kFailed);
}

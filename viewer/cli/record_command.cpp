#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

#include "cli/attach.hpp"
#include "cli/child_process.hpp"
#include "cli/commands.hpp"
#include "cli/live_viewer.hpp"
#include "cli/run_report.hpp"
#include "cli/text.hpp"
#include "trace/trace_reader.hpp"

namespace reprise::cli {

namespace {

struct RecordOptions {
  std::string output, max, profile, attach, token;
  bool serve = false;
  std::vector<std::string> command;
};

bool is_size(const std::string& text) {
  const std::string digits = text.substr(0, text.find_last_not_of("kKmMgG") + 1);
  return !digits.empty() && text.size() - digits.size() <= 1 &&
         digits.find_first_not_of("0123456789") == std::string::npos;
}

// Requires is_size(text).
std::uint64_t size_of(const std::string& text) {
  const std::size_t digits = text.find_last_not_of("kKmMgG") + 1;
  const char unit = digits == text.size() ? ' ' : static_cast<char>(std::tolower(text.back()));
  const unsigned shift = unit == 'k' ? 10 : unit == 'm' ? 20 : unit == 'g' ? 30 : 0;
  constexpr std::size_t kMaxDigits = 12;
  const std::uint64_t value = digits > kMaxDigits ? 0 : std::stoull(text.substr(0, digits));
  const std::uint64_t size = value << shift;
  if (digits > kMaxDigits || size >> shift != value)
    throw UsageError("--max: " + text + " is too large; the maximum is 12 digits and 16 EiB");
  if (size < trace::TraceFile::kMinMaxBytes) {
    throw UsageError("--max: " + text + " is too small for a trace; the minimum is " +
                     std::to_string(trace::TraceFile::kMinMaxBytes >> 10) + "k");
  }
  return size;
}

trace::LiveProfile profile_of(const std::string& name) {
  if (name == "off") return trace::LiveProfile::Off;
  if (name == "replays") return trace::LiveProfile::Replays;
  return name == "sampled" ? trace::LiveProfile::Sampled : trace::LiveProfile::Every;
}

int attach(const RecordOptions& options, const std::filesystem::path& path) {
  AttachDesc desc;
  desc.session = options.attach;
  desc.token = options.token;
  if (desc.token.empty()) {
    if (const char* token = ::secure_getenv("REPRISE_TOKEN")) desc.token = token;
  }
  desc.file.path = path;
  if (!options.max.empty()) desc.file.max_bytes = size_of(options.max);
  if (!options.profile.empty()) desc.profile = profile_of(options.profile);
  std::optional<LiveViewer> server;
  if (options.serve) server.emplace(LiveViewer::Kind::Server, find_session(options.attach));
  record_session(desc);
  return kDone;
}

// Prints a summary of each trace that the program wrote, or why there is none. Returns whether
// every trace is readable and there is at least one.
bool report(const RecordOptions& options, const RunFiles& files) {
  const std::vector<std::filesystem::path> written = files.written();
  if (written.empty()) {
    print_message({options.command.front(), " wrote no trace to ", options.output,
                   "; it may not use Reprise, or its build excludes tracing"});
    return false;
  }
  bool readable = true;
  for (std::size_t i = 0; i < written.size(); ++i) {
    const std::filesystem::path& path = written[i];
    try {
      const trace::TraceReader reader(path);
      if (i < kReportedFiles)
        print_message({shown(path).string(), ": ", bytes(std::filesystem::file_size(path)), ", ",
                       counted(reader.chunks().size(), "chunk")});
    } catch (const std::exception& error) {
      print_message(detail::failure_text(error, "reading ", path.native()));
      readable = false;
    }
  }
  if (written.size() > kReportedFiles)
    print_message("and " + counted(written.size() - kReportedFiles, "further trace"));
  if (const std::string hint = files.view_hint(written); !hint.empty()) print_message(hint);
  return readable;
}

int run(const RecordOptions& options) {
  if (options.command.empty() && options.attach.empty())
    throw UsageError(
        "CMD is required: the program to run, after --, unless --attach SESSION is given");
  if (!options.command.empty() && !options.attach.empty())
    throw UsageError("--attach SESSION records a running program; CMD starts another one");
  // Commas separate the options in the variable that the child reads.
  if (options.output.find(',') != std::string::npos)
    throw UsageError("-o: a trace path must not contain a comma: " + options.output);
  // The child may change its working directory.
  const std::filesystem::path path = std::filesystem::absolute(options.output).lexically_normal();
  if (path.string().find(',') != std::string::npos)
    throw UsageError("-o: a trace path must not contain a comma: " + path.string());
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw std::runtime_error("cannot write " + options.output + ": it is a directory");
  if (!std::filesystem::is_directory(path.parent_path(), ignored))
    throw std::runtime_error("cannot write " + options.output + ": no such directory");
  if (!options.attach.empty()) return attach(options, path);

  ChildProcess child{options.command,
                     {{"REPRISE_TRACE", (options.serve ? "live," : "") + path.string()},
                      {"REPRISE_PROFILE", options.profile.empty() ? "every" : options.profile}}};
  if (!options.max.empty())
    child.environment["REPRISE_TRACE"] += ",max=" + options.max + ",keep=last";
  const RunFiles files(path);
  std::optional<LiveViewer> server;
  if (options.serve) server.emplace(LiveViewer::Kind::Server);
  const ChildExit exit = run_child(child);
  server.reset();
  if (!exit.error.empty()) {
    print_message({"cannot run ", options.command.front(), ": ", exit.error});
    return exit.code;
  }
  const bool has_trace = report(options, files);
  return exit.code == 0 && !has_trace ? kFailed : end_like(exit);
}

}  // namespace

Command add_record(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "record",
      "Record a trace of a program that uses Reprise: run it, or attach to a running one");
  auto options = std::make_shared<RecordOptions>();
  app->add_option("-o,--output", options->output, "trace file to write")->required();
  app->add_option("--max", options->max,
                  "limit the trace to its newest SIZE bytes; suffixes k, M, G; default: unlimited")
      ->check([](const std::string& size) {
        return is_size(size) ? std::string() : "\"" + size + "\" is not a size such as 500M";
      });
  app->add_option(
         "--profile", options->profile,
         "replays whose nodes are timed: off, replays (no nodes), sampled or every; default: "
         "every, or the program's own setting with --attach")
      ->check(CLI::IsMember({"off", "replays", "sampled", "every"}));
  app->add_option(
         "--attach", options->attach,
         "record a program that runs with REPRISE_TRACE=live: its process id, name or socket "
         "(see reprise sessions), or host:port")
      ->type_name("SESSION");
  app->add_flag("--serve", options->serve,
                "show the viewer in browsers meanwhile, and print the link (see reprise serve)");
  app->add_option("--token", options->token,
                  "token of the session at host:port; default: $REPRISE_TOKEN");
  app->add_option("CMD", options->command, "program to run and its arguments, after --");
  app->footer(
      "Exit code: the program's (127 if it was not found); 1 if the program succeeded but wrote no "
      "trace. A signal that ends the\n"
      "program ends reprise as well; SIGTERM, SIGINT and SIGHUP are passed to the program.\n"
      "The program is looked up in $PATH and runs with REPRISE_TRACE and REPRISE_PROFILE set. If "
      "it "
      "starts several processes\n"
      "that use Reprise at the same time, one writes FILE and each of the others FILE.PID. Ranks "
      "of "
      "mpirun, srun and torchrun\n"
      "write one trace each, run.rank3.reprise for run.reprise; reprise view and reprise merge "
      "take "
      "them as one.\n"
      "With --attach, records until the program ends or Ctrl+C is pressed; the program keeps "
      "running. "
      "--profile then applies while recording.\n"
      "Examples:\n  reprise record -o run.reprise -- ./digits --epochs 3\n  reprise record -o "
      "now.reprise --attach digits --profile sampled\n  reprise record -o run.reprise -- mpirun -n "
      "4 "
      "./digits\n  reprise record -o last.reprise --max 500M "
      "--profile sampled -- ./server");
  return {app, [options] { return run(*options); }};
}

}  // namespace reprise::cli

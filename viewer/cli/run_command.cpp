#include <dlfcn.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "cli/child_process.hpp"
#include "cli/commands.hpp"
#include "cli/fault_dumps.hpp"
#include "cli/live_viewer.hpp"
#include "cli/native_lines.hpp"
#include "cli/number.hpp"
#include "cli/observing_cost.hpp"
#include "cli/run_report.hpp"
#include "cli/text.hpp"
#include "cli/viewer_modules.hpp"
#include "model/observed_run.hpp"
#include "model/program_files.hpp"

namespace reprise::cli {

namespace {

namespace fs = std::filesystem;

struct RunOptions {
  std::string output = "run.reprise", follow, stacks = "python", hang_after;
  bool launch_stacks = false;
  bool nodes = false, yield = false, view = false, serve = false, faults = false, keep_dump = false;
  std::size_t cost_pairs = 0;
  std::vector<std::string> command;
};

fs::path checked_output(const RunOptions& options) {
  const fs::path path = fs::absolute(options.output).lexically_normal();
  // Commas separate the options in the variable that the child reads.
  if (path.string().find(',') != std::string::npos)
    throw UsageError("-o: a trace path must not contain a comma: " + path.string());
  std::error_code ignored;
  if (fs::is_directory(path, ignored))
    throw std::runtime_error("cannot write " + options.output + ": it is a directory");
  if (!fs::is_directory(path.parent_path(), ignored))
    throw std::runtime_error("cannot write " + options.output + ": no such directory");
  return path;
}

// The seconds of "30s", "500ms", "2m" or "30"; 0 for an empty text.
double seconds_of(const std::string& text) {
  if (text.empty()) return 0;
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const std::string_view unit(stop, end);
  const double scale = unit == "ms" ? 1e-3 : unit == "m" ? 60 : unit.empty() || unit == "s" ? 1 : 0;
  constexpr double kMin = 0.1, kMax = 1e6;
  if (error != std::errc() || !(value * scale >= kMin && value * scale <= kMax))
    throw UsageError("--hang-after: \"" + text +
                     "\" is no duration from 100ms to 1000000s, such as 30s, 500ms or 2m");
  return value * scale;
}

ChildProcess child_of(const RunOptions& options, const fs::path& output, const fs::path& library,
                      const model::RunErrors& errors, std::string cost) {
  ChildProcess child{options.command, {}};
  if (library.empty()) return child;
  child.environment =
      model::observation_variables({.library = library,
                                    .trace = "live," + output.string(),
                                    .errors = errors.path(),
                                    .nodes = options.nodes,
                                    .yield = options.yield,
                                    .dumps = options.faults || !options.hang_after.empty(),
                                    .stacks = options.stacks,
                                    .launch_stacks = options.launch_stacks,
                                    .follow = options.follow,
                                    .cost = std::move(cost)});
  return child;
}

// The measured cost of observing the program with these options. Empty: it is not asked for.
std::string measured_cost(const RunOptions& options, const fs::path& library,
                          const model::RunErrors& errors) {
  if (options.cost_pairs == 0 || library.empty()) return {};
  std::string cost = measure_cost(
      {options.command, {}},
      [&](const fs::path& trace) { return child_of(options, trace, library, errors, {}); },
      library.parent_path() / model::kInterposer, options.cost_pairs);
  print_message(cost);
  return cost;
}

bool has_driver() {
  void* const driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (driver == nullptr) return false;
  ::dlclose(driver);
  return true;
}

// False: it failed, and would fail for other traces too.
bool add_lines(const fs::path& trace) {
  try {
    const NativeLines added = add_native_lines(trace);
    if (added.frames != 0 && added.lines == 0)
      print_message("native stacks have no source lines: no module in them has debug information");
    return true;
  } catch (const std::exception& error) {
    print_message(error.what());
    return false;
  }
}

// Prints a line per trace written by the run, and the errors. Returns the traces.
std::vector<fs::path> report(const RunOptions& options, const RunFiles& files,
                             model::RunErrors& errors) {
  const std::vector<fs::path> written = files.written();
  const std::vector<std::string> failed = errors.take();
  for (const std::string& error : failed) print_message(error);
  if (written.empty() && failed.empty()) {
    print_message("no trace was written: " + options.command.front() +
                  (has_driver() ? " did not initialise CUDA"
                                : " could not initialise CUDA: this machine has no GPU driver"));
  }
  if (options.stacks == "native") {
    for (const fs::path& file : written) {
      if (!add_lines(file)) break;
    }
  }
  for (std::size_t i = 0; i < std::min(written.size(), kReportedFiles); ++i) {
    const fs::path& file = written[i];
    try {
      const RunSummary summary = summarise(file);
      print_message(summary_line(shown(file), summary));
      for (const std::string& warning : summary.warnings) print_message("  " + warning);
    } catch (const std::exception& error) {
      print_message(detail::failure_text(error, "reading ", file.native()));
    }
  }
  if (written.size() > kReportedFiles)
    print_message("and " + counted(written.size() - kReportedFiles, "further trace"));
  if (const std::string hint = files.view_hint(written); !hint.empty()) print_message(hint);
  return written;
}

void view(const fs::path& file) {
  RepriseViewRequest request{};
  const std::string target = file.string();
  request.target = target.c_str();
  request.shade = kRepriseShadeRemembered;
  WindowModule().view(request);
}

// Runs the program and reports. Its files and dumps have been released when it returns.
ChildExit run_observed(const RunOptions& options, const fs::path& output, const fs::path& library,
                       double hang_seconds) {
  model::RunErrors errors;
  std::string cost = measured_cost(options, library, errors);
  const RunFiles files(output);
  FaultDumps dumps(library.empty() ? FaultDumps::Desc{}
                                   : FaultDumps::Desc{.faults = options.faults,
                                                      .hang_seconds = hang_seconds,
                                                      .keep = options.keep_dump});
  std::optional<LiveViewer> viewer;
  if (options.view && !library.empty()) viewer.emplace(LiveViewer::Kind::Window);
  if (options.serve && !library.empty()) viewer.emplace(LiveViewer::Kind::Server);
  ChildProcess child = child_of(options, output, library, errors, std::move(cost));
  child.environment.merge(dumps.environment());
  if (dumps.are_requested()) child.unset = {model::kInjectionVariable};
  if (hang_seconds != 0) {
    child.on_second = [&] {
      try {
        dumps.poll(files.present());
      } catch (const std::exception&) {
        // The program runs on, and the report after its end states the error.
      }
    };
  }
  ChildExit exit = run_child(child);
  if (!exit.error.empty())
    print_message("cannot run " + options.command.front() + ": " + exit.error);
  if (!exit.error.empty() || library.empty()) return exit;
  const std::vector<fs::path> written = report(options, files, errors);
  dumps.report(written, exit);
  if (viewer && !viewer->finish() && options.view) {
    if (written.empty()) {
      print_message("no window was opened: there is no trace to view");
    } else {
      view(written.front());
    }
  }
  return exit;
}

int run(const RunOptions& options) {
  if (options.command.empty()) throw UsageError("CMD is required: the program to run, after --");
  const double hang_seconds = seconds_of(options.hang_after);
  if (options.launch_stacks && options.stacks == "none")
    throw UsageError("--launch-stacks requires --stacks python or native");
  if (options.keep_dump && !options.faults && hang_seconds == 0)
    throw UsageError("--keep-dump requires --faults or --hang-after");
  if (options.faults || hang_seconds != 0) {
    const char* const refused = options.yield             ? "--yield"
                                : options.nodes           ? "--nodes"
                                : options.cost_pairs != 0 ? "--measure-cost"
                                                          : nullptr;
    if (refused != nullptr)
      throw UsageError(
          std::string(refused) +
          " cannot be combined with --faults and --hang-after, which observe the "
          "program without CUPTI, because the driver writes no GPU core dump beside it");
  }
  const fs::path output = checked_output(options),
                 library = model::injection_library(model::this_program());
  if (library.empty()) {
    print_message(std::string(model::kInjectionLibrary) +
                  " is missing (this build has no CUDA); the program runs unobserved");
  } else if (const char* other = std::getenv(model::kInjectionVariable);
             other != nullptr && *other != '\0') {
    print_message(std::string(model::kInjectionVariable) + " is set to " + other +
                  "; this run replaces that tool's CUDA injection");
  }
  const ChildExit exit = run_observed(options, output, library, hang_seconds);
  return exit.error.empty() ? end_like(exit) : exit.code;
}

}  // namespace

Command add_run(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "run", "Run a program and observe its CUDA graphs, live and in a trace");
  auto options = std::make_shared<RunOptions>();
  app->add_option("-o,--output", options->output,
                  "trace file to write; each further process of the program writes its own trace, "
                  "named FILE.PID, and each rank of a job one named by its rank")
      ->capture_default_str();
  app->add_flag("--nodes", options->nodes,
                "time every node of every replay; default: only while a viewer is connected");
  app->add_option(
         "--follow", options->follow,
         "record every change of the parameters of the nodes whose kernel or label contains "
         "this text; default: their number and the latest values")
      ->type_name("TEXT");
  app->add_option("--stacks", options->stacks,
                  "call stacks of nodes and graphs, of the threads that create them: python: in "
                  "processes that run Python; native: of native code, with the source lines of "
                  "modules that have debug "
                  "information; none")
      ->check(CLI::IsMember({"python", "native", "none"}))
      ->capture_default_str();
  app->add_flag(
      "--launch-stacks", options->launch_stacks,
      "record the call stacks of launches too, which costs each launch some microseconds");
  app->add_flag(
      "--yield", options->yield,
      "leave CUPTI to the program, so that its own profiler works; graphs are not observed");
  app->add_option("--measure-cost", options->cost_pairs,
                  "first run the program alone and observed in turn, this many times, without its "
                  "output, and compare the times from launch to launch; the result is also in the "
                  "trace")
      ->type_name("PAIRS")
      ->check(number<std::size_t>(1, 1000));
  app->add_flag(
      "--faults", options->faults,
      "name the kernel, node and replay of an illegal access and similar exceptions: the driver "
      "writes a GPU core dump, and the program ends at the fault, also where it would catch it");
  app->add_option("--hang-after", options->hang_after,
                  "name the running nodes when a wait of the program for the GPU takes this long, "
                  "such as 30s; the driver ends the running kernels, and the wait returns an error")
      ->type_name("DURATION");
  app->add_flag("--keep-dump", options->keep_dump,
                "keep the GPU core dumps of --faults and --hang-after, which contain code and "
                "parameters");
  CLI::Option* view =
      app->add_flag("--view", options->view, "open a viewer window while the program runs");
  app->add_flag("--serve", options->serve,
                "show the viewer in browsers while the program runs, and print the link (see "
                "reprise serve)")
      ->excludes(view);
  app->add_option("CMD", options->command, "program to run and its arguments, after --");
  app->footer(
      "The program needs no changes. Exit code: the program's (127 if it was not found). A signal "
      "that ends the program ends\nreprise as well; SIGTERM, SIGINT and SIGHUP are passed to the "
      "program.\n"
      "The trace contains every CUDA graph that the program instantiates, with kernels, grids, "
      "edges, latest parameters\nand launches. NVTX ranges that are open during "
      "stream capture become node labels. Nodes name the line of Python that\ncreated "
      "them. CUPTI has a single client: a CUPTI-based profiler in the program collects nothing "
      "unless --yield\nis given. CUDA's own variables for GPU core dumps (CUDA_COREDUMP_FILE and "
      "others) apply where they are set.\n"
      "Examples:\n  reprise run -- python3 train.py\n  reprise run -o step.reprise --nodes -- "
      "./app --steps 10\n  reprise run --view -- torchrun --nproc-per-node 4 train.py");
  return {app, [options] { return run(*options); }};
}

}  // namespace reprise::cli

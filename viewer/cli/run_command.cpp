#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <system_error>

#include "cli/child_process.hpp"
#include "cli/commands.hpp"
#include "cli/live_viewer.hpp"
#include "cli/program_files.hpp"
#include "cli/run_report.hpp"
#include "cli/window_module.hpp"

namespace reprise::cli {

namespace {

namespace fs = std::filesystem;

constexpr char kLibrary[] = "libreprise_injection.so";
constexpr char kInjection[] = "CUDA_INJECTION64_PATH", kNvtxInjection[] = "NVTX_INJECTION64_PATH";

struct RunOptions {
  std::string output = "run.reprise";
  bool nodes = false, yield = false, view = false;
  std::vector<std::string> command;
};

void say(const std::string& text) { std::fprintf(stderr, "reprise: %s\n", text.c_str()); }

// Empty: this build has none.
fs::path injection_library() {
  for (const fs::path& place : library_places(this_program(), kLibrary)) {
    std::error_code ignored;
    if (fs::exists(place, ignored)) return place;
  }
  return {};
}

fs::path checked_output(const RunOptions& options) {
  const fs::path path = fs::absolute(options.output).lexically_normal();
  // Commas part the options that the child reads.
  if (path.string().find(',') != std::string::npos)
    throw UsageError("-o: a path of a trace has no comma: " + path.string());
  std::error_code ignored;
  if (fs::is_directory(path, ignored))
    throw std::runtime_error("cannot write " + options.output + ": it is a folder");
  if (!fs::is_directory(path.parent_path(), ignored))
    throw std::runtime_error("cannot write " + options.output + ": there is no such folder");
  return path;
}

ChildProcess child_of(const RunOptions& options, const fs::path& output, const fs::path& library) {
  ChildProcess child{options.command, {}};
  if (library.empty()) return child;
  if (const char* other = std::getenv(kInjection); other != nullptr && *other != '\0') {
    say(std::string(kInjection) + " names " + other +
        ": another tool wants this program's CUDA; for this run it is set aside");
  }
  child.environment = {{kInjection, library.string()},
                       {"REPRISE_RUN_TRACE", "live," + output.string()},
                       {"REPRISE_RUN_PARENT", std::to_string(::getpid())},
                       {"REPRISE_RUN_NODES", options.nodes ? "1" : "0"},
                       {"REPRISE_RUN_YIELD", options.yield ? "1" : "0"}};
  if (std::getenv(kNvtxInjection) == nullptr) child.environment[kNvtxInjection] = library.string();
  return child;
}

bool has_driver() {
  void* const driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (driver == nullptr) return false;
  ::dlclose(driver);
  return true;
}

// As one would write it from here.
fs::path shown(const fs::path& file) {
  fs::path from_here = fs::proximate(file);
  return from_here.string().starts_with("..") ? file : from_here;
}

// What there is to see now.
std::vector<fs::path> report(const RunOptions& options, const RunFiles& files) {
  const std::vector<fs::path> written = files.written();
  if (written.empty()) {
    say("no trace: " + options.command.front() +
        (has_driver() ? " did not start CUDA"
                      : " could not start CUDA, this machine has no driver of a GPU"));
  }
  for (const fs::path& file : written) {
    try {
      const RunSummary summary = summarise(file);
      say(line_of(shown(file), summary));
      for (const std::string& warning : summary.warnings) say("  " + warning);
    } catch (const std::exception& error) {
      say(error.what());
    }
  }
  return written;
}

void view(const fs::path& file) {
  RepriseViewRequest request{};
  const std::string target = file.string();
  request.target = target.c_str();
  request.shade = kRepriseShadeRemembered;
  WindowModule().view(request);
}

int run(const RunOptions& options) {
  if (options.command.empty()) throw UsageError("CMD is required: the program to run, after --");
  const fs::path output = checked_output(options), library = injection_library();
  if (library.empty())
    say(std::string(kLibrary) +
        " is not beside this program, which was built without CUDA: what it runs is not seen");
  const RunFiles files(output);
  std::optional<LiveViewer> viewer;
  if (options.view && !library.empty()) viewer.emplace();
  const ChildExit exit = run_child(child_of(options, output, library));
  if (!exit.error.empty()) {
    say("cannot run " + options.command.front() + ": " + exit.error);
    return exit.code;
  }
  if (library.empty()) return exit.code;
  const std::vector<fs::path> written = report(options, files);
  if (viewer && !viewer->finish()) {
    if (written.empty()) {
      say("no window: there is nothing to look at");
    } else {
      view(written.front());
    }
  }
  return exit.code;
}

}  // namespace

Command add_run(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "run", "Watch the CUDA graphs of any program that it runs, into a trace and live");
  auto options = std::make_shared<RunOptions>();
  app->add_option("-o,--output", options->output,
                  "the trace to write; each further process of the program writes one of its own, "
                  "with .PID behind the name")
      ->capture_default_str();
  app->add_flag("--nodes", options->nodes,
                "time every node of every replay; otherwise only while a viewer looks");
  app->add_flag("--yield", options->yield,
                "leave CUPTI to the program: its own profiler works, and its graphs are not seen");
  app->add_flag("--view", options->view, "open a window on it while it runs");
  app->add_option("CMD", options->command, "the program and its arguments, after --");
  app->footer(
      "The program need not know of Reprise. Its exit code becomes this one's (128 and the "
      "signal's number if one ended it, 127 if it is not there).\n"
      "Every CUDA graph that it instantiates is in the trace, with kernels, grids, edges, updates "
      "and each launch; NVTX ranges that were open while a\n"
      "node was captured are its labels. CUPTI serves one at a time: a profile that the program "
      "takes of itself by it stays empty meanwhile.\n"
      "Examples:\n  reprise run -- python3 train.py\n  reprise run -o step.reprise --nodes -- "
      "./app --steps 10\n  reprise run --view -- torchrun --nproc-per-node 4 train.py");
  return {app, [options] { return run(*options); }};
}

}  // namespace reprise::cli

#include "application/program_run.hpp"

#include <doctest/doctest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/environment_variable.hpp"
#include "support/paths.hpp"

namespace fs = std::filesystem;
using namespace reprise;
using namespace reprise::viewer;

namespace {

fs::path program_with(const std::string& name, const std::string& script) {
  const fs::path path = test::scratch_folder() / name;
  std::ofstream(path) << "#!/bin/sh\n" << script << '\n';
  fs::permissions(path, fs::perms::owner_all);
  return path;
}

// Waits for a child that exits by itself, without reaping it.
bool until_ended(ProgramRun& run) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(run.pid()), &info, WEXITED | WNOWAIT) == 0 &&
         !run.is_running();
}

using Directory = ProgramRunDesc::Directory;

ProgramRunDesc run_of(const fs::path& program, Directory directory = Directory::Current) {
  return {.name = "the program", .command = {program.string(), "argument"}, .directory = directory};
}

bool is_there(pid_t pid) { return ::kill(pid, 0) == 0 || errno != ESRCH; }

// A named pipe through which a child reports that it is ready.
fs::path new_pipe(const std::string& name) {
  fs::path path = test::scratch_folder() / name;
  REQUIRE(::system(("mkfifo " + path.string()).c_str()) == 0);
  return path;
}

std::string line_of(const fs::path& pipe) {
  std::ifstream file(pipe);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

TEST_CASE("program run: the child ends with its owner, and its files are removed") {
  const fs::path pipe = new_pipe("ready");
  pid_t pid = 0;
  fs::path folder;
  {
    ProgramRun run(
        run_of(program_with("runs", "echo $$ $PWD > " + pipe.string() + "; exec sleep 1000"),
               Directory::Private));
    const std::string line = line_of(pipe);
    pid = run.pid();
    CHECK(run.is_running());
    CHECK(line.find(std::to_string(pid) + " ") == 0);
    folder = line.substr(line.find(' ') + 1);
    CHECK(fs::is_empty(folder));
    const fs::path socket = test::scratch_folder() / "its.sock";
    std::ofstream(socket) << "";
    run.set_session(socket);
  }
  CHECK(!is_there(pid));
  CHECK(!fs::exists(folder.parent_path()));
  CHECK(!fs::exists(test::scratch_folder() / "its.sock"));
}

TEST_CASE("program run: the processes that the program started belong to it, and end with it") {
  const fs::path pipe = new_pipe("family"), held = new_pipe("held");
  std::ifstream held_by_child;
  {
    ProgramRun run(run_of(program_with(
        "parent", "sleep 1000 > " + held.string() + " & echo $! > " + pipe.string() + "; wait")));
    held_by_child.open(held);  // waits for the child
    const pid_t child = std::atoi(line_of(pipe).c_str());
    REQUIRE(child > 1);
    CHECK(run.has_process(child));
    CHECK(run.has_process(run.pid()));
    CHECK_FALSE(run.has_process(::getpid()));
  }
  std::string line;
  CHECK_FALSE(std::getline(held_by_child, line));  // the end comes when no process holds it
}

TEST_CASE("program run: the folder of a killed viewer is removed, no other one") {
  const fs::path pipe = new_pipe("in-use");
  const ProgramRun run(
      run_of(program_with("used", "echo $PWD > " + pipe.string() + "; exec sleep 1000"),
             Directory::Private));
  const fs::path in_use = fs::path(line_of(pipe)).parent_path();
  // A process that was killed while it ran the sample holds no lock on the folder.
  const fs::path abandoned = in_use.parent_path() / ".reprise-viewer-program-killed";
  fs::create_directories(abandoned / "out");
  const fs::path of_a_user = abandoned.string() + "-results";
  fs::create_directories(of_a_user);
  const ProgramRun next(run_of(program_with("next", "exec sleep 1000")));
  CHECK(fs::exists(in_use));
  CHECK_FALSE(fs::exists(abandoned));
  CHECK(fs::remove(of_a_user));
}

TEST_CASE("program run: a child that ignores SIGTERM is killed") {
  const fs::path pipe = new_pipe("stubborn-ready");
  pid_t pid = 0;
  {
    const ProgramRun run(run_of(program_with(
        "stubborn", "trap '' TERM; echo yes > " + pipe.string() + "; while :; do sleep 1; done")));
    pid = run.pid();
    CHECK(line_of(pipe) == "yes");
  }
  CHECK(!is_there(pid));
}

TEST_CASE("program run: it has a live session that accepts profile requests, and the injection") {
  const fs::path pipe = new_pipe("environment");
  const fs::path program = program_with(
      "asked",
      "echo $REPRISE_TRACE $REPRISE_PROFILE $REPRISE_REMOTE_PROFILE $CUDA_INJECTION64_PATH "
      "$REPRISE_RUN_TRACE $1 > " +
          pipe.string());
  {
    const ProgramRun run(run_of(program));
    CHECK(line_of(pipe) == "live sampled every argument");
  }
  ProgramRunDesc desc = run_of(program);
  desc.library = "/opt/injected.so";
  const ProgramRun injected(desc);
  CHECK(line_of(pipe) == "live sampled every /opt/injected.so live argument");
}

TEST_CASE("program run: the errors of the injected library are part of its output") {
  ProgramRunDesc desc =
      run_of(program_with("reports", "echo printed; echo no driver > $REPRISE_RUN_ERRORS; exit 0"));
  desc.library = "/opt/injected.so";
  ProgramRun run(desc);
  REQUIRE(until_ended(run));
  CHECK(run.output(8) == std::vector<std::string>{"printed", "no driver"});
  CHECK(run.output(1) == std::vector<std::string>{"no driver"});
}

TEST_CASE("program run: the reason of a failure is the exit code or signal and the last output") {
  ProgramRun run(run_of(program_with("fails", "echo begins; echo no device is there >&2; exit 3")));
  REQUIRE(until_ended(run));
  CHECK(run.reason() == "the program exited with code 3: no device is there");
  CHECK(run.output(8) == std::vector<std::string>{"begins", "no device is there"});
  ProgramRun killed(run_of(program_with("killed", "kill -9 $$")));
  REQUIRE(until_ended(killed));
  CHECK(killed.reason() == "the program was killed by signal 9");
}

TEST_CASE("program run: of a progress line only the last state is output") {
  ProgramRun run(run_of(program_with("progress", "printf '10 %%\\r50 %%\\r90 %%\\ndone\\n'")));
  REQUIRE(until_ended(run));
  CHECK(run.output(8) == std::vector<std::string>{"90 %", "done"});
}

TEST_CASE("program run: a program that cannot be run is reported") {
  ProgramRun run(run_of("/nowhere/digits"));
  REQUIRE(until_ended(run));
  CHECK(run.reason().find("exited with code 127: No such file") != std::string::npos);
}

TEST_CASE("program run: a command line has the quotes and variables of a shell, but no pipes") {
  const test::EnvironmentVariable folder("REPRISE_TEST_FOLDER", "/traces");
  CHECK(words_of("python3 'a b.py' --out \"$REPRISE_TEST_FOLDER/x\" c\\ d") ==
        std::vector<std::string>{"python3", "a b.py", "--out", "/traces/x", "c d"});
  const auto error = [](const char* line) {
    try {
      (void)words_of(line);
    } catch (const std::runtime_error& failure) {
      return std::string(failure.what());
    }
    return std::string();
  };
  CHECK(error("a | b").find("quote | &") == 0);
  CHECK(error("a > b").find("quote | &") == 0);
  CHECK(error("a $(b)").find("command substitution") == 0);
  CHECK(error("a 'b").find("a quote is not closed") == 0);
  CHECK(error("  ").find("the command is empty") == 0);
}

TEST_CASE("sample: it is found in a build and in an installation") {
  const fs::path root = test::scratch_folder() / "installed";
  fs::create_directories(root / "bin");
  fs::create_directories(root / "libexec" / "reprise");
  CHECK(find_sample(root / "bin" / "reprise").empty());
  const auto place = [&](const fs::path& path) {
    std::ofstream(path) << "";
    fs::permissions(path, fs::perms::owner_all);
  };
  place(root / "libexec" / "reprise" / "digits");
  CHECK(find_sample(root / "bin" / "reprise") == root / "libexec" / "reprise" / "digits");
  place(root / "bin" / "digits");
  CHECK(find_sample(root / "bin" / "reprise") == root / "bin" / "digits");
}

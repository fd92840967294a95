#include "window/sample_run.hpp"

#include <doctest/doctest.h>

#include <signal.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>

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
bool until_ended(SampleRun& run) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(run.pid()), &info, WEXITED | WNOWAIT) == 0 &&
         !run.is_running();
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

TEST_CASE("sample: the child ends with its owner, and its files are removed") {
  const fs::path pipe = new_pipe("ready");
  pid_t pid = 0;
  {
    SampleRun run(program_with("runs", "echo $$ $2 > " + pipe.string() + "; exec sleep 1000"));
    const std::string line = line_of(pipe);
    pid = run.pid();
    CHECK(run.is_running());
    CHECK(line.find(std::to_string(pid) + " ") == 0);
    CHECK(fs::exists(fs::path(line.substr(line.find(' ') + 1)).parent_path()));
    const fs::path socket = test::scratch_folder() / "its.sock";
    std::ofstream(socket) << "";
    run.set_session(socket);
  }
  CHECK(!is_there(pid));
  CHECK(!fs::exists(test::scratch_folder() / "its.sock"));
}

TEST_CASE("sample: a child that ignores SIGTERM is killed") {
  const fs::path pipe = new_pipe("stubborn-ready");
  pid_t pid = 0;
  {
    const SampleRun run(program_with(
        "stubborn", "trap '' TERM; echo yes > " + pipe.string() + "; while :; do sleep 1; done"));
    pid = run.pid();
    CHECK(line_of(pipe) == "yes");
  }
  CHECK(!is_there(pid));
}

TEST_CASE("sample: it runs with a live session that accepts profile requests") {
  const fs::path pipe = new_pipe("environment");
  const SampleRun run(program_with(
      "asked", "echo $REPRISE_TRACE $REPRISE_PROFILE $REPRISE_REMOTE_PROFILE > " + pipe.string()));
  CHECK(line_of(pipe) == "live sampled every");
}

TEST_CASE("sample: the reason of a failure is the child's last output") {
  SampleRun run(program_with("fails", "echo begins; echo no device is there >&2; exit 3"));
  REQUIRE(until_ended(run));
  CHECK(run.reason() == "the sample exited with code 3: no device is there");
}

TEST_CASE("sample: a program that cannot be run is reported") {
  SampleRun run("/nowhere/digits");
  REQUIRE(until_ended(run));
  CHECK(run.reason().find("No such file") != std::string::npos);
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

// The engine in processes that end, and in libraries that are unloaded. This program links neither
// the engine nor oneTBB.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace {

// The exit status of child.cpp; -1 after a signal.
int status_of_child(const std::string& what) {
  const int status = std::system((std::string(REPRISE_CHILD) + " " + what).c_str());
  return WIFEXITED(status) && WEXITSTATUS(status) < 128 ? WEXITSTATUS(status) : -1;
}

constexpr uid_t kOther = 65534;  // a user without rights

// As status_of_child(), as another user and with `trace` as $REPRISE_TRACE.
int status_as_other(const std::filesystem::path& program, const std::filesystem::path& trace) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("REPRISE_TRACE", trace.c_str(), 1);
    if (::setgid(kOther) == 0 && ::setuid(kOther) == 0)
      ::execl(program.c_str(), program.c_str(), "start-small-thread", nullptr);
    ::_exit(127);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("process: std::exit() in a host callback ends the process with its status") {
  CHECK(status_of_child("exit-in-callback") == 7);
}

TEST_CASE("process: it ends normally while replays of a graph that is never destroyed run") {
  for (int i = 0; i < 50; ++i) REQUIRE(status_of_child("leak-replays") == 0);
}

TEST_CASE("process: a program that links the engine starts threads with a stack of 32 KiB") {
  CHECK(status_of_child("start-small-thread") == 0);
}

TEST_CASE("process: a set-uid program ignores the engine's variables") {
  if (::geteuid() != 0) {
    MESSAGE("skipped: only root can make a set-uid program that another user runs");
    return;
  }
  namespace fs = std::filesystem;
  char name[] = "/tmp/reprise-set-uid-XXXXXX";
  const fs::path here = ::mkdtemp(name), program = here / "program";
  fs::permissions(here, fs::perms::all);
  fs::copy_file(REPRISE_CHILD, program);
  const auto mode = fs::perms::owner_all | fs::perms::others_read | fs::perms::others_exec;
  fs::permissions(program, mode);
  CHECK(status_as_other(program, here / "plain.reprise") == 0);
  CHECK(fs::exists(here / "plain.reprise"));
  fs::permissions(program, mode | fs::perms::set_uid);
  CHECK(status_as_other(program, here / "set-uid.reprise") == 0);
  CHECK(!fs::exists(here / "set-uid.reprise"));
  fs::remove_all(here);
}

TEST_CASE("process: a library that contains the engine stays mapped after dlclose()") {
  for (int i = 0; i < 5; ++i) {
    void* const library = ::dlopen(REPRISE_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    REQUIRE_MESSAGE(library != nullptr, ::dlerror());
    const auto replay = reinterpret_cast<int (*)()>(::dlsym(library, "replay_on_host"));
    CHECK(replay() == 50);
    CHECK(::dlclose(library) == 0);
  }
  CHECK(::dlopen(REPRISE_PLUGIN, RTLD_NOW | RTLD_NOLOAD) != nullptr);
}

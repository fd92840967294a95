// The engine in processes that end, and in libraries that are unloaded. This program links neither
// the engine nor oneTBB.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <dlfcn.h>
#include <sys/wait.h>

#include <cstdlib>
#include <string>

namespace {

// The exit status of child.cpp; -1 after a signal.
int status_of_child(const std::string& what) {
  const int status = std::system((std::string(REPRISE_CHILD) + " " + what).c_str());
  return WIFEXITED(status) && WEXITSTATUS(status) < 128 ? WEXITSTATUS(status) : -1;
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

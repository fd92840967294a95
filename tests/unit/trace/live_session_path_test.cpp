#include <doctest/doctest.h>

#include <filesystem>

#include "trace/live/session_directory.hpp"
#include "trace/live/session_path.hpp"
#include "trace/trace_error.hpp"
#include "unit/trace/live_support.hpp"

using namespace reprise;
using namespace reprise::trace;
namespace fs = std::filesystem;

TEST_CASE("session path: folder and socket are accessible to this user only") {
  const test::RuntimeFolder runtime;
  const LiveServer server(test::patient("digits"));
  CHECK(server.path().parent_path() == runtime.path() / "reprise");
  CHECK(test::mode_of(server.path().parent_path()) == 0700);
  CHECK(test::mode_of(server.path()) == 0600);
  CHECK(fs::is_socket(server.path()));
  CHECK(server.path().filename() == std::to_string(::getpid()) + "-digits.sock");
}

TEST_CASE("session path: a folder that other users may enter is rejected") {
  const test::RuntimeFolder runtime;
  const fs::path folder = runtime.path() / "reprise";
  fs::create_directory(folder);
  fs::permissions(folder, static_cast<fs::perms>(0755));
  CHECK_THROWS_AS(static_cast<void>(make_session_folder()), TraceError);
  CHECK_THROWS_AS(LiveServer(test::patient("digits")), TraceError);
  fs::permissions(folder, static_cast<fs::perms>(0700));
  CHECK(make_session_folder() == folder);
}

TEST_CASE("session path: a symbolic link or a file instead of the folder is rejected") {
  const test::RuntimeFolder runtime;
  const fs::path folder = runtime.path() / "reprise", elsewhere = runtime.path() / "elsewhere";
  fs::create_directory(elsewhere);
  fs::permissions(elsewhere, static_cast<fs::perms>(0700));
  fs::create_directory_symlink(elsewhere, folder);
  CHECK_THROWS_AS(static_cast<void>(make_session_folder()), TraceError);
}

TEST_CASE("session path: a missing or writable runtime folder is not used") {
  const test::RuntimeFolder runtime;
  const fs::path fallback = "/tmp/reprise-" + std::to_string(::geteuid());
  fs::permissions(runtime.path(), static_cast<fs::perms>(0777));
  CHECK(make_session_folder() == fallback);
  CHECK(test::mode_of(fallback) == 0700);
  ::unsetenv("XDG_RUNTIME_DIR");
  CHECK(make_session_folder() == fallback);
  ::setenv("XDG_RUNTIME_DIR", "relative", 1);
  CHECK(make_session_folder() == fallback);
}

TEST_CASE("session path: file names contain the process and the application in plain characters") {
  CHECK(session_file_name({12, "my app/../x"}, 1) == "12-my_app____x.sock");
  CHECK(session_file_name({12, ""}, 3) == "12-unnamed.3.sock");
  CHECK(session_file_name({4294967295u, std::string(500, 'x')}, 99).size() <= 52);
  const auto name = parse_session_file_name(session_file_name({12, "a-b"}, 2));
  REQUIRE(name);
  CHECK(name->pid == 12);
  CHECK(name->application == "a-b");
  const SessionName of_rank{4294967295u, std::string(500, 'x'), 4294967294u, job_number("job 12")};
  CHECK(session_file_name(of_rank, 99).size() <= 52);
  CHECK(session_file_name({12, "app", 3, 0x1a2b}, 1) == "12-app.rank3-00001a2b.sock");
  const auto ranked = parse_session_file_name(session_file_name(of_rank, 2));
  REQUIRE(ranked);
  CHECK(ranked->rank == of_rank.rank);
  CHECK(ranked->job == of_rank.job);
  CHECK(job_number("job 12") != job_number("job 13"));
  for (const char* wrong : {"", ".sock", "12.sock", "-x.sock", "x-12.sock", "12-x", "0-x.sock",
                            "99999999999-x.sock", "12-.sock",
                            "12-x.rank.sock", "12-x.rank3.sock", "12-x.rank3-.sock"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_session_file_name(wrong));
  }
}

TEST_CASE("session directory: lists live sessions, including several of one process") {
  const test::RuntimeFolder runtime;
  const auto here = [&] {
    std::vector<LiveSession> out;
    for (const LiveSession& s : list_sessions()) {
      if (s.path.parent_path() == runtime.path() / "reprise") out.push_back(s);
    }
    return out;
  };
  CHECK(here().empty());
  {
    const LiveServer one(test::patient("one")), again(test::patient("one"));
    CHECK(one.path() != again.path());
    const std::vector<LiveSession> sessions = here();
    REQUIRE(sessions.size() == 2);
    for (const LiveSession& s : sessions) {
      CHECK(s.alive);
      CHECK(s.application == "one");
      CHECK(s.pid == static_cast<std::uint32_t>(::getpid()));
    }
  }
  CHECK(here().empty());
}

// The window on a live session.
#include <doctest/doctest.h>

#include <signal.h>

#include <X11/keysym.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "support/environment_variable.hpp"
#include "support/paths.hpp"
#include "viewer/window/viewer_session.hpp"

namespace fs = std::filesystem;
using namespace reprise;
using namespace reprise::test;

namespace {

std::string private_runtime_folder() {
  const fs::path path = scratch_folder() / "runtime";
  fs::create_directories(path);
  fs::permissions(path, fs::perms::owner_all);
  return path.string();
}

}  // namespace

#if REPRISE_HAS_DIGITS

namespace {

std::size_t most_replays(const model::Document& document) {
  std::size_t most = 0;
  for (const auto& [key, entry] : document.graphs) most = std::max(most, entry.replays.size());
  return most;
}

}  // namespace

TEST_CASE(
    "window: the sample is shown live, applies the requested profile, and ends when it is closed") {
  const EnvironmentVariable runtime("XDG_RUNTIME_DIR", private_runtime_folder());
  ViewerSession session({}, REPRISE_PROGRAM);
  session.application().run_sample();
  REQUIRE(session.until([&] { return session.application().workspace() != nullptr; }));
  const model::TraceFeed& feed = session.application().workspace()->feed();
  const fs::path socket = feed.target();
  const pid_t pid = std::atoi(socket.filename().c_str());
  REQUIRE(pid > 1);
  REQUIRE(session.until([&] {
    return feed.status().state == model::FeedState::Live && !feed.document()->graphs.empty();
  }));
  CHECK(session.until(
      [&] { return feed.status().requested_profile == trace::LiveProfile::Sampled; }));
  CHECK(session.until([&] { return most_replays(*feed.document()) > 20; }));
  CHECK(session.application().title() == "digits (live) - Reprise");
  CHECK(session.settings().recent.empty());

  session.tap_with_control(XK_w);
  REQUIRE(session.until([&] { return session.application().workspace() == nullptr; }));
  CHECK((::kill(pid, 0) != 0 && errno == ESRCH));
  CHECK(!fs::exists(socket));
}

#endif

TEST_CASE("window: a sample that does not run shows the reason on the start page") {
  const EnvironmentVariable runtime("XDG_RUNTIME_DIR", private_runtime_folder());
  ViewerSession session;
  session.application().run_sample();
  CHECK(session.until([&] { return !session.application().is_busy(); }));
  CHECK(session.application().workspace() == nullptr);
  CHECK(session.application().sample_state().find("not installed") != std::string::npos);
}

TEST_CASE("window: a session that does not answer leads back to the start page with the reason") {
  const std::string socket = scratch_folder() / "4711-gone.sock";
  ViewerSession session;
  session.application().open({socket, {}});
  REQUIRE(session.until([&] { return !session.application().error().empty(); }));
  CHECK(session.application().workspace() == nullptr);
}

// The window on a live session.
#include <doctest/doctest.h>

#include <signal.h>

#include <X11/keysym.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include <imgui.h>

#include "application/program_run.hpp"
#include "support/environment_variable.hpp"
#include "support/paths.hpp"
#include "trace/trace_writer.hpp"
#include "unit/trace/live_support.hpp"
#include "viewer/panels/replays_documents.hpp"
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

TEST_CASE("window: a command is run live, and stopped with its session after asking") {
  const EnvironmentVariable runtime("XDG_RUNTIME_DIR", private_runtime_folder());
  ViewerSession session({}, REPRISE_PROGRAM);
  const fs::path digits = viewer::find_sample(REPRISE_PROGRAM), out = scratch_folder() / "out";
  session.application().run_program("'" + digits.string() + "' --out '" + out.string() +
                                    "' --epochs 1000000");
  REQUIRE(session.until([&] { return session.application().workspace() != nullptr; }));
  const fs::path socket = session.application().workspace()->feed().target();
  const pid_t pid = std::atoi(socket.filename().c_str());
  REQUIRE(pid > 1);
  REQUIRE(session.until(
      [&] { return !session.application().workspace()->feed().document()->graphs.empty(); }));
  CHECK_FALSE(session.application().may_close());
  REQUIRE(session.until([] { return ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup); }));
  session.tap(XK_Escape);
  REQUIRE(session.until([] { return !ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup); }));
  CHECK(::kill(pid, 0) == 0);
  session.application().open({socket.string() + ".other", {}});  // another target replaces it
  CHECK((::kill(pid, 0) != 0 && errno == ESRCH));
}

#endif

TEST_CASE("window: a command that fails shows its exit code and output on the start page") {
  const EnvironmentVariable runtime("XDG_RUNTIME_DIR", private_runtime_folder());
  ViewerSession session;
  session.application().run_program("sh -c 'echo no such model >&2; exit 3'");
  CHECK(session.until([&] { return !session.application().is_busy(); }));
  CHECK(session.application().workspace() == nullptr);
  CHECK(session.application().program_state() == "sh exited with code 3: no such model");
  session.application().run_program("sh | sh");
  CHECK(session.application().program_state().find("quote | &") == 0);
}

TEST_CASE("window: a sample that does not run shows the reason on the start page") {
  const EnvironmentVariable runtime("XDG_RUNTIME_DIR", private_runtime_folder());
  ViewerSession session;
  session.application().run_sample();
  CHECK(session.until([&] { return !session.application().is_busy(); }));
  CHECK(session.application().workspace() == nullptr);
  CHECK(session.application().program_state().find("not installed") != std::string::npos);
}

TEST_CASE("window: a session that does not answer leads back to the start page with the reason") {
  const std::string socket = scratch_folder() / "4711-gone.sock";
  ViewerSession session;
  session.application().open({socket, {}});
  REQUIRE(session.until([&] { return !session.application().error().empty(); }));
  CHECK(session.application().workspace() == nullptr);
}

namespace {

// A live session of a program "step" with one graph.
struct LiveProgram {
  explicit LiveProgram(std::uint32_t pid)
      : server(std::make_shared<trace::LiveServer>(patient("step"))) {
    writer.add_sink(server);
    writer.push(trace::Session{"host", pid, 1, trace::kNone, "step", "step", "0.1.0", 0, {}, {}});
    writer.push(make_chain_graph());
    writer.flush();
  }
  // Three replays, which only a connected viewer receives.
  void launch() {
    for (std::uint64_t n = 1; n <= 3; ++n) writer.push(make_replay(n, 100'000));
    writer.flush();
  }
  std::shared_ptr<trace::LiveServer> server;
  trace::TraceWriter writer;
};

// Draws until the session shows the program's graph, and then its replays.
bool shows_replays(ViewerSession& session, LiveProgram& program) {
  const auto shows = [&](std::size_t replays) {
    return session.until([&] {
      viewer::Workspace* const workspace = session.application().workspace();
      if (workspace == nullptr) return false;
      const model::GraphEntry* const entry = workspace->feed().document()->find(kManyReplays);
      return entry != nullptr && entry->replays.size() == replays;
    });
  };
  if (!shows(0)) return false;
  program.launch();
  return shows(3);
}

bool has_dialog() { return ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup); }

}  // namespace

TEST_CASE("window: a live session that is not recorded is discarded only after a question") {
  const RuntimeFolder runtime;
  LiveProgram program(4711);
  ViewerSession session(program.server->path());
  REQUIRE(shows_replays(session, program));
  session.tap_with_control(XK_w);
  REQUIRE(session.until(has_dialog));
  session.tap(XK_Escape);
  REQUIRE(session.until([] { return !has_dialog(); }));
  CHECK(session.application().workspace() != nullptr);
  CHECK_FALSE(session.application().may_close());
  REQUIRE(session.until(has_dialog));
  session.tap(XK_Escape);
  REQUIRE(session.until([] { return !has_dialog(); }));

  // The proposed file is in the current directory.
  const fs::path folder = scratch_folder() / "recordings", before = fs::current_path();
  fs::create_directories(folder);
  fs::current_path(folder);
  session.tap_with_control(XK_s);
  REQUIRE(session.until([] { return has_dialog() && ImGui::GetIO().WantTextInput; }));
  fs::current_path(before);
  const model::TraceFeed& feed = session.application().workspace()->feed();
  session.user().key_down(XK_Return);  // ImGui samples the state of a key in each frame
  CHECK(session.until([&] { return !feed.status().recording.empty() && !has_dialog(); }));
  session.user().key_up(XK_Return);
  CHECK(fs::exists(folder / "step-4711.reprise"));
  CHECK(session.application().may_close());
  session.tap_with_control(XK_w);
  CHECK(session.until([&] { return session.application().workspace() == nullptr; }));
}

TEST_CASE("window: what a live session has sent is exported, and nothing else is left") {
  const RuntimeFolder runtime;
  LiveProgram program(4711);
  ViewerSession session(program.server->path());
  REQUIRE(shows_replays(session, program));
  const fs::path folder = scratch_folder() / "live-exports", before = fs::current_path();
  fs::create_directories(folder);
  fs::current_path(folder);
  session.view().export_trace = "csv";
  REQUIRE(session.until([] { return has_dialog() && ImGui::GetIO().WantTextInput; }));
  fs::current_path(before);
  session.user().key_down(XK_Return);
  CHECK(session.until([&] { return fs::exists(folder / "step-4711.csv") && !has_dialog(); }));
  session.user().key_up(XK_Return);
  CHECK(fs::file_size(folder / "step-4711.csv") > 100);
  CHECK(session.until([&] {
    return std::distance(fs::directory_iterator(folder), fs::directory_iterator()) == 1;
  }));
  CHECK_FALSE(session.application().may_close());  // it is not recorded
}

TEST_CASE("window: a program that exited and runs again is offered, and shown after a click") {
  const RuntimeFolder runtime;
  auto first = std::make_unique<LiveProgram>(4711);
  ViewerSession session(first->server->path());
  REQUIRE(shows_replays(session, *first));
  first.reset();
  const LiveProgram second(4712);
  // The offer is a button beside the session's name. The question before the old session is
  // discarded is answered with a recording.
  const fs::path folder = scratch_folder() / "restarted", before = fs::current_path();
  fs::create_directories(folder);
  fs::current_path(folder);
  for (int x = 100; x < 500 && !has_dialog(); x += 30) {
    REQUIRE(session.until([&] {
      return session.application().workspace()->feed().status().state == model::FeedState::Ended;
    }));
    session.until([&] { return session.application().has_offer(); });
    session.click({x, 20});
    session.until([] { return true; });
  }
  REQUIRE(has_dialog());
  REQUIRE(session.until([] { return ImGui::GetIO().WantTextInput; }));
  session.user().key_down(XK_Return);
  CHECK(session.until([&] {
    return session.application().workspace()->feed().status().state == model::FeedState::Live;
  }));
  session.user().key_up(XK_Return);
  fs::current_path(before);
  CHECK(session.application().workspace()->feed().target() == second.server->path());
}

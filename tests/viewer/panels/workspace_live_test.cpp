// A workspace that views a live session of this process, from its first graph to its end.
#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <reprise/reprise.hpp>
#include <string>

#include "panels/workspace/workspace.hpp"
#include "support/environment_variable.hpp"
#include "support/paths.hpp"
#include "trace/live/session_directory.hpp"
#include "viewer/panels/panel_fixture.hpp"

using namespace reprise;
using namespace reprise::viewer;
using reprise::test::EnvironmentVariable;
using reprise::test::ImGuiFixture;

namespace {

// Counts the changes of a feed and waits for the next one.
class Changes {
 public:
  void increment() {
    const std::lock_guard lock(mutex_);
    ++count_;
    changed_.notify_all();
  }
  std::uint64_t count() {
    const std::lock_guard lock(mutex_);
    return count_;
  }
  // Waits for a change after `seen`. Returns false after a timeout that indicates a hang.
  bool wait_beyond(std::uint64_t seen) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(120), [&] { return count_ > seen; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t count_ = 0;
};

// A program with a live trace.
struct Program {
  explicit Program(const std::filesystem::path& folder)
      : runtime("XDG_RUNTIME_DIR", folder.string()) {
    device = Instance({.application = "live test",
                       .on_message = [](const Message&) {},
                       .trace = {.target = "live", .profile = ProfileMode::Every}})
                 .open_device(DeviceSelector::named("host"));
    pool = device->create_pool({.label = "pool"});
    queue = device->create_queue({.label = "main"});
    CommandBuffer cmd = device->create_command_buffer({.label = "live graph"});
    cmd.begin();
    const auto x = pool->allocate<unsigned>(64, "x"), y = pool->allocate<unsigned>(64, "y");
    cmd.fill(x, 1u);
    cmd.copy(x, y);
    cmd.end();
    graph = device->compile(cmd, {.pool = pool});
  }
  void run(int replays) {
    for (int i = 0; i < replays; ++i) graph->launch(*queue).wait();
  }
  void end() {
    graph.reset();
    queue.reset();
    pool.reset();
    if (device) device->wait_idle();
    device.reset();
  }
  [[nodiscard]] std::string socket() const {
    for (const trace::LiveSession& session : trace::list_sessions()) {
      if (session.pid == static_cast<std::uint32_t>(getpid()) && session.alive)
        return session.path.string();
    }
    return {};
  }

  EnvironmentVariable runtime, trace{"REPRISE_TRACE", std::nullopt},
      profile{"REPRISE_PROFILE", std::nullopt}, listen{"REPRISE_LISTEN", std::nullopt};
  std::optional<Device> device;
  std::shared_ptr<CapturePool> pool;
  std::optional<Queue> queue;
  std::optional<CapturedGraph> graph;
};

}  // namespace

TEST_CASE("workspace: a live session can be followed and paused, and stays visible after its end") {
  const auto folder = test::scratch_folder() / "run";
  std::filesystem::create_directories(folder);
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
  Program program(folder);
  program.run(3);
  const std::string socket = program.socket();
  REQUIRE_FALSE(socket.empty());

  Changes changes;
  ImGuiFixture context;
  Background background(1);
  background.on_finished([&] { changes.increment(); });
  const auto feed = std::make_shared<model::TraceFeed>(
      model::TraceFeedDesc{.target = socket, .on_change = [&] { changes.increment(); }});
  {
    Workspace workspace(feed, nullptr, background);
    WorkspaceLayout layout;
    std::string text;
    const auto draw = [&] {
      context.frame([&] {
        workspace.handle_keys();
        ImGuiFixture::start_log();
        workspace.draw(context.theme, layout);
        text = ImGuiFixture::take_log();
      });
    };
    const auto draw_until = [&](const std::function<bool()>& condition) {
      for (;;) {
        const std::uint64_t seen = changes.count();
        draw();
        if (condition()) return true;
        if (!changes.wait_beyond(seen)) return false;
      }
    };
    const auto has = [&](const char* part) { return text.find(part) != std::string::npos; };
    const auto replays = [&] {
      const model::GraphEntry* const entry = feed->document()->find(workspace.view().graph);
      return entry == nullptr ? 0 : entry->replays.size();
    };

    REQUIRE(draw_until([&] { return has("live graph") && has("live"); }));
    CHECK(context.is_drawable());
    program.run(20);
    REQUIRE(draw_until([&] { return replays() >= 20; }));
    on_key_event(' ', true, false, 0);
    draw();
    on_key_event(' ', false, false, 0);
    CHECK(workspace.view().paused);
    draw();
    CHECK(has("paused"));
    workspace.view().paused = false;
    program.end();
    REQUIRE(draw_until([&] { return has("program exited"); }));
    CHECK(has("live graph"));
    CHECK(context.is_drawable());
  }
  background.wait_until_idle();
}

// Traces of a device without a clock and of a lost device.
#include <doctest/doctest.h>

#include <reprise/reprise.hpp>
#include <string>

#include "unit/profile/traced_run.hpp"
#include "unit/runtime/fake_backend.hpp"

using namespace reprise;
using namespace reprise::test;

TEST_CASE(
    "traced fake: without a device clock replays have launch times, and one message reports it") {
  const TraceFolder folder;
  const std::string file = folder.file();
  {
    FakeInstance fake({.trace = {.target = file}});
    Device device = fake.open();
    {
      const auto x = device.create_pool()->allocate<int>(4, "x");
      const Queue queue = device.create_queue({.label = "q"});
      CapturedGraph one = make_graph(device, "one", {}, x), two = make_graph(device, "two", x, {});
      static_cast<void>(one.launch(queue));
      static_cast<void>(two.launch(queue));
      static_cast<void>(one.launch(queue));
      fake.world.complete_all();
    }
    device.wait_idle();
  }
  const trace::Records all = all_records(file);
  CHECK(all.graph_versions.size() == 2);
  CHECK(all.sample_blocks.empty());
  REQUIRE(all.replays.size() == 3);
  for (const trace::Replay& replay : all.replays) {
    CHECK(replay.launched > 0);
    CHECK(replay.launched <= replay.launch_returned);
    CHECK(replay.started == 0);
    CHECK(replay.ended == 0);
  }
  REQUIRE(all.messages.size() == 1);
  CHECK(all.messages[0].id == "no-device-times");
  CHECK(all.messages[0].text.find("times on host are not measured") != std::string::npos);
}

TEST_CASE("traced fake: a failed launch is not a replay") {
  const TraceFolder folder;
  const std::string file = folder.file();
  {
    Device device = Instance({.application = "lost", .trace = {.target = file}})
                        .open_device(DeviceSelector::named("host"));
    {
      const auto x = device.create_pool()->allocate<int>(4, "x");
      const Queue queue = device.create_queue();
      CapturedGraph graph = make_graph(device, "g", {}, x);
      graph.launch(queue).wait();
      device.simulate_loss();
      CHECK(error_of([&] { static_cast<void>(graph.launch(queue)); }).code ==
            ErrorCode::StaleHandle);
      static_cast<void>(device.rebuild());
      CapturedGraph again =
          make_graph(device, "again", {}, device.create_pool()->allocate<int>(4, "y"));
      again.launch(device.create_queue()).wait();
    }
    device.wait_idle();
  }
  const trace::Records all = all_records(file);
  REQUIRE(all.replays.size() == 2);
  CHECK(all.replays[0].graph != all.replays[1].graph);
  for (const trace::Replay& replay : all.replays) CHECK(replay.started <= replay.ended);
}

#include "viewer/panels/recorded_trace.hpp"

#include <numeric>
#include <string>
#include <vector>

#include <reprise/reprise.hpp>

#include "support/environment_variable.hpp"
#include "support/paths.hpp"
#include "viewer/panels/panel_fixture.hpp"

namespace reprise::test {

namespace {

constexpr std::uint64_t kElements = 4096;

void record_tile(CommandBuffer& cmd, const std::shared_ptr<CapturePool>& pool, std::uint32_t tile,
                 std::vector<AccessedView>& results) {
  const std::string number = std::to_string(tile);
  const auto scope = cmd.label("tile " + number);
  const auto near = pool->transient<unsigned>(kElements * (tile + 1), "near " + number);
  const auto far = pool->transient<unsigned>(kElements * (tile + 1), "far " + number);
  const auto result = pool->allocate<unsigned>(kElements * (tile + 1), "result " + number);
  cmd.fill(near, tile);
  cmd.copy(near, far);
  if (tile == 2) cmd.barrier({.buffer = far, .before = Access::Write, .after = Access::Read});
  cmd.copy(far, result);
  results.push_back(read(result));
}

void record_and_run(const Device& device) {
  const auto pool = device.create_pool({.label = "frame pool"});
  const Queue queue = device.create_queue({.label = "main"});
  CommandBuffer cmd = device.create_command_buffer({.label = "frame"});
  cmd.begin();
  std::vector<AccessedView> results;
  {
    const auto tiles = cmd.label("tiles");
    for (std::uint32_t tile = 0; tile < kRecordedTiles; ++tile)
      record_tile(cmd, pool, tile, results);
  }
  {
    const auto finish = cmd.label("finish");
    cmd.barrier();
    const auto sum = pool->allocate<unsigned>(64, "sum");
    cmd.host([] {}, results);
    cmd.fill(sum, 1u);
  }
  cmd.end();
  CapturedGraph graph = device.compile(cmd, {.pool = pool});
  for (std::uint64_t i = 0; i < kRecordedReplays; ++i) graph.launch(queue).wait();
}

}  // namespace

void write_recorded_trace(const std::filesystem::path& path) {
  const EnvironmentVariable trace("REPRISE_TRACE", std::nullopt),
      profile("REPRISE_PROFILE", std::nullopt);
  const std::string target = path.string();
  const InstanceDesc desc{.application = "panel test",
                          .on_message = [](const Message&) {},
                          .trace = {.target = target, .profile = ProfileMode::Every}};
  const Device device = Instance(desc).open_device(DeviceSelector::named("host"));
  record_and_run(device);
  // Completes deferred deletions; the device's destructor then completes the trace.
  device.wait_idle();
}

std::shared_ptr<const model::Document> recorded_document() {
  const std::filesystem::path path = scratch_folder() / "recorded.reprise";
  if (!std::filesystem::exists(path)) write_recorded_trace(path);
  return document_of(path);
}

}  // namespace reprise::test

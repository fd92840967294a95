// Loops whose bodies have branches, beside other branches of the graph.
#include <span>
#include <vector>

#include "conditions.shaders.hpp"
#include "conformance/device_fixture.hpp"
#include "words.shaders.hpp"

namespace reprise::test::loop_branches_test {

// On GPUs, loops whose bodies end with several nodes lost the device in some of these replays.
TEST_CASE_FIXTURE(DeviceFixture,
                  "conditional: a loop whose body has branches runs beside other branches") {
  constexpr unsigned kCount = 700, kBranches = 6, kReplays = 3;
  const std::vector<unsigned> update = {7, 8};
  const auto counter = buffer(std::vector<unsigned>{0}, "counter");
  const auto x = buffer(std::vector<unsigned>(kCount, 1), "x");
  const auto source = buffer(std::vector<unsigned>(kCount, 5), "source");
  const auto updated = buffer(std::vector<unsigned>(kCount, 0), "updated");
  const auto read_back = pool->host<unsigned>(kCount, "read back");
  std::vector<GpuRef<unsigned>> others;
  for (unsigned i = 0; i < kBranches; ++i)
    others.push_back(buffer(std::vector<unsigned>(kCount, i), "other"));
  const auto increase = [&](Recorder& to, const GpuRef<unsigned>& words) {
    to.dispatch(kernel(shaders::conf_increase), {.grid = ceil_div(kCount, 128), .block = 128},
                read_write(words), 1u, kCount);
  };
  const Condition go = device.create_condition({.name = "go", .initial = 1});
  CommandBuffer body = recording({.label = "body", .level = Level::Secondary});
  body.copy(source, read_back);
  body.update(updated.slice(0, 2), std::as_bytes(std::span(update)));
  increase(body, x);
  body.dispatch(kernel(shaders::conf_count_down), {.grid = 1, .block = 1}, read_write(counter), go);
  body.end();
  CommandBuffer cmd = recording();
  cmd.fill(counter, 3u);
  cmd.execute_while(go, body);
  for (const GpuRef<unsigned>& other : others) increase(cmd, other);
  const unsigned graphs = device.info().kind == DeviceKind::Host ? 2 : 100;
  for (unsigned i = 0; i < graphs; ++i) {
    CapturedGraph graph = compile(cmd, Lowering::Faithful);
    for (unsigned replay = 0; replay < kReplays; ++replay) graph.launch(queue).wait();
  }
  CHECK(values(x) == std::vector<unsigned>(kCount, 1 + 3 * kReplays * graphs));
  for (unsigned i = 0; i < kBranches; ++i)
    CHECK(values(others[i]) == std::vector<unsigned>(kCount, i + kReplays * graphs));
  CHECK(read_back[kCount - 1] == 5);
  CHECK(values(updated.slice(0, 2)) == update);
}

}  // namespace reprise::test::loop_branches_test

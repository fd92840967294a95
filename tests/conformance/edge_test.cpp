#include "conformance/device_fixture.hpp"
#include "words.shaders.hpp"

namespace reprise::test::edge_test {

TEST_CASE_FIXTURE(
    DeviceFixture,
    "edge: it orders host callbacks without a common buffer, also against recorded order") {
  std::string order;
  CommandBuffer cmd = recording();
  const CommandRef a = cmd.host([&order] { order += 'a'; });
  const CommandRef b = cmd.host([&order] { order += 'b'; });
  const CommandRef c = cmd.host([&order] { order += 'c'; });
  cmd.edge(c, b);
  cmd.edge(b, a);
  for (const Lowering lowering : {Lowering::Faithful, Lowering::Auto, Lowering::Lanes(2)}) {
    order.clear();
    run(cmd, lowering);
    CHECK(order == "cba");
  }
}

TEST_CASE_FIXTURE(DeviceFixture, "edge: under Explicit, an edge replaces a barrier") {
  const auto x = buffer(std::vector<unsigned>(64, 0), "x");
  CommandBuffer cmd = recording({.ordering = Ordering::Explicit});
  const CommandRef set =
      cmd.dispatch(kernel(shaders::conf_set), {.grid = 1, .block = 64}, write(x), 5u, 64u);
  const CommandRef add =
      cmd.dispatch(kernel(shaders::conf_add), {.grid = 1, .block = 64}, read(x), write(x), 2u, 64u);
  cmd.edge(set, add);
  run(cmd);
  CHECK(values(x) == std::vector<unsigned>(64, 7));
}

}  // namespace reprise::test::edge_test

#include "conformance/device_fixture.hpp"
#include "words.shaders.hpp"

namespace reprise::test::ordering_test {
namespace {

constexpr unsigned kCount = 512;
constexpr DispatchDesc kWords{.grid = kCount / 256, .block = 256};

}  // namespace

TEST_CASE_FIXTURE(DeviceFixture,
                  "ordering: Inferred gives RAW, WAR and WAW in the recorded order") {
  const auto x = buffer(std::vector<unsigned>(kCount, 2), "x");
  const auto y = pool->allocate<unsigned>(kCount, "y"), z = pool->allocate<unsigned>(kCount, "z");
  const Kernel add = kernel(shaders::conf_add), set = kernel(shaders::conf_set);
  run([&](CommandBuffer& cmd) {
    cmd.dispatch(add, kWords, read(x), write(y), 1u, kCount);  // y = 3
    cmd.dispatch(set, kWords, write(x), 10u, kCount);          // WAR on x
    cmd.dispatch(add, kWords, read(x), write(z), 1u, kCount);  // RAW on x: z = 11
    cmd.dispatch(set, kWords, write(x), 20u, kCount);          // WAR on x
    cmd.dispatch(set, kWords, write(x), 30u, kCount);          // WAW on x
  });
  CHECK(values(x) == std::vector<unsigned>(kCount, 30));
  CHECK(values(y) == std::vector<unsigned>(kCount, 3));
  CHECK(values(z) == std::vector<unsigned>(kCount, 11));
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "ordering: Inferred does not order commands without common bytes") {
  const auto x = pool->allocate<unsigned>(kCount, "x"), y = pool->allocate<unsigned>(kCount, "y");
  CommandBuffer cmd = recording();
  cmd.fill(x.slice(0, 256), 1u);
  cmd.fill(x.slice(256, 256), 2u);
  cmd.fill(y, 3u);
  CHECK(compile(cmd).report().needed_edges == 0);
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "ordering: Linear keeps the recorded order regardless of accesses") {
  std::string order;
  CommandBuffer cmd = recording({.ordering = Ordering::Linear});
  for (char c = 'a'; c <= 'j'; ++c) cmd.host([&order, c] { order += c; });
  CapturedGraph graph = compile(cmd);
  CHECK(graph.report().needed_edges == 9);
  graph.launch(queue).wait();
  CHECK(order == "abcdefghij");
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "ordering: all three give the same results for a correct program") {
  std::vector<std::vector<unsigned>> found;
  for (const Ordering ordering : {Ordering::Inferred, Ordering::Explicit, Ordering::Linear}) {
    const auto x = buffer(std::vector<unsigned>(kCount, 1), "x"),
               y = buffer(std::vector<unsigned>(kCount, 2), "y");
    CommandBuffer cmd = recording({.ordering = ordering});
    for (unsigned step = 0; step < 30; ++step) {
      cmd.dispatch(kernel(shaders::conf_mix), kWords, read(step % 2 == 0 ? x : y),
                   read_write(step % 2 == 0 ? y : x), step, kCount);
      cmd.barrier();
    }
    run(cmd);
    found.push_back(values(x));
  }
  CHECK(found[0] == found[1]);
  CHECK(found[0] == found[2]);
}

}  // namespace reprise::test::ordering_test

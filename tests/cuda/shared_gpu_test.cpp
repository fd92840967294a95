// Several processes use one GPU.
#include <chrono>
#include <cstdlib>
#include <vector>

#include <gpu_kernels.shaders.hpp>

#include "cuda/child_test.hpp"
#include "cuda/gpu.hpp"

namespace reprise::test {

TEST_CASE("shared GPU: the first launches of graphs complete while other processes launch theirs") {
  if (!have_gpu()) return;
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) children.push_back(start_child("child: first launches"));
  for (const pid_t child : children) CHECK(exit_code_of(child, std::chrono::seconds(60)) == 0);
}

TEST_CASE("child: first launches" * doctest::skip()) {
  using std::chrono::seconds;
  constexpr unsigned kBranches = 12, kCount = 512;
  const Gpu t;
  const Kernel add = t.device.load_kernel(shaders::gpu_add);
  std::vector<GpuRef<float>> branches;
  for (unsigned i = 0; i < kBranches; ++i)
    branches.push_back(t.pool->allocate<float>(kCount, "branch"));
  const auto sum = t.pool->allocate<float>(kCount, "sum");
  t.run([&](CommandBuffer& cmd) {
    for (const auto& branch : branches) cmd.fill(branch, 0.0f);
    cmd.fill(sum, 0.0f);
  });
  const DispatchDesc all{.grid = 4, .block = 128};
  CommandBuffer step = t.record([&](CommandBuffer& cmd) {
    for (const auto& branch : branches) {
      const CommandRef first = cmd.dispatch(add, all, read_write(branch), 1.0f, kCount);
      cmd.edge(first, cmd.dispatch(add, all, read_write(sum), 1.0f, kCount));
    }
  });
  unsigned rounds = 0;
  for (const auto end = std::chrono::steady_clock::now() + seconds(5);
       std::chrono::steady_clock::now() < end; ++rounds) {
    const Lowering lowering = rounds % 4 < 2 ? Lowering::Faithful : Lowering::Auto;
    CapturedGraph graph = t.device.compile(step, {.pool = t.pool, .lowering = lowering});
    if (rounds % 2 == 0) graph.upload(t.queue);
    // Destroying a graph would wait for its replay.
    if (!graph.launch(t.queue).wait_for(seconds(10))) std::_Exit(3);
  }
  for (const auto& branch : branches)
    CHECK(t.read(branch) == std::vector<float>(kCount, static_cast<float>(rounds)));
  CHECK(t.read(sum) == std::vector<float>(kCount, static_cast<float>(rounds * kBranches)));
}

}  // namespace reprise::test

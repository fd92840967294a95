// Measures other lowerings of a graph on this device and keeps the fastest one. The result is saved
// for the next run, which then does not measure.
#include <chrono>

#include "example.hpp"
#include "kernels.shaders.hpp"

using namespace reprise;

void run(const DeviceSelector& selector) {
  constexpr unsigned n = 256, kBranches = 16, kSteps = 4;
  Instance instance({.application = "tune"});
  Device device = instance.open_device(selector);
  Queue queue = device.create_queue();
  auto pool = device.create_pool();
  auto x = pool->allocate<float>(n * kBranches, "x");
  auto result = pool->host<float>(n * kBranches, "result");
  Kernel add = device.load_kernel(shaders::add);

  CommandBuffer commands = device.create_command_buffer({.label = "branches"});
  commands.begin();
  commands.fill(x, 1.0f);
  for (unsigned i = 0; i < kBranches * kSteps; ++i)
    commands.dispatch(add, {.block = n}, 1.0f, read_write(x.slice(i % kBranches * n, n)), n);
  commands.copy(x, result);
  commands.end();
  const CompileDesc desc{.pool = pool, .tuning_file = "tuning.json"};  // which need not exist
  CapturedGraph graph = device.compile(commands, desc);

  // Contents of buffers are restored afterwards.
  const TuneReport tuned = graph.tune(queue, {.pairs = 9, .budget = std::chrono::seconds(1)});
  for (const TuneCandidate& candidate : tuned.candidates)
    if (candidate.pairs != 0)
      std::printf("%s: %.1f us, %.2f of the time\n", candidate.name.c_str(),
                  candidate.median.count(), candidate.ratio);
  example::check(!tuned.candidates.empty(), "no lowering was measured");

  if (tuned.has_changed()) {
    graph.save_tuning("tuning.json");
    graph = device.compile(commands, desc);  // with the saved lowering
  }
  graph.launch(queue).wait();
  for (const float value : result.span())
    example::check(value == 1.0f + kSteps, "the tuned graph has a wrong result");
}

int main(int argc, char** argv) { return example::run(argc, argv, run); }

// Defines an op: two kernels that are one command. Its declared accesses order it, and find_races
// checks them.
#include "example.hpp"
#include "kernels.shaders.hpp"

using namespace reprise;

// y = factor * x + offset. Any copyable type with these three methods is an op.
struct AffineOp {
  Kernel scale, add;
  float factor, offset;
  GpuRef<float> x, y;

  [[nodiscard]] std::string_view op_name() const noexcept { return "affine"; }
  void declare(GraphOpDeclaration& declaration) const {
    declaration.use(read(x));
    declaration.use(write(y));
  }
  void record(GraphRecordCtx& ctx) const {  // for each executable; one step after the other
    const auto n = static_cast<unsigned>(x.size());
    const DispatchDesc all{.grid = ceil_div(n, 256), .block = 256};
    ctx.dispatch(scale, all, factor, read(x), write(y), n);
    ctx.dispatch(add, all, offset, read_write(y), n);
  }
};

void run(const DeviceSelector& selector) {
  constexpr unsigned n = 1024;
  Instance instance({.application = "own_op"});
  Device device = instance.open_device(selector);
  Queue queue = device.create_queue();
  auto pool = device.create_pool();
  auto x = pool->allocate<float>(n, "x"), y = pool->allocate<float>(n, "y");
  auto result = pool->host<float>(n, "result");
  Kernel scale = device.load_kernel(shaders::scale), add = device.load_kernel(shaders::add);

  CommandBuffer commands = device.create_command_buffer({.label = "affine"});
  commands.begin();
  commands.fill(x, 5.0f);
  commands.add(AffineOp{scale, add, 2.0f, 1.0f, x, y});
  commands.copy(y, result);
  commands.end();
  CapturedGraph graph = device.compile(commands, {.pool = pool});
  graph.launch(queue).wait();
  std::printf("%u commands, %g\n", graph.report().commands, static_cast<double>(result[0]));
  example::check(result[0] == 11.0f && result[n - 1] == 11.0f, "the result is wrong");
  example::check(find_races(commands, {.runs = 8}).clean(), "the op declares wrong accesses");
}

int main(int argc, char** argv) { return example::run(argc, argv, run); }

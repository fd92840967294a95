#include <vector>

#include "conformance/device_fixture.hpp"
#include "words.shaders.hpp"

namespace reprise::test::early_start_test {
namespace {

constexpr unsigned kCount = 4096;
constexpr DispatchDesc kProgrammatic{
    .grid = kCount / 128, .block = 128, .start = DispatchDesc::Start::Programmatic};
constexpr DispatchDesc kOrdered{.grid = kCount / 128, .block = 128};

unsigned mixed(unsigned io, unsigned in, unsigned salt) {
  return io * 1664525u + (in ^ salt) + 1013904223u;
}

}  // namespace

TEST_CASE_FIXTURE(
    DeviceFixture,
    "programmatic start: kernels that wait themselves give ordered results in chains and joins") {
  const auto input = buffer(std::vector<unsigned>(kCount, 5), "input");
  const auto left = buffer(std::vector<unsigned>(kCount, 1), "left"),
             right = buffer(std::vector<unsigned>(kCount, 2), "right");
  const Kernel programmatic = kernel(shaders::conf_mix_early), ordered = kernel(shaders::conf_mix);
  for (const Lowering lowering : {Lowering::Auto, Lowering::Faithful, Lowering::Lanes(2)}) {
    CommandBuffer cmd = recording();
    for (unsigned i = 0; i < 40; ++i) {
      cmd.dispatch(programmatic, kProgrammatic, read(input), read_write(left), i, kCount);
      cmd.dispatch(i % 3 == 0 ? ordered : programmatic, i % 3 == 0 ? kOrdered : kProgrammatic,
                   read(input), read_write(right), i, kCount);
      if (i % 5 == 4)
        cmd.dispatch(programmatic, kProgrammatic, read(left), read_write(right), i, kCount);
      if (i % 7 == 6) cmd.copy(right, left);  // a copy between kernels
    }
    CapturedGraph graph = compile(cmd, lowering);
    std::vector<unsigned> l = values(left), r = values(right);
    for (unsigned replay = 0; replay < 10; ++replay) graph.launch(queue);
    queue.wait_idle();
    unsigned x = l[0], y = r[0];
    for (unsigned replay = 0; replay < 10; ++replay) {
      for (unsigned i = 0; i < 40; ++i) {
        x = mixed(x, 5, i);
        y = mixed(y, 5, i);
        if (i % 5 == 4) y = mixed(y, x, i);
        if (i % 7 == 6) x = y;
      }
    }
    CHECK(values(left) == std::vector<unsigned>(kCount, x));
    CHECK(values(right) == std::vector<unsigned>(kCount, y));
  }
}

TEST_CASE_FIXTURE(
    DeviceFixture,
    "programmatic start: an update to a kernel that does not wait itself is fully ordered") {
  const auto input = buffer(std::vector<unsigned>(kCount, 5), "input"),
             io = buffer(std::vector<unsigned>(kCount, 1), "io");
  const auto record = [&](DispatchDesc::Start start) {
    CommandBuffer cmd = recording();
    DispatchDesc desc = kOrdered;
    desc.start = start;
    for (unsigned i = 0; i < 20; ++i)
      cmd.dispatch(kernel(shaders::conf_mix_early), desc, read(input), read_write(io), i, kCount);
    cmd.end();
    return cmd;
  };
  CommandBuffer programmatic = record(DispatchDesc::Start::Programmatic),
                ordered = record(DispatchDesc::Start::Ordered);
  CapturedGraph graph = device.compile(programmatic, {.pool = pool});
  const std::uint64_t lowering = graph.report().lowering_hash;
  CHECK(graph.update(ordered).done());
  CHECK(graph.report().lowering_hash != lowering);
  graph.launch(queue).wait();
  unsigned expected = 1;
  for (unsigned i = 0; i < 20; ++i) expected = mixed(expected, 5, i);
  CHECK(values(io) == std::vector<unsigned>(kCount, expected));
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "programmatic start: under Explicit, programmatic barriers and edges order "
                  "kernels that wait themselves") {
  const auto input = buffer(std::vector<unsigned>(kCount, 5), "input"),
             io = buffer(std::vector<unsigned>(kCount, 1), "io"),
             other = buffer(std::vector<unsigned>(kCount, 2), "other");
  const Kernel programmatic = kernel(shaders::conf_mix_early);
  for (const Lowering lowering : {Lowering::Auto, Lowering::Faithful}) {
    CommandBuffer cmd = recording({.ordering = Ordering::Explicit});
    CommandRef last;
    for (unsigned i = 0; i < 40; ++i) {
      const CommandRef mix =
          cmd.dispatch(programmatic, kProgrammatic, read(input), read_write(io), i, kCount);
      if (i != 0) cmd.edge(last, mix, Dependency::Programmatic);
      cmd.barrier({.buffer = io, .dependency = Dependency::Programmatic});
      last = cmd.dispatch(programmatic, kProgrammatic, read(io), read_write(other), i, kCount);
      cmd.barrier({.buffer = other, .dependency = Dependency::Programmatic});
    }
    const unsigned x = values(io)[0], y = values(other)[0];
    CapturedGraph graph = compile(cmd, lowering);
    for (unsigned replay = 0; replay < 10; ++replay) graph.launch(queue);
    queue.wait_idle();
    unsigned left = x, right = y;
    for (unsigned i = 0; i < 400; ++i) {
      left = mixed(left, 5, i % 40);
      right = mixed(right, left, i % 40);
    }
    CHECK(values(io) == std::vector<unsigned>(kCount, left));
    CHECK(values(other) == std::vector<unsigned>(kCount, right));
  }
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "programmatic start: an update to kernels that do not wait themselves drops "
                  "programmatic barriers") {
  const auto input = buffer(std::vector<unsigned>(kCount, 5), "input"),
             io = buffer(std::vector<unsigned>(kCount, 1), "io");
  const auto record = [&](DispatchDesc::Start start, Dependency dependency) {
    CommandBuffer cmd = recording({.ordering = Ordering::Explicit});
    DispatchDesc desc = kOrdered;
    desc.start = start;
    for (unsigned i = 0; i < 20; ++i) {
      cmd.dispatch(kernel(shaders::conf_mix_early), desc, read(input), read_write(io), i, kCount);
      cmd.barrier({.dependency = dependency});
    }
    cmd.end();
    return cmd;
  };
  CommandBuffer programmatic = record(DispatchDesc::Start::Programmatic, Dependency::Programmatic),
                full = record(DispatchDesc::Start::Ordered, Dependency::Full),
                nothing = record(DispatchDesc::Start::Ordered, Dependency::Programmatic);
  CapturedGraph graph = device.compile(programmatic, {.pool = pool});
  check_refused(ErrorCode::MissingBarrier, {"conf_mix_early", "Start::Programmatic"},
                [&] { (void)device.compile(nothing, {.pool = pool}); });
  CHECK(graph.update(full).done());
  graph.launch(queue).wait();
  unsigned expected = 1;
  for (unsigned i = 0; i < 20; ++i) expected = mixed(expected, 5, i);
  CHECK(values(io) == std::vector<unsigned>(kCount, expected));
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "dispatch: a cost hint does not change results, and a negative one is refused") {
  const auto io = buffer(std::vector<unsigned>(kCount, 1), "io");
  const auto hash = [&](float cost) {
    CommandBuffer cmd = recording();
    cmd.dispatch(kernel(shaders::conf_set),
                 {.grid = 1, .block = 128, .cost = std::chrono::duration<float, std::micro>(cost)},
                 write(io), 3u, 128u);
    return compile(cmd).report().plan_hash;
  };
  CHECK(hash(0) == hash(12.5F));
  check_refused(ErrorCode::InvalidArgument, {"dispatch", "cost"}, [&] { (void)hash(-1); });
}

}  // namespace reprise::test::early_start_test

#include "conformance/device_fixture.hpp"
#include "support/contains.hpp"
#include "support/paths.hpp"
#include "words.shaders.hpp"

namespace reprise::test::dot_test {
namespace {

struct DotFixture : DeviceFixture {
  GpuRef<unsigned> x = pool->allocate<unsigned>(256, "x"), y = pool->allocate<unsigned>(256, "y");

  [[nodiscard]] CapturedGraph graph() const {
    CommandBuffer cmd = recording({.label = "step"});
    const unsigned word = 9;
    cmd.fill(x, 7u);
    cmd.dispatch(kernel(shaders::conf_add), {.grid = 4, .block = 64}, read(x), write(y), 5u, 256u);
    cmd.copy(y.slice(0, 16), x.slice(64, 16));
    cmd.update(y, std::as_bytes(std::span(&word, 1)));
    cmd.host([] {});
    return compile(cmd, Lowering::Faithful);
  }
};

}  // namespace

TEST_CASE_FIXTURE(DotFixture,
                  "dot: each flag adds its information, which is absent without the flag") {
  const CapturedGraph step = graph();
  struct Row {
    DotFlags flag;
    std::string_view adds;
  };
  const Row rows[] = {{DotFlags::RuntimeTypes, "cudaGraphNodeTypeMemset"},
                      {DotFlags::KernelNodeParams, "grid 4 1 1, block 64 1 1, shared 0"},
                      {DotFlags::KernelNodeParams, "argument 0: x + 0"},
                      {DotFlags::KernelNodeParams, "argument 2: 05000000"},
                      {DotFlags::MemcpyNodeParams, "destination at 256, 64 x 1 x 1 bytes"},
                      {DotFlags::MemcpyNodeParams, "4-byte snapshot"},
                      {DotFlags::MemsetNodeParams, "value 0x0000000000000007, elements of 4 bytes"},
                      {DotFlags::HostNodeParams, "callback 0"},
                      {DotFlags::KernelNodeAttributes, "cluster none, not cooperative"},
                      {DotFlags::Handles, "x: buffer "},
                      {DotFlags::ExtraTopoInfo, "#0"},
                      {DotFlags::Accesses, "write y [0, 1024)"},
                      {DotFlags::Causes, "RAW x"},
                      {DotFlags::Locations, "dot_test.cpp:"}};
  const std::string plain = step.to_dot(DotFlags::None);
  CHECK(contains(plain, "dispatch conf_add"));
  for (const Row& row : rows) {
    INFO("adds: ", std::string(row.adds));
    CHECK_FALSE(contains(plain, row.adds));
    CHECK(contains(step.to_dot(row.flag), row.adds));
    CHECK(contains(step.to_dot(DotFlags::Verbose), row.adds));
    for (const Row& other : rows) {
      if (other.flag != row.flag) CHECK_FALSE(contains(step.to_dot(other.flag), row.adds));
    }
  }
  CHECK(step.to_dot(DotFlags::Default) == step.to_dot());
}

TEST_CASE_FIXTURE(DotFixture,
                  "dot: flags combine, and lane and entry/exit edges have their own flag") {
  CommandBuffer cmd = recording();
  for (unsigned i = 0; i < 4; ++i)
    cmd.dispatch(kernel(shaders::conf_set), {.grid = 1, .block = 64}, write(x.slice(i * 64, 64)), i,
                 64u);
  const CapturedGraph wide = compile(cmd, Lowering::Auto);
  CHECK(wide.report().entry_exit);
  CHECK_FALSE(contains(wide.to_dot(DotFlags::KernelNodeParams), "entry"));
  const std::string both = wide.to_dot(DotFlags::KernelNodeParams | DotFlags::AddedEdges);
  CHECK(contains(both, "entry"));
  CHECK_FALSE(contains(both, "exit"));
  CHECK(contains(both, "style=dashed"));
  CHECK(contains(both, "block 64 1 1"));
}

TEST_CASE_FIXTURE(DotFixture, "dot: bodies of loops and nested command buffers are clusters") {
  const auto secondary = [&](std::string_view label) {
    CommandBuffer made = recording({.label = label, .level = Level::Secondary});
    made.fill(x, 1u);
    made.end();
    return made;
  };
  const Condition go = device.create_condition({.name = "go", .initial = 1});
  CommandBuffer cmd = recording();
  cmd.execute_while(go, secondary("iteration"), {.max_iterations = 3});
  const CapturedGraph loop = compile(cmd, Lowering::Faithful);
  CHECK(contains(loop.to_dot(DotFlags::None), "label=\"iteration\""));
  CHECK(contains(loop.to_dot(DotFlags::None), "-> b0_n0 [style=dotted"));
  CHECK_FALSE(contains(loop.to_dot(DotFlags::None), "while by go"));
  CHECK(contains(loop.to_dot(DotFlags::ConditionalNodeParams),
                 "while by go, 1 body, max 3 iterations"));
  CHECK(contains(loop.to_dot(DotFlags::RuntimeTypes), "cudaGraphNodeTypeConditional"));
  // The memset is a node of the body.
  CHECK(contains(loop.to_dot(DotFlags::MemsetNodeParams), "elements of 4 bytes"));
}

TEST_CASE_FIXTURE(DotFixture, "dot: export_dot writes the output of to_dot") {
  const CapturedGraph step = graph();
  const auto path = scratch_folder() / "dot_test.dot";
  export_dot(step, path, DotFlags::Verbose);
  CHECK(text_of_file(path) == step.to_dot(DotFlags::Verbose));
  CHECK_THROWS_AS(export_dot(step, path / "no folder" / "x.dot"), Error);
  CHECK(thrown_by([] { static_cast<void>(CapturedGraph().to_dot(DotFlags::None)); }).code() ==
        ErrorCode::NotInitialized);
}

}  // namespace reprise::test::dot_test

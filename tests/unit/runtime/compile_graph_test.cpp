#include <doctest/doctest.h>

#include <filesystem>
#include <stdexcept>
#include <utility>

#include "support/paths.hpp"
#include "support/thrown_by.hpp"
#include "unit/runtime/fake_backend.hpp"

using namespace reprise;
using namespace reprise::test;

namespace {

// Two independent copies to transients, and a fill ordered after one of them.
struct Recorded {
  explicit Recorded(const InstanceDesc& desc = {}) : fake(desc) {}
  FakeInstance fake;
  Device device = fake.open();
  std::shared_ptr<CapturePool> pool = device.create_pool({.label = "pool"});
  GpuRef<int> x = pool->allocate<int>(64, "x"), y = pool->allocate<int>(64, "y");
  GpuRef<int> t = pool->transient<int>(64, "t");
  [[nodiscard]] CommandBuffer record(Ordering ordering = Ordering::Inferred,
                                     Level level = Level::Primary) {
    CommandBuffer commands =
        device.create_command_buffer({.label = "step", .ordering = ordering, .level = level});
    commands.begin();
    commands.fill(t, 1);
    commands.copy(t, x);
    commands.fill(y, 2);
    commands.end();
    return commands;
  }
};

}  // namespace

TEST_CASE_FIXTURE(Recorded, "compile: the report counts commands, nodes, edges and bytes") {
  const CommandBuffer commands = record();
  CapturedGraph faithful =
      device.compile(commands, {.lowering = Lowering::Faithful, .label = "plain"});
  CHECK(faithful.label() == "plain");
  CHECK(faithful.report().commands == 3);
  CHECK(faithful.report().nodes == 3);
  CHECK(faithful.node_count() == 3);
  CHECK(faithful.report().needed_edges == 1);
  CHECK(faithful.report().redundant_edges_left == 0);
  CHECK(faithful.report().added_edges == 0);
  CHECK(faithful.report().lanes == 0);
  CHECK_FALSE(faithful.report().entry_exit);
  CHECK(faithful.report().transient_bytes == 256);
  CHECK(faithful.report().slab_bytes == 256);
  CHECK(faithful.report().slab_lower_bound == 256);
  CHECK(faithful.pool_buffer_count() == 3);
  CHECK_FALSE(faithful.has_pool());

  CapturedGraph laned = device.compile(commands, {.lowering = Lowering::Lanes(1)});
  CHECK(laned.label() == "step");
  CHECK(laned.report().lanes == 1);
  CHECK(laned.report().added_edges == 1);
  CHECK(laned.node_count() == 3);
  CHECK(laned.report().plan_hash == faithful.report().plan_hash);
  CHECK(laned.report().lowering_hash != faithful.report().lowering_hash);
}

TEST_CASE_FIXTURE(Recorded, "compile: a secondary command buffer is refused") {
  const CommandBuffer commands = record(Ordering::Inferred, Level::Secondary);
  const ErrorDetails refused = error_of([&] { (void)device.compile(commands); });
  CHECK(refused.code == ErrorCode::InvalidArgument);
  CHECK(refused.label == "step");
}

TEST_CASE("compile: a command buffer of another device is refused") {
  FakeInstance fake({}, {{"host", DeviceKind::Host}, {"cuda:0", DeviceKind::Cuda}});
  Device device = fake.open(), other = fake.open("cuda:0");
  auto pool = device.create_pool();
  CommandBuffer commands = device.create_command_buffer();
  commands.begin();
  commands.fill(pool->allocate<int>(4, "x"), 1);
  commands.end();
  CHECK(error_of([&] { (void)other.compile(commands); }).code == ErrorCode::WrongDevice);
}

TEST_CASE_FIXTURE(Recorded,
                  "compile: an error for too little transient memory names graph and bytes, and "
                  "nothing leaks") {
  const CommandBuffer commands = record();
  fake.world.limit_bytes(fake.world.memory_bytes() + 100);
  const std::size_t blocks = fake.world.memory_blocks();
  const ErrorDetails refused = error_of([&] { (void)device.compile(commands); });
  CHECK(refused.code == ErrorCode::OutOfMemory);
  CHECK(refused.label == "step");
  CHECK(text_of([&] {
          (void)device.compile(commands);
        }).find("256 bytes of graph step's transient buffers") != std::string::npos);
  CHECK(fake.world.memory_blocks() == blocks);
  CHECK(fake.world.execs() == 0);
  CHECK(pool->live_graphs() == 0);
}

TEST_CASE_FIXTURE(Recorded, "compile: an impossible lowering is refused by its stage") {
  const CommandBuffer commands = record();
  const ErrorDetails refused =
      error_of([&] { (void)device.compile(commands, {.lowering = Lowering::Lanes(0)}); });
  CHECK(refused.code == ErrorCode::InvalidArgument);
  CHECK(refused.stage == Stage::Lowering);
}

TEST_CASE_FIXTURE(
    Recorded,
    "compile: export_dot writes the text of to_dot, and names a path that it cannot write") {
  CapturedGraph graph = device.compile(record());
  const auto path = scratch_folder() / "step.dot";
  graph.export_dot(path);
  CHECK(text_of_file(path) == graph.to_dot());
  CHECK(graph.to_text().find("fill") != std::string::npos);
  const auto nowhere = scratch_folder() / "no" / "such" / "folder.dot";
  const ErrorDetails failed = error_of([&] { graph.export_dot(nowhere); });
  CHECK(failed.code == ErrorCode::NativeFailure);
  CHECK(failed.label == "step");
  CHECK(failed.native_call.find(nowhere.string()) != std::string::npos);
  CHECK(failed.native_code != 0);
}

namespace {

// Compiles under Ordering::Explicit: a fill of x, a barrier of y that orders nothing, and `fills`
// more fills of x.
CapturedGraph compile_with_idle_barrier(Recorded& recorded, int fills) {
  CommandBuffer commands =
      recorded.device.create_command_buffer({.label = "step", .ordering = Ordering::Explicit});
  commands.begin();
  commands.fill(recorded.x, 1);
  commands.barrier({.buffer = recorded.y});
  for (int i = 0; i < fills; ++i) commands.fill(recorded.x, 2);
  commands.end();
  return recorded.device.compile(commands);
}

InstanceDesc collecting_messages(std::vector<std::string>& ids,
                                 std::vector<std::string> suppress = {}) {
  InstanceDesc desc;
  desc.validation = Validation::Full;
  desc.on_message = [&ids](const Message& message) { ids.emplace_back(message.id); };
  desc.suppress = std::move(suppress);
  return desc;
}

}  // namespace

TEST_CASE_FIXTURE(Recorded, "compile: Persistent is refused by devices without segments") {
  CommandBuffer commands = record();
  const Error error = thrown_by(
      [&] { static_cast<void>(device.compile(commands, {.lowering = Lowering::Persistent})); });
  CHECK(error.code() == ErrorCode::Unsupported);
  CHECK(std::string(error.what()).find("Lowering::Persistent") != std::string::npos);
}

TEST_CASE("messages: a warning reaches on_message and the report, and compile succeeds") {
  std::vector<std::string> ids;
  Recorded recorded(collecting_messages(ids));
  const CapturedGraph graph = compile_with_idle_barrier(recorded, 0);
  REQUIRE(graph.report().messages.size() == 1);
  CHECK(graph.report().messages[0].id == "barrier-orders-nothing");
  CHECK(graph.report().messages[0].severity == Severity::Warning);
  CHECK(ids == std::vector<std::string>{"barrier-orders-nothing"});
}

TEST_CASE("messages: a suppressed warning is neither reported nor kept") {
  std::vector<std::string> ids;
  Recorded recorded(collecting_messages(ids, {"barrier-orders-nothing"}));
  CHECK(compile_with_idle_barrier(recorded, 0).report().messages.empty());
  CHECK(ids.empty());
}

TEST_CASE("messages: an error is reported and thrown even if it is suppressed") {
  std::vector<std::string> ids;
  Recorded recorded(collecting_messages(ids, {"barrier-orders-nothing", "hazard-unordered"}));
  const ErrorDetails missing = error_of([&] { (void)compile_with_idle_barrier(recorded, 1); });
  CHECK(missing.code == ErrorCode::MissingBarrier);
  CHECK(missing.stage == Stage::Validate);
  CHECK(missing.message_id == "hazard-unordered");
  CHECK(ids == std::vector<std::string>{"hazard-unordered"});
}

TEST_CASE("messages: an exception of a handler leaves compile, and no graph is made") {
  InstanceDesc desc;
  desc.validation = Validation::Full;
  desc.on_message = [](const Message&) { throw std::runtime_error("enough"); };
  Recorded recorded(desc);
  CHECK_THROWS_WITH_AS((void)compile_with_idle_barrier(recorded, 0), "enough", std::runtime_error);
  CHECK(recorded.fake.world.execs() == 0);
  CHECK(recorded.pool->live_graphs() == 0);
}

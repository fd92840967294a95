// Values that no enumeration has, and null addresses, are refused where they enter the engine.
#include <reprise/child_graph_op.hpp>
#include <reprise/cost_profile.hpp>
#include <reprise/dot.hpp>
#include <reprise/find_races.hpp>
#include <reprise/graph_op.hpp>
#include <reprise/memory_plan.hpp>
#include <reprise/stream_capture.hpp>

#include "conformance/device_fixture.hpp"
#include "words.shaders.hpp"

namespace reprise::test::invalid_values_test {
namespace {

template <class Enum>
Enum wrong() {
  return static_cast<Enum>(77);
}

// Refuses with the field and the value.
void check_wrong(std::string_view field, const std::function<void()>& call) {
  INFO(std::string(field));
  check_refused(ErrorCode::InvalidArgument, {field, "77"}, call);
}

// Dispatches conf_set with values that its enumerations lack.
struct WrongDispatchOp {
  Kernel set;
  AccessedView use;
  DispatchDesc desc;
  [[nodiscard]] std::string_view op_name() const noexcept { return "wrong dispatch"; }
  void declare(GraphOpDeclaration& declaration) const {
    declaration.use(AccessedView{use.view, Access::Write});
  }
  void record(GraphRecordCtx& ctx) const { ctx.dispatch(set, desc, use, 1u, 4u); }
};

struct WrongOp {
  AccessedView use;
  [[nodiscard]] std::string_view op_name() const noexcept { return "wrong"; }
  void declare(GraphOpDeclaration& declaration) const { declaration.use(use); }
  void record(GraphRecordCtx&) const {}
};

}  // namespace

TEST_CASE_FIXTURE(DeviceFixture, "invalid values: commands refuse a value of no enumeration") {
  const auto x = pool->allocate<unsigned>(4, "x");
  CommandBuffer cmd = recording();
  const CommandRef first = cmd.fill(x, 1u), second = cmd.fill(x, 2u);
  const std::uint32_t before = cmd.command_count();
  const Kernel set = kernel(shaders::conf_set);
  const AccessedView view{x, wrong<Access>()};
  check_wrong(".launch", [&] {
    cmd.dispatch(set, {.launch = wrong<DispatchDesc::Launch>()}, write(x), 1u, 4u);
  });
  check_wrong(".start", [&] {
    cmd.dispatch(set, {.start = wrong<DispatchDesc::Start>()}, write(x), 1u, 4u);
  });
  check_wrong("access of argument 0", [&] { cmd.dispatch(set, {}, view, 1u, 4u); });
  check_wrong(".before", [&] { cmd.barrier({.before = wrong<Access>()}); });
  check_wrong(".after", [&] { cmd.barrier({.after = wrong<Access>()}); });
  check_wrong(".dependency", [&] { cmd.barrier({.dependency = wrong<Dependency>()}); });
  check_wrong("dependency", [&] { cmd.edge(first, second, wrong<Dependency>()); });
  check_wrong("access", [&] { cmd.host([] {}, {view}); });
  check_wrong("access", [&] { cmd.add(WrongOp{view}); });
  const auto dispatch_in_op = [&](const AccessedView& use, const DispatchDesc& desc) {
    CommandBuffer step = recording();
    step.add(WrongDispatchOp{set, use, desc});
    static_cast<void>(compile(step));
  };
  check_wrong(".launch",
              [&] { dispatch_in_op(write(x), {.launch = wrong<DispatchDesc::Launch>()}); });
  check_wrong(".start", [&] { dispatch_in_op(write(x), {.start = wrong<DispatchDesc::Start>()}); });
  check_wrong("access of argument 0", [&] { dispatch_in_op(view, {}); });
  check_wrong("lifetime", [&] {
    unsigned words[4] = {};
    cmd.copy(HostBytes{wrong<HostBytes::Lifetime>(), words, sizeof words, true}, x);
  });
  CHECK(cmd.command_count() == before);
}

TEST_CASE_FIXTURE(DeviceFixture, "invalid values: descriptions refuse a value of no enumeration") {
  const auto x = pool->allocate<unsigned>(4, "x");
  CommandBuffer cmd = recording({.label = "step"});
  cmd.fill(x, 1u);
  cmd.end();
  CapturedGraph graph = device.compile(cmd);
  check_wrong("CommandBufferDesc::ordering", [&] {
    static_cast<void>(device.create_command_buffer({.ordering = wrong<Ordering>()}));
  });
  check_wrong("CommandBufferDesc::level",
              [&] { static_cast<void>(device.create_command_buffer({.level = wrong<Level>()})); });
  check_wrong("PoolDesc::sharing",
              [&] { static_cast<void>(device.create_pool({.sharing = wrong<SlabSharing>()})); });
  check_wrong("CompileDesc::lowering.mode", [&] {
    static_cast<void>(device.compile(cmd, {.lowering = {wrong<Lowering::Mode>(), 1}}));
  });
  check_wrong("CompileDesc::memory_goal", [&] {
    static_cast<void>(device.compile(cmd, {.memory_goal = wrong<MemoryGoal>()}));
  });
  check_wrong("UpdateDesc::first",
              [&] { static_cast<void>(graph.update(cmd, {.first = wrong<UpdateMethod>()})); });
  check_wrong("UpdateDesc::last",
              [&] { static_cast<void>(graph.rebind(x, x, {.last = wrong<UpdateMethod>()})); });
  check_wrong("TuneDesc::contents", [&] {
    static_cast<void>(graph.tune(queue, {.contents = wrong<TuneDesc::Contents>()}));
  });
  check_wrong("RaceDesc::compare",
              [&] { static_cast<void>(find_races(cmd, {.compare = wrong<RaceDesc::Compare>()})); });
  check_wrong("profile mode", [&] { graph.set_profile(wrong<ProfileMode>()); });
  check_wrong("profile mode", [&] { instance.set_profile(wrong<ProfileMode>()); });
  check_wrong("CaptureMode",
              [&] { static_cast<void>(StreamCapture::begin(queue, wrong<CaptureMode>())); });
  StreamCapture capture = StreamCapture::begin(queue);
  check_wrong("MemcpyDirection",
              [&] { capture.record_memcpy(wrong<MemcpyDirection>(), x.data(), x.data(), 4); });
  check_wrong("InstanceDesc::validation",
              [] { Instance unused({.validation = wrong<Validation>()}); });
  check_wrong("InstanceDesc::cuda_graphs",
              [] { Instance unused({.cuda_graphs = wrong<CudaGraphs>()}); });
  check_wrong("InstanceDesc::remote_profile",
              [] { Instance unused({.remote_profile = wrong<RemoteProfile>()}); });
  check_wrong("TraceDesc::profile",
              [] { Instance unused({.trace = {.profile = wrong<ProfileMode>()}}); });
  const auto unknown = DotFlags::Accesses | static_cast<DotFlags>(1u << 20);
  const auto check_flags = [&](const std::function<void()>& call) {
    check_refused(ErrorCode::InvalidArgument, {"graph step", "0x0000000000100000", "DotFlags"},
                  call);
  };
  check_flags([&] { static_cast<void>(graph.to_dot(unknown)); });
  check_flags([&] { export_dot(graph, "unwritten.dot", unknown); });
  CHECK_FALSE(std::filesystem::exists("unwritten.dot"));
  check_wrong("the kind of the buffer",
              [&] { static_cast<void>(pool->allocate_bytes(wrong<BufferKind>(), 4, 4, 4, "x")); });
  check_wrong("GraphCosts::timed_by", [] {
    save_cost_profile({.graphs = {{.timed_by = wrong<GraphCosts::TimedBy>(), .label = "step"}}},
                      "unwritten.json");
  });
}

TEST_CASE_FIXTURE(DeviceFixture, "invalid values: null addresses are refused") {
  const auto x = pool->allocate<unsigned>(4, "x");
  CommandBuffer cmd = recording();
  const auto null_span = [](auto* null, std::size_t count) { return std::span(null, count); };
  check_refused(ErrorCode::InvalidArgument, {"update", "null address", "x"},
                [&] { cmd.update(x, null_span(static_cast<const std::byte*>(nullptr), 8)); });
  check_refused(ErrorCode::InvalidArgument, {"copy", "null address"}, [&] {
    cmd.copy(snapshot(null_span(static_cast<const unsigned*>(nullptr), 4)), x);
  });
  check_refused(ErrorCode::InvalidArgument, {"host", "null address"},
                [&] { cmd.host([] {}, null_span(static_cast<const AccessedView*>(nullptr), 2)); });
  check_refused(ErrorCode::InvalidArgument, {"fill", "SourceLocation"}, [&] {
    cmd.fill(x, 1u, SourceLocation{nullptr, 7});
  });
  CHECK(cmd.command_count() == 0);
  cmd.fill(x, 1u);
  CapturedGraph graph = compile(cmd);
  check_refused(ErrorCode::InvalidArgument, {"rebind", "null address"}, [&] {
    static_cast<void>(graph.rebind(null_span(static_cast<const BufferBinding*>(nullptr), 1)));
  });
  check_refused(ErrorCode::InvalidArgument, {"plan_memory", "null address"}, [&] {
    static_cast<void>(plan_memory(null_span(static_cast<const BufferLifetime*>(nullptr), 1)));
  });
}

TEST_CASE_FIXTURE(DeviceFixture, "invalid values: malformed descriptions of kernels are refused") {
  const auto load = [&](const KernelDesc& desc) {
    return [this, desc] { static_cast<void>(device.load_kernel(desc)); };
  };
  KernelDesc desc = shaders::conf_set;
  desc.name = nullptr;
  check_refused(ErrorCode::InvalidArgument, {"KernelDesc has no name"}, load(desc));
  desc.name = "";
  check_refused(ErrorCode::InvalidArgument, {"KernelDesc has no name"}, load(desc));
  desc = shaders::conf_set;
  desc.source = nullptr;
  check_refused(ErrorCode::InvalidArgument, {"null source"}, load(desc));
  desc = shaders::conf_set;
  desc.parameters = {static_cast<const KernelParameter*>(nullptr), 3};
  check_refused(ErrorCode::InvalidArgument, {"conf_set", "null address"}, load(desc));
  KernelParameter overlapping[] = {{.offset = 0, .size = 8}, {.offset = 4, .size = 4}};
  desc.parameters = overlapping;
  check_refused(ErrorCode::InvalidArgument, {"conf_set", "parameter 1"}, load(desc));
  KernelParameter large[] = {{.offset = 8, .size = 0xffffffff}};
  desc.parameters = large;
  check_refused(ErrorCode::InvalidArgument, {"conf_set", "parameter 0", "exceeds"}, load(desc));
  ConstantDesc constant;
  constant.name = nullptr;
  check_refused(ErrorCode::InvalidArgument, {"ConstantDesc has no name"},
                [&] { static_cast<void>(device.constant<unsigned>(constant)); });
}

}  // namespace reprise::test::invalid_values_test

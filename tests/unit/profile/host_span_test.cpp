#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <reprise/reprise.hpp>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "base/handle_access.hpp"
#include "runtime/core/instance_core.hpp"
#include "support/thrown_by.hpp"
#include "unit/profile/traced_run.hpp"

using namespace reprise;
using namespace reprise::test;

namespace {

InstanceDesc traced_to(std::string_view target) {
  InstanceDesc desc;
  desc.application = "spans";
  desc.on_message = [](const Message&) {};
  desc.trace = {.target = target, .profile = ProfileMode::Replays};
  return desc;
}

std::map<std::string, trace::HostRange> by_name(const trace::Records& all) {
  std::map<std::string, trace::HostRange> out;
  for (const trace::HostRange& range : all.host_ranges) out[range.name] = range;
  return out;
}

bool is_inside(const trace::HostRange& inner, const trace::HostRange& outer) {
  return inner.thread == outer.thread && inner.depth == outer.depth + 1 &&
         inner.started >= outer.started && inner.ended <= outer.ended;
}

// Ranges of one thread and depth never overlap.
bool is_nested(std::vector<trace::HostRange> ranges) {
  std::ranges::sort(ranges, {}, [](const trace::HostRange& r) {
    return std::tuple(r.thread, r.depth, r.started);
  });
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    const trace::HostRange &a = ranges[i - 1], &b = ranges[i];
    if (a.thread == b.thread && a.depth == b.depth && a.ended > b.started) return false;
  }
  return true;
}

}  // namespace

TEST_CASE(
    "host spans: recording, compiling with its parts and uploading are ranges, and launches are "
    "not") {
  const TraceFolder folder;
  {
    const Instance instance(traced_to(folder.file()));
    const Device device = instance.open_device(DeviceSelector::named("host"));
    {
      const TraceRange whole = instance.trace_range("set up");
      const auto x = device.create_pool()->allocate<unsigned>(64, "x");
      CommandBuffer cmd = device.create_command_buffer({.label = "step"});
      cmd.begin();
      cmd.fill(x, 1u);
      cmd.end();
      CapturedGraph graph = device.compile(cmd);
      const Queue queue = device.create_queue();
      graph.upload(queue);
      graph.upload(queue);  // already uploaded
      for (int i = 0; i < 3; ++i) graph.launch(queue).wait();
    }
    device.wait_idle();
  }
  const trace::Records all = all_records(folder.file());
  const auto range = by_name(all);
  CHECK(all.host_ranges.size() == 7);
  REQUIRE(range.size() == 7);
  const trace::HostRange& whole = range.at("set up");
  CHECK(whole.depth == 0);
  CHECK(whole.graph == trace::kNone);
  CHECK(is_inside(range.at("record step"), whole));
  CHECK(is_inside(range.at("compile step"), whole));
  CHECK(is_inside(range.at("upload step"), whole));
  for (const char* part : {"validate", "plan", "instantiate"}) {
    CAPTURE(part);
    CHECK(is_inside(range.at(part), range.at("compile step")));
    CHECK(range.at(part).graph == all.graph_versions[0].graph);
  }
  CHECK(range.at("validate").ended <= range.at("plan").started);
  CHECK(range.at("plan").ended <= range.at("instantiate").started);
  CHECK(range.at("compile step").graph == all.graph_versions[0].graph);
  CHECK(range.at("upload step").graph == all.graph_versions[0].graph);
  CHECK(is_nested(all.host_ranges));
  CHECK(std::ranges::count(all.thread_names, whole.thread, &trace::ThreadName::thread) == 1);
  REQUIRE(all.profiling_overheads.size() >= 1);
  CHECK(all.profiling_overheads.back().mode == 1);
  CHECK(all.profiling_overheads.back().host > 0);
}

TEST_CASE(
    "host spans: ranges of one depth and thread never overlap, in any order of start and end") {
  const TraceFolder folder;
  {
    const Instance instance(traced_to(folder.file()));
    const Device device = instance.open_device(DeviceSelector::named("host"));
    {
      CommandBuffer a = device.create_command_buffer({.label = "a"}),
                    b = device.create_command_buffer({.label = "b"}),
                    c = device.create_command_buffer({.label = "c"});
      a.begin();
      b.begin();
      a.end();
      c.begin();
      b.end();
      c.reset();
      std::optional<CommandBuffer> dropped = device.create_command_buffer({.label = "dropped"});
      dropped->begin();
      std::thread elsewhere([&] { dropped.reset(); });
      elsewhere.join();
      TraceRange outer = instance.trace_range("outer");
      const TraceRange inner = instance.trace_range("inner");
      outer = TraceRange();
      const TraceRange last = instance.trace_range("last");
    }
    device.wait_idle();
  }
  const trace::Records all = all_records(folder.file());
  CHECK(all.host_ranges.size() == 7);
  CHECK(is_nested(all.host_ranges));
  const auto range = by_name(all);
  CHECK(range.at("record a").depth == 0);
  CHECK(range.at("record b").depth == 1);
  CHECK(range.at("record c").depth == 2);
  CHECK(range.at("record dropped").depth == 0);
  CHECK(range.at("outer").depth == 0);
}

TEST_CASE("host spans: a call that fails is a range without a graph") {
  const TraceFolder folder;
  {
    const std::string file = folder.file();
    InstanceDesc desc = traced_to(file);
    desc.validation = Validation::Full;
    const Device device = Instance(desc).open_device(DeviceSelector::named("host"));
    {
      const auto x = device.create_pool()->allocate<unsigned>(64, "x");
      CommandBuffer cmd =
          device.create_command_buffer({.label = "wrong", .ordering = Ordering::Explicit});
      cmd.begin();
      cmd.fill(x, 1u);
      cmd.fill(x, 2u);
      cmd.end();
      CHECK(thrown_by([&] { static_cast<void>(device.compile(cmd)); }).code() ==
            ErrorCode::MissingBarrier);
    }
    device.wait_idle();
  }
  const auto range = by_name(all_records(folder.file()));
  REQUIRE(range.contains("compile wrong"));
  CHECK(range.at("compile wrong").graph == trace::kNone);
  CHECK(is_inside(range.at("validate"), range.at("compile wrong")));
  CHECK_FALSE(range.contains("plan"));
}

TEST_CASE("host spans: without a trace a span records and costs nothing") {
  const NoTraceEnvironment none;
  const Instance instance(InstanceDesc{.application = "none"});
  const TraceRange range = instance.trace_range("nothing");
  CHECK(detail::core_of(instance)->trace() == nullptr);
}

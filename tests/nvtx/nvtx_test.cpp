// The engine's NVTX annotations: ranges with names, categories and payloads, and names of queues
// and memory.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <reprise/cuda_interop.hpp>
#include <reprise/reprise.hpp>

#include "nvtx/listener.hpp"

namespace reprise::test {
namespace {

using Kind = NvtxEvent::Kind;

Device open(const char* selector) {
  return Instance({.application = "nvtx test"}).open_device(DeviceSelector::named(selector));
}

// All events of one kind, in order.
std::vector<NvtxEvent> of_kind(const std::vector<NvtxEvent>& events, Kind kind) {
  std::vector<NvtxEvent> found;
  std::copy_if(events.begin(), events.end(), std::back_inserter(found),
               [&](const NvtxEvent& one) { return one.kind == kind; });
  return found;
}

std::vector<std::string> texts(const std::vector<NvtxEvent>& events) {
  std::vector<std::string> all;
  for (const NvtxEvent& one : events) all.push_back(one.text);
  return all;
}

// Texts of ranges in the order of their ends. Fails unless every range starts and ends.
std::vector<std::string> ended(const std::vector<NvtxEvent>& events) {
  std::map<std::uint64_t, std::string> open;
  std::vector<std::string> order;
  for (const NvtxEvent& one : events) {
    if (one.kind == Kind::Start) open[one.id] = one.text;
    if (one.kind != Kind::End) continue;
    REQUIRE(open.contains(one.id));
    order.push_back(open[one.id]);
    open.erase(one.id);
  }
  CHECK(open.empty());
  return order;
}

CommandBuffer recorded(const Device& device, const GpuRef<unsigned>& x, std::string_view label) {
  CommandBuffer cmd = device.create_command_buffer({.label = label});
  cmd.begin();
  cmd.fill(x, 1u);
  cmd.end();
  return cmd;
}

}  // namespace

TEST_CASE(
    "nvtx: a recording and its labels are ranges on every recording thread, with registered "
    "texts") {
  const Device device = open("host");
  const auto x = device.create_pool()->allocate<unsigned>(16, "x");
  CommandBuffer cmd = device.create_command_buffer({.label = "labelled"});
  static_cast<void>(take_events());
  for (int again = 0; again < 2; ++again) {
    cmd.begin();
    {
      const auto forward = cmd.label("forward");
      cmd.fill(x, 1u);
      const auto inner = cmd.label("inner");
      cmd.fill(x, 2u);
    }
    auto parts = cmd.split(1);
    std::thread([&] {
      const auto beside = parts[0].label("beside");
      parts[0].fill(x, 3u);
    }).join();
    cmd.end();
    const auto events = take_events();
    const auto starts = of_kind(events, Kind::Start);
    CHECK(texts(starts) ==
          std::vector<std::string>{"record labelled", "forward", "inner", "beside"});
    CHECK(ended(events) ==
          std::vector<std::string>{"inner", "forward", "beside", "record labelled"});
    for (const NvtxEvent& start : starts) CHECK(start.message == NvtxEvent::Message::Registered);
    CHECK(of_kind(events, Kind::Register).size() == (again == 0 ? 4 : 0));
  }
  CHECK(heard_domain() == "reprise");
}

TEST_CASE("nvtx: dropping a recording closes its ranges, including open labels") {
  const Device device = open("host");
  static_cast<void>(take_events());
  {
    CommandBuffer cmd = device.create_command_buffer({.label = "dropped"});
    cmd.begin();
    cmd.begin_label("outer");
    cmd.begin_label("inner");
    cmd.reset();
    CHECK(ended(take_events()) == std::vector<std::string>{"inner", "outer", "record dropped"});
    cmd.begin();
  }
  CHECK(ended(take_events()) == std::vector<std::string>{"record dropped"});
}

TEST_CASE(
    "nvtx: compile, instantiate, upload and each replay are ranges of the calling thread, with the "
    "replay's number") {
  const Device device = open("host");
  const auto pool = device.create_pool();
  const auto x = pool->allocate<unsigned>(16, "x");
  const CommandBuffer cmd = recorded(device, x, "step");
  const Queue queue = device.create_queue({.label = "main"});
  static_cast<void>(take_events());
  CapturedGraph graph = device.compile(cmd, {.pool = pool});
  graph.upload(queue);
  for (int i = 0; i < 3; ++i) graph.launch(queue).wait();
  const auto events = take_events();
  const auto pushed = of_kind(events, Kind::Push);
  CHECK(texts(pushed) == std::vector<std::string>{"compile step", "instantiate step", "upload step",
                                                  "step #1", "step #2", "step #3"});
  CHECK(of_kind(events, Kind::Pop).size() == pushed.size());
  std::set<std::uint32_t> categories;
  for (const NvtxEvent& range : pushed) {
    const bool is_replay = range.text.starts_with("step #");
    CHECK(range.payload == (is_replay ? static_cast<std::uint64_t>(range.text.back() - '0') : 0));
    // Names of replays are unique.
    CHECK((range.message == NvtxEvent::Message::Registered) == !is_replay);
    categories.insert(range.category);
  }
  CHECK(categories.size() == 4);
  CHECK_FALSE(categories.contains(0));
}

TEST_CASE("nvtx: a name that is too long is truncated") {
  const Device device = open("host");
  const auto x = device.create_pool()->allocate<unsigned>(16, "x");
  const std::string label(5000, 'l');
  static_cast<void>(take_events());
  static_cast<void>(recorded(device, x, label));
  const auto starts = of_kind(take_events(), Kind::Start);
  REQUIRE(starts.size() == 1);
  CHECK(starts[0].text.starts_with("record lll"));
  CHECK(starts[0].text.size() < 200);
}

TEST_CASE("nvtx: queues and memory of a GPU are named") {
  const Instance instance({.application = "nvtx test"});
  if (!instance.gpu_unavailable_reason().empty()) {
    MESSAGE(instance.gpu_unavailable_reason());
    return;
  }
  const Device device = instance.open_device(DeviceSelector::named("cuda:0"));
  static_cast<void>(take_events());
  const Queue queue = device.create_queue({.label = "main"});
  const auto pool = device.create_pool({.label = "weights"});
  const auto x = pool->allocate<unsigned>(16, "x");
  const auto t = pool->transient<unsigned>(16, "t");
  CommandBuffer cmd = device.create_command_buffer({.label = "step"});
  cmd.begin();
  cmd.fill(t, 1u);
  cmd.copy(t, x);
  cmd.end();
  CapturedGraph graph = device.compile(cmd, {.pool = pool});
  graph.launch(queue).wait();
  const auto events = take_events();
  const auto queues = of_kind(events, Kind::Queue);
  REQUIRE(queues.size() == 1);
  CHECK(queues[0].text == "main");
  CHECK(queues[0].subject == native_stream(queue));
  const auto memory = of_kind(events, Kind::Memory);
  REQUIRE(memory.size() == 2);
  CHECK(memory[0].text == "weights: x");
  CHECK(memory[0].subject == x.data());
  CHECK(memory[1].text == "step: transient buffers");
}

}  // namespace reprise::test

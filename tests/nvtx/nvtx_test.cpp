// What the engine says to NVTX tools: its ranges with their names, categories and payloads, and the names of queues and memory.
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
#include "support/skip.hpp"

namespace reprise::test {
namespace {

using Kind = Heard::Kind;

Device open(const char* selector) { return Instance({.application = "nvtx test"}).open_device(DeviceSelector::named(selector)); }

// Everything of one kind, in order.
std::vector<Heard> of_kind(const std::vector<Heard>& heard, Kind kind) {
  std::vector<Heard> found;
  std::copy_if(heard.begin(), heard.end(), std::back_inserter(found), [&](const Heard& one) { return one.kind == kind; });
  return found;
}

std::vector<std::string> texts(const std::vector<Heard>& heard) {
  std::vector<std::string> all;
  for (const Heard& one : heard) all.push_back(one.text);
  return all;
}

// Texts of ranges in the order in which they ended; each must have started, and none may be left.
std::vector<std::string> ended(const std::vector<Heard>& heard) {
  std::map<std::uint64_t, std::string> open;
  std::vector<std::string> order;
  for (const Heard& one : heard) {
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

TEST_CASE("nvtx: a recording and its labels are ranges, also those of other threads, with texts that the tool got once") {
  const Device device = open("host");
  const auto x = device.create_pool()->allocate<unsigned>(16, "x");
  CommandBuffer cmd = device.create_command_buffer({.label = "labelled"});
  static_cast<void>(take_heard());
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
    const auto heard = take_heard();
    const auto starts = of_kind(heard, Kind::Start);
    CHECK(texts(starts) == std::vector<std::string>{"record labelled", "forward", "inner", "beside"});
    CHECK(ended(heard) == std::vector<std::string>{"inner", "forward", "beside", "record labelled"});
    for (const Heard& start : starts) CHECK(start.message == Heard::Message::Registered);
    CHECK(of_kind(heard, Kind::Register).size() == (again == 0 ? 4 : 0));
  }
  CHECK(heard_domain() == "reprise");
}

TEST_CASE("nvtx: a recording that is dropped leaves no range open, whatever labels were") {
  const Device device = open("host");
  static_cast<void>(take_heard());
  {
    CommandBuffer cmd = device.create_command_buffer({.label = "dropped"});
    cmd.begin();
    cmd.begin_label("outer");
    cmd.begin_label("inner");
    cmd.reset();
    CHECK(ended(take_heard()) == std::vector<std::string>{"inner", "outer", "record dropped"});
    cmd.begin();
  }
  CHECK(ended(take_heard()) == std::vector<std::string>{"record dropped"});
}

TEST_CASE("nvtx: compiling, instantiating, uploading and each replay are ranges of the thread that does it, a replay with its number") {
  const Device device = open("host");
  const auto pool = device.create_pool();
  const auto x = pool->allocate<unsigned>(16, "x");
  const CommandBuffer cmd = recorded(device, x, "step");
  const Queue queue = device.create_queue({.label = "main"});
  static_cast<void>(take_heard());
  CapturedGraph graph = device.compile(cmd, {.pool = pool});
  graph.upload(queue);
  for (int i = 0; i < 3; ++i) graph.launch(queue).wait();
  const auto heard = take_heard();
  const auto pushed = of_kind(heard, Kind::Push);
  CHECK(texts(pushed) == std::vector<std::string>{"compile step", "instantiate step", "upload step", "step #1", "step #2", "step #3"});
  CHECK(of_kind(heard, Kind::Pop).size() == pushed.size());
  std::set<std::uint32_t> categories;
  for (const Heard& range : pushed) {
    const bool is_replay = range.text.starts_with("step #");
    CHECK(range.payload == (is_replay ? static_cast<std::uint64_t>(range.text.back() - '0') : 0));
    CHECK((range.message == Heard::Message::Registered) == !is_replay);  // the name of a replay comes once
    categories.insert(range.category);
  }
  CHECK(categories.size() == 4);
  CHECK_FALSE(categories.contains(0));
}

TEST_CASE("nvtx: a name longer than a tool shows is cut, not refused") {
  const Device device = open("host");
  const auto x = device.create_pool()->allocate<unsigned>(16, "x");
  const std::string label(5000, 'l');
  static_cast<void>(take_heard());
  static_cast<void>(recorded(device, x, label));
  const auto starts = of_kind(take_heard(), Kind::Start);
  REQUIRE(starts.size() == 1);
  CHECK(starts[0].text.starts_with("record lll"));
  CHECK(starts[0].text.size() < 200);
}

TEST_CASE("nvtx: queues and memory of a GPU have their names" * doctest::test_suite("gpu")) {
  const Instance instance({.application = "nvtx test"});
  if (!instance.why_no_gpu().empty()) {
    skip_test_case(instance.why_no_gpu());
    return;
  }
  const Device device = instance.open_device(DeviceSelector::named("cuda:0"));
  static_cast<void>(take_heard());
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
  const auto heard = take_heard();
  const auto queues = of_kind(heard, Kind::Queue);
  REQUIRE(queues.size() == 1);
  CHECK(queues[0].text == "main");
  CHECK(queues[0].subject == native_stream(queue));
  const auto memory = of_kind(heard, Kind::Memory);
  REQUIRE(memory.size() == 2);
  CHECK(memory[0].text == "weights: x");
  CHECK(memory[0].subject == x.data());
  CHECK(memory[1].text == "step: transient buffers");
}

}  // namespace reprise::test

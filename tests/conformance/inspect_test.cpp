// CapturedGraph::inspect: what it reports, and that the replay is one like any other.
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "conditions.shaders.hpp"
#include "conformance/device_fixture.hpp"
#include "inspection.shaders.hpp"
#include "words.shaders.hpp"

namespace reprise::test::inspect_test {
namespace {

constexpr unsigned kCount = 1000;
constexpr DispatchDesc kValues{.grid = 4, .block = 256};
constexpr DispatchDesc kWords{.grid = 8, .block = 128};

template <class T>
std::vector<T> contents_of(const InspectedRange& range) {
  std::vector<T> values(range.contents.size() / sizeof(T));
  std::memcpy(values.data(), range.contents.data(), range.contents.size());
  return values;
}

// The ranges of a buffer, in order of execution.
std::vector<const InspectedRange*> ranges_of(const Inspection& inspection, std::string_view name) {
  std::vector<const InspectedRange*> found;
  for (const InspectedRange& range : inspection.ranges)
    if (range.buffer == name) found.push_back(&range);
  return found;
}

// A chain of `count` kernels between two transients, from "in" to "out"; kernel `odd` multiplies by
// `factor`, the others by 1.
void record_chain(const DeviceFixture& on, CommandBuffer& cmd, const GpuRef<float>& in,
                  const GpuRef<float>& out, unsigned count, unsigned odd, float factor) {
  const Kernel scale = on.kernel(shaders::inspected_scale);
  const GpuRef<float> between[2] = {on.pool->transient<float>(kCount, "even"),
                                    on.pool->transient<float>(kCount, "odd")};
  for (unsigned i = 0; i < count; ++i) {
    const auto label = cmd.label("step " + std::to_string(i));
    cmd.dispatch(scale, kValues, read(i == 0 ? in : between[i % 2]),
                 write(i + 1 == count ? out : between[(i + 1) % 2]), i == odd ? factor : 1.0f,
                 kCount);
  }
}

}  // namespace

TEST_CASE_FIXTURE(DeviceFixture, "inspect: each command's values, their statistics and inputs") {
  const auto in = buffer(std::vector<float>(kCount, 3), "in");
  const auto out = pool->allocate<float>(kCount, "out");
  CommandBuffer cmd = recording({.label = "step"});
  cmd.dispatch(kernel(shaders::inspected_scale), kValues, read(in), write(out), 2.0f, kCount);
  cmd.dispatch(kernel(shaders::inspected_divide), kValues, read(in), write(out), 7u, kCount);
  cmd.copy(out.slice(20, 10), in.slice(20, 10));
  CapturedGraph graph = compile(cmd);
  graph.launch(queue).wait();
  const std::vector<float> before = values(in);
  const Inspection found = graph.inspect(queue);
  CHECK(graph.replay_count() == 1);
  CHECK(found.graph == "step");
  CHECK(found.replays == 1);
  CHECK(found.passes == 1);
  CHECK(found.note == "");
  REQUIRE(found.commands.size() == 3);
  REQUIRE(found.ranges.size() == 4);
  const InspectedRange &first = found.ranges[0], &scaled = found.ranges[1],
                       &divided = found.ranges[2], &copied = found.ranges[3];
  CHECK(first.command == InspectedRange::kBefore);
  CHECK(first.buffer == "in");
  CHECK(contents_of<float>(first) == before);
  CHECK(scaled.command == 0);
  CHECK(scaled.type == ContentType::F32);
  CHECK(scaled.statistics.count == kCount);
  CHECK(divided.command == 1);
  CHECK(divided.statistics.infinities == 1);
  CHECK(divided.statistics.first_infinity == 7);
  CHECK(divided.statistics.nans == 0);
  CHECK(copied.command == 2);
  CHECK(copied.buffer == "in");
  CHECK(copied.end == 120);
  CHECK(copied.type == ContentType::F32);  // as kernels type the buffer
  CHECK(found.commands[0].inputs == std::vector<std::uint32_t>{0});
  CHECK(found.commands[2].inputs == std::vector<std::uint32_t>{2});
  CHECK(found.first_nan() == nullptr);
  CHECK(found.first_infinity() == &divided);
  const std::vector<float> quotients = values(out);
  CHECK(contents_of<float>(divided) == quotients);
  CHECK(quotients[8] == before[8]);
  const std::vector<float> scaled_values = contents_of<float>(scaled);
  CHECK(scaled_values[500] == 6);
  CHECK(to_text(found).find("1 infinite from [7] on") != std::string::npos);
}

TEST_CASE_FIXTURE(DeviceFixture, "inspect: a NaN and a wrong constant are found in long chains") {
  const auto in = buffer(std::vector<float>(kCount, 3), "in");
  const auto out = pool->allocate<float>(kCount, "out");
  for (const unsigned count : {10u, 100u, 1000u}) {
    const unsigned odd = count * 3 / 7;
    const auto inspected = [&](float factor) {
      CommandBuffer cmd = recording();
      record_chain(*this, cmd, in, out, count, odd, factor);
      return compile(cmd).inspect(queue);
    };
    const Inspection right = inspected(1);
    const Inspection nan = inspected(std::numeric_limits<float>::quiet_NaN());
    const Inspection wrong = inspected(1.0001f);
    CHECK(right.first_nan() == nullptr);
    REQUIRE(nan.first_nan() != nullptr);
    CHECK(nan.first_nan()->command == odd);
    CHECK(nan.first_nan()->statistics.nans == kCount);
    const auto difference = compare(right, wrong);
    REQUIRE(difference.has_value());
    CHECK(right.ranges[difference->range_a].command == odd);
    CHECK(difference->count == kCount);
    CHECK(difference->value_a == 3);
    CHECK(difference->text.find("step " + std::to_string(odd)) != std::string::npos);
    CHECK(difference->text.find("[0]: 3 and 3.000") != std::string::npos);
    CHECK(difference->text.find("input ") != std::string::npos);
    CHECK_FALSE(compare(right, wrong, {.relative = 1e-3}).has_value());
    CHECK_FALSE(compare(right, inspected(1)).has_value());
  }
}

TEST_CASE_FIXTURE(DeviceFixture, "inspect: scalars, bindings and disabled commands are current") {
  const auto x = buffer(std::vector<unsigned>(kCount, 1), "x");
  const auto y = buffer(std::vector<unsigned>(kCount, 2), "y");
  CommandBuffer cmd = recording();
  cmd.dispatch(kernel(shaders::conf_set), kWords, write(x), slot("value", 5u), kCount);
  const CommandRef off =
      cmd.dispatch(kernel(shaders::conf_set), kWords, write(x), slot("other", 6u), kCount);
  CapturedGraph graph = compile(cmd);
  graph.scalar<unsigned>("value").set(9);
  graph.disable(off);
  static_cast<void>(graph.rebind(x, y));
  const Inspection found = graph.inspect(queue);
  REQUIRE(found.ranges.size() == 1);
  CHECK(contents_of<unsigned>(found.ranges[0]) == std::vector<unsigned>(kCount, 9));
  CHECK(found.commands.size() == 1);
  CHECK(values(y) == std::vector<unsigned>(kCount, 9));
  CHECK(values(x) == std::vector<unsigned>(kCount, 1));
}

TEST_CASE_FIXTURE(DeviceFixture, "inspect: contents beyond the budget are read in further passes") {
  const auto sum = buffer(std::vector<unsigned>(kCount, 1), "sum");
  CommandBuffer cmd = recording();
  for (unsigned i = 0; i < 5; ++i)
    cmd.dispatch(kernel(shaders::conf_increase), kWords, read_write(sum), i + 1, kCount);
  CapturedGraph graph = compile(cmd);
  std::vector<std::uint32_t> progress;
  const Inspection found = graph.inspect(
      queue, {.budget = 2 * 4096, .on_progress = [&](std::uint32_t done, std::uint32_t passes) {
                progress.push_back(done * 100 + passes);
              }});
  CHECK(found.passes == 3);
  CHECK(progress == std::vector<std::uint32_t>{103, 203, 303});
  REQUIRE(found.ranges.size() == 6);
  unsigned expected = 1;
  for (unsigned i = 0; i < 6; ++i) {
    expected += i;
    CAPTURE(i);
    CHECK(found.ranges[i].state == InspectedRange::State::Stored);
    CHECK(contents_of<unsigned>(found.ranges[i]) == std::vector<unsigned>(kCount, expected));
    CHECK(found.ranges[i].statistics.max == expected);
  }
  CHECK(values(sum) == std::vector<unsigned>(kCount, 16));

  const Inspection restored = graph.inspect(queue, {.effect = InspectDesc::Effect::Restored});
  CHECK(contents_of<unsigned>(restored.ranges[5]) == std::vector<unsigned>(kCount, 31));
  CHECK(values(sum) == std::vector<unsigned>(kCount, 16));

  // An exception restores as well.
  const InspectDesc failing{.effect = InspectDesc::Effect::Restored,
                            .on_progress = [](std::uint32_t, std::uint32_t) { throw 7; }};
  CHECK_THROWS_AS(static_cast<void>(graph.inspect(queue, failing)), int);
  CHECK(values(sum) == std::vector<unsigned>(kCount, 16));

  const Inspection limited = graph.inspect(queue, {.max_contents = 3 * 4096});
  CHECK(limited.ranges[2].state == InspectedRange::State::Stored);
  CHECK(limited.ranges[3].state == InspectedRange::State::OverLimit);
  CHECK(limited.ranges[3].statistics.count == kCount);
  CHECK(limited.note.find("3 ranges have no contents") != std::string::npos);

  const Inspection counted =
      graph.inspect(queue, {.contents = InspectDesc::Contents::StatisticsOnly});
  CHECK(counted.passes == 1);
  CHECK(counted.ranges[0].state == InspectedRange::State::NotWanted);
  CHECK(counted.ranges[0].contents.empty());
  CHECK(counted.ranges[0].statistics.count == kCount);
}

TEST_CASE_FIXTURE(DeviceFixture, "inspect: contents of the chosen buffers alone") {
  const auto x = buffer(std::vector<unsigned>(kCount, 1), "x");
  const auto y = buffer(std::vector<unsigned>(kCount, 2), "y");
  CommandBuffer cmd = recording();
  cmd.dispatch(kernel(shaders::conf_mix), kWords, read(x), read_write(y), 3u, kCount);
  const Inspection found = compile(cmd).inspect(queue, {.buffers = {y}});
  CHECK(ranges_of(found, "x").front()->state == InspectedRange::State::NotWanted);
  CHECK(ranges_of(found, "y").back()->state == InspectedRange::State::Stored);
}

TEST_CASE_FIXTURE(DeviceFixture, "inspect: bytes that the command declares and does not write") {
  const auto in = buffer(std::vector<float>(kCount, 3), "in");
  const auto half = pool->transient<float>(2 * kCount, "half");
  CommandBuffer cmd = recording();
  cmd.dispatch(kernel(shaders::inspected_scale), kValues, read(in), write(half), 2.0f, kCount);
  const Inspection found = compile(cmd).inspect(queue);
  const InspectedRange& written = found.ranges.back();
  CHECK(written.buffer == "half");
  CHECK(written.statistics.count == 2 * kCount);
  CHECK(contents_of<float>(written)[kCount - 1] == 6);
}

TEST_CASE_FIXTURE(DeviceFixture, "inspect: graphs with host callbacks run once") {
  const auto x = pool->allocate<unsigned>(kCount, "x");
  int calls = 0;
  CommandBuffer cmd = recording({.label = "calls"});
  cmd.dispatch(kernel(shaders::conf_set), kWords, write(x), 1u, kCount);
  cmd.host([&] { ++calls; });
  cmd.dispatch(kernel(shaders::conf_set), kWords, write(x), 2u, kCount);
  CapturedGraph graph = compile(cmd);
  const Inspection found = graph.inspect(queue, {.budget = 4096});
  CHECK(calls == 1);
  CHECK(found.passes == 1);
  CHECK(found.ranges[0].state == InspectedRange::State::Stored);
  CHECK(found.ranges[1].state == InspectedRange::State::NotRepeatable);
  CHECK(found.ranges[1].statistics.max == 2);
  CHECK(found.note.find("host callbacks") != std::string::npos);
  check_refused(ErrorCode::Unsupported, {"calls", "host callbacks", "Effect::Kept"}, [&] {
    static_cast<void>(graph.inspect(queue, {.effect = InspectDesc::Effect::Restored}));
  });
  CHECK(calls == 1);
}

TEST_CASE_FIXTURE(DeviceFixture, "inspect: the exception of a host callback is thrown") {
  const auto x = pool->allocate<unsigned>(kCount, "x");
  CommandBuffer cmd = recording();
  cmd.dispatch(kernel(shaders::conf_set), kWords, write(x), 1u, kCount);
  cmd.host([] { throw std::runtime_error("from the callback"); });
  CapturedGraph graph = compile(cmd);
  CHECK_THROWS_WITH(static_cast<void>(graph.inspect(queue)), "from the callback");
  CHECK(values(x) == std::vector<unsigned>(kCount, 1));
}

TEST_CASE_FIXTURE(DeviceFixture, "inspect: a loop is inspected as one command, with what is off") {
  const auto counter = buffer(std::vector<unsigned>(1, 0), "counter");
  const auto x = buffer(std::vector<unsigned>(kCount, 0), "x");
  const Condition on = device.create_condition({.name = "on", .initial = 1});
  CommandBuffer body = recording({.label = "body", .level = Level::Secondary});
  body.dispatch(kernel(shaders::conf_step), {.grid = 1, .block = 1}, read_write(counter), 4u, 1u,
                on);
  body.dispatch(kernel(shaders::conf_increase), kWords, read_write(x), 1u, kCount);
  const CommandRef off =
      body.dispatch(kernel(shaders::conf_increase), kWords, read_write(x), 100u, kCount);
  body.end();
  CommandBuffer cmd = recording();
  cmd.execute_while(on, body);
  cmd.dispatch(kernel(shaders::conf_increase), kWords, read_write(x), 10u, kCount);
  CapturedGraph graph = compile(cmd);
  graph.disable(off);
  const Inspection found = graph.inspect(queue);
  const auto of_x = ranges_of(found, "x");
  REQUIRE(of_x.size() == 3);
  CHECK(contents_of<unsigned>(*of_x[1]) == std::vector<unsigned>(kCount, 4));
  CHECK(contents_of<unsigned>(*of_x[2]) == std::vector<unsigned>(kCount, 14));
  CHECK(values(x) == std::vector<unsigned>(kCount, 14));
}

TEST_CASE_FIXTURE(DeviceFixture, "inspect: it is ordered with launches, on other queues too") {
  const auto sum = buffer(std::vector<unsigned>(kCount, 0), "sum");
  const Queue other = device.create_queue();
  CommandBuffer cmd = recording();
  cmd.dispatch(kernel(shaders::conf_increase), kWords, read_write(sum), 1u, kCount);
  CapturedGraph graph = compile(cmd);
  for (unsigned i = 0; i < 50; ++i) {
    static_cast<void>(graph.launch(queue));
    const Inspection found = graph.inspect(other);
    CHECK(found.ranges[0].statistics.max == 2 * i + 1);
    CHECK(found.ranges[1].statistics.min == 2 * i + 2);
  }
  CHECK(values(sum) == std::vector<unsigned>(kCount, 100));
  CHECK(graph.replay_count() == 50);
}

TEST_CASE_FIXTURE(DeviceFixture, "inspect: replicas have their own memory") {
  const auto sum = pool->allocate<unsigned>(kCount, "sum", PerReplica{2});
  CommandBuffer cmd = recording();
  cmd.dispatch(kernel(shaders::conf_set), kWords, write(sum), 3u, kCount);
  cmd.end();
  CapturedGraph graph = device.compile(cmd, {.pool = pool, .replicas = 2});
  const Inspection found = graph.inspect(queue, {.replica = 1});
  CHECK(found.ranges[0].statistics.min == 3);
  CHECK(values(sum.replica(1)) == std::vector<unsigned>(kCount, 3));
  check_refused(ErrorCode::OutOfRange, {"2 replicas", "no replica 2"},
                [&] { static_cast<void>(graph.inspect(queue, {.replica = 2})); });
}

TEST_CASE_FIXTURE(DeviceFixture, "inspect: pitched rows are values in the order of rows") {
  const auto image = buffer(std::vector<unsigned>(64, 9), "image");
  const auto out = buffer(std::vector<unsigned>(64, 0), "out");
  CommandBuffer cmd = recording();
  cmd.dispatch(kernel(shaders::conf_increase), {.grid = 1, .block = 64}, read_write(image), 1u,
               64u);
  cmd.copy(
      image, out,
      {.extent = {.width = 12, .height = 3}, .source = {.row = 32}, .destination = {.row = 32}});
  const Inspection found = compile(cmd).inspect(queue);
  const InspectedRange& copied = found.ranges.back();
  CHECK(copied.extent == Extent{.width = 12, .height = 3});
  CHECK(copied.end == 2 * 32 + 12);
  CHECK(copied.statistics.count == 36);
  CHECK(copied.statistics.zeros == 0 + 27);  // bytes: no kernel has the buffer as a parameter
  CHECK(copied.contents.size() == 76);
}

TEST_CASE_FIXTURE(DeviceFixture, "inspect: two devices, or two recordings, are compared") {
  const Device host = instance.open_device(DeviceSelector::named("host"));
  const auto record = [](const Device& on, float factor) {
    const auto memory = on.create_pool({.label = "compared"});
    const auto in = memory->allocate<float>(kCount, "in"),
               out = memory->allocate<float>(kCount, "out");
    CommandBuffer cmd = on.create_command_buffer({.label = "compared"});
    cmd.begin();
    cmd.fill(in, 1.5f);
    cmd.dispatch(on.load_kernel(shaders::inspected_scale), kValues, read(in), write(out), 2.0f,
                 kCount);
    cmd.dispatch(on.load_kernel(shaders::inspected_scale), kValues, read(out), write(in), factor,
                 kCount);
    cmd.end();
    return cmd;
  };
  CHECK_FALSE(
      compare_devices([&](const Device& on) { return record(on, 3); }, device, host).has_value());
  const auto found = compare_devices(
      [&](const Device& on) {
        return record(on, on.info().kind == device.info().kind && !is_host() ? 3 : 3.5f);
      },
      device, host);
  CHECK(found.has_value() == !is_host());
  CommandBuffer three = record(device, 3), half = record(device, 3.5f);
  const auto difference =
      compare(device.compile(three).inspect(queue), device.compile(half).inspect(queue));
  REQUIRE(difference.has_value());
  CHECK(difference->value_a == 9);
  CHECK(difference->value_b == 10.5);
  CHECK(difference->text.find("input out[0]: 3 and 3") != std::string::npos);
  CommandBuffer other = recording({.label = "other"});
  const auto x = pool->allocate<float>(3, "x");
  other.fill(x, 1.0f);
  check_refused(ErrorCode::InvalidArgument, {"compared", "other", "do not correspond"}, [&] {
    static_cast<void>(compare(device.compile(three).inspect(queue), compile(other).inspect(queue)));
  });
}

TEST_CASE_FIXTURE(DeviceFixture, "inspect: what cannot be inspected is refused") {
  const auto x = pool->allocate<unsigned>(kCount, "x");
  CommandBuffer cmd = recording({.label = "set"});
  cmd.dispatch(kernel(shaders::conf_set), kWords, write(x), 1u, kCount);
  CapturedGraph graph = compile(cmd);
  CapturedGraph empty;
  check_refused(ErrorCode::NotInitialized, {"inspect"},
                [&] { static_cast<void>(empty.inspect(queue)); });
  check_refused(ErrorCode::NotInitialized, {"Queue", "set"},
                [&] { static_cast<void>(graph.inspect(Queue())); });
  check_refused(ErrorCode::NotInitialized, {"buffer", "set"},
                [&] { static_cast<void>(graph.inspect(queue, {.buffers = {BufferView()}})); });
  check_refused(ErrorCode::InvalidArgument, {"InspectDesc::effect"}, [&] {
    static_cast<void>(graph.inspect(queue, {.effect = static_cast<InspectDesc::Effect>(7)}));
  });
  check_refused(ErrorCode::InvalidArgument, {"InspectDesc::contents"}, [&] {
    static_cast<void>(graph.inspect(queue, {.contents = static_cast<InspectDesc::Contents>(7)}));
  });
}

}  // namespace reprise::test::inspect_test

// Blocks that wait for blocks compute what commands that wait for commands do.
#include <segments.shaders.hpp>

#include <algorithm>
#include <vector>

#include "conformance/device_fixture.hpp"

namespace reprise::test::block_relations_test {
namespace {

// More blocks than a GPU has lists, the last of which has fewer words.
constexpr unsigned kThreads = 64, kBlocks = 3000, kWords = kThreads * kBlocks - 40;
constexpr DispatchDesc kDesc{.grid = kBlocks, .block = kThreads};

std::vector<unsigned> initial_words() {
  return generated<unsigned>(kWords,
                             [](std::size_t i) { return static_cast<unsigned>(i * 2654435761u); });
}

// Each block's words, then those from the other end, then each block's again.
CommandBuffer record(const DeviceFixture& f, const GpuRef<unsigned>& from,
                     const GpuRef<unsigned>& to) {
  const Kernel by_block = f.kernel(shaders::seg_coordinates),
               from_both_ends = f.kernel(shaders::seg_multiply_add),
               with_barriers = f.kernel(shaders::seg_block_sum);
  CommandBuffer commands = f.recording({.label = "blocks"});
  auto a = f.pool->transient<unsigned>(kWords, "a"), b = f.pool->transient<unsigned>(kWords, "b");
  commands.dispatch(by_block, kDesc, read(from), write(a), kWords);
  for (int i = 0; i < 4; ++i) {
    commands.dispatch(by_block, kDesc, read(a), write(b), kWords);
    commands.dispatch(with_barriers, kDesc, read(b), write(a), kWords);
  }
  commands.dispatch(from_both_ends, kDesc, read(a), write(b), kWords);
  for (int i = 0; i < 4; ++i) {
    commands.dispatch(by_block, kDesc, read(b), write(a), kWords);
    commands.dispatch(by_block, kDesc, read(a), write(b), kWords);
  }
  commands.dispatch(by_block, kDesc, read(b), write(to), kWords);
  return commands;
}

}  // namespace

TEST_CASE_FIXTURE(DeviceFixture, "block relations: by_block() declares what code does not show") {
  check_refused(ErrorCode::InvalidArgument, {"argument 1 of seg_gather", "by_block()", "1 element"},
                [&] {
                  CommandBuffer cmd = recording();
                  const auto x = pool->allocate<unsigned>(64, "x");
                  cmd.dispatch(kernel(shaders::seg_gather), {.grid = 1, .block = 64}, write(x),
                               read(x).by_block(0), read(x), 64u);
                });
  if (device.info().limits.max_segment_blocks == 0) return;
  // Places in the same block.
  const auto places = buffer(generated<unsigned>(kWords, [](std::size_t i) {
    const std::size_t first = i / kThreads * kThreads;
    return static_cast<unsigned>(first +
                                 i * 2654435761u % std::min<std::size_t>(kThreads, kWords - first));
  }));
  std::vector<unsigned> expected;
  for (const bool is_declared : {false, true}) {
    const auto x = buffer(initial_words(), "x"), y = buffer(std::vector<unsigned>(kWords), "y");
    CommandBuffer commands = recording();
    for (int i = 0; i < 5; ++i) {
      const auto &from = i % 2 == 0 ? x : y, &to = i % 2 == 0 ? y : x;
      if (is_declared) {
        LaunchArgs args;
        args.push(read_write(to).by_block(kThreads));
        args.push(read(from).by_block(kThreads));
        args.push(read(places));
        args.push(kWords);
        if (i == 0)
          commands.dispatch(kernel(shaders::seg_gather), kDesc, args);
        else
          commands.dispatch(kernel(shaders::seg_gather), kDesc, read_write(to).by_block(kThreads),
                            read(from).by_block(kThreads), read(places), kWords);
      } else {
        commands.dispatch(kernel(shaders::seg_gather), kDesc, read_write(to), read(from),
                          read(places), kWords);
      }
    }
    CapturedGraph graph = compile(commands, Lowering::Persistent);
    CHECK(graph.report().segments.relations == (is_declared ? 4 : 0));
    graph.launch(queue).wait();
    if (!is_declared) expected = values(y);
    CHECK(values(y) == expected);
  }
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "block relations: on a GPU, Auto makes a segment of a chain by blocks") {
  constexpr unsigned kSize = 16 * kThreads;
  for (const bool is_by_block : {true, false}) {
    const auto words = initial_words();
    const auto from = buffer(std::vector<unsigned>(words.begin(), words.begin() + kSize)),
               to = pool->allocate<unsigned>(kSize, "to");
    CommandBuffer commands = recording({.label = "chain"});
    const Kernel add = kernel(shaders::seg_coordinates),
                 reverse = kernel(shaders::seg_multiply_add);
    auto a = pool->transient<unsigned>(kSize, "a"), b = pool->transient<unsigned>(kSize, "b");
    const DispatchDesc desc{.grid = 16, .block = kThreads};
    commands.dispatch(add, desc, read(from), write(a), kSize);
    for (int i = 0; i < 50; ++i) {
      commands.dispatch(is_by_block ? add : reverse, desc, read(a), write(b), kSize);
      commands.dispatch(add, desc, read(b), write(a), kSize);
    }
    commands.dispatch(add, desc, read(a), write(to), kSize);
    CapturedGraph nodes = compile(commands, Lowering::Faithful);
    nodes.launch(queue).wait();
    const std::vector<unsigned> expected = values(to);
    CapturedGraph graph = compile(commands, Lowering::Auto);
    const bool has_segments =
        is_by_block && !is_host() && device.info().limits.max_segment_blocks != 0;
    CHECK(graph.report().segments.segments == (has_segments ? 1 : 0));
    for (int replay = 0; replay < 20; ++replay) {
      graph.launch(queue).wait();
      REQUIRE(values(to) == expected);
    }
  }
}

TEST_CASE_FIXTURE(DeviceFixture, "block relations: tiles of an image") {
  if (device.info().limits.max_segment_blocks == 0) return;
  constexpr unsigned kWidth = 100, kHeight = 75;  // no multiples of the tiles
  std::vector<unsigned> expected;
  for (const Lowering lowering : {Lowering::Faithful, Lowering::Persistent}) {
    const auto words = initial_words();
    const auto x = buffer(std::vector<unsigned>(words.begin(), words.begin() + kWidth * kHeight)),
               y = pool->allocate<unsigned>(kWidth * kHeight, "y");
    CommandBuffer commands = recording();
    for (int i = 0; i < 7; ++i)
      commands.dispatch(kernel(shaders::seg_pixel), {.grid = {7, 5}, .block = {16, 16}},
                        read(i % 2 == 0 ? x : y), write(i % 2 == 0 ? y : x), kWidth, kHeight);
    CapturedGraph graph = compile(commands, lowering);
#if REPRISE_HAS_CUDA
    CHECK(graph.report().segments.relations == (lowering == Lowering::Persistent ? 6 : 0));
#endif
    graph.launch(queue).wait();
    if (expected.empty()) expected = values(y);
    CHECK(values(y) == expected);
  }
}

TEST_CASE_FIXTURE(DeviceFixture, "block relations: chains of more blocks than lists") {
  if (device.info().limits.max_segment_blocks == 0) return;
  const auto from = buffer(initial_words()), to = pool->allocate<unsigned>(kWords, "to");
  CommandBuffer commands = record(*this, from, to);
  CapturedGraph nodes = compile(commands, Lowering::Faithful);
  nodes.launch(queue).wait();
  const std::vector<unsigned> expected = values(to);

  CapturedGraph whole = compile(commands, Lowering::Persistent.without_block_relations());
  CHECK(whole.report().segments.relations == 0);
  CapturedGraph graph = compile(commands, Lowering::Persistent);
  const SegmentsReport& segments = graph.report().segments;
  CHECK(segments.segments == 1);
  REQUIRE(segments.footprints.size() == 19);
#if REPRISE_HAS_CUDA
  CHECK(segments.relations >= 16);
  CHECK(segments.footprints[0].problem == "");
#endif
  CHECK((graph.report().lowering_hash != whole.report().lowering_hash) == (segments.relations > 0));
  for (CapturedGraph* const one : {&whole, &graph}) {
    run([&](CommandBuffer& cmd) { cmd.fill(to, 0u); });
    for (int replay = 0; replay < 3; ++replay) one->launch(queue).wait();
    CHECK(values(to) == expected);
  }
}

TEST_CASE_FIXTURE(DeviceFixture, "block relations: they follow rebound buffers and switches") {
  if (device.info().limits.max_segment_blocks == 0) return;
  const auto from = buffer(initial_words()), to = pool->allocate<unsigned>(kWords, "to"),
             other = pool->allocate<unsigned>(kWords, "other");
  const Kernel by_block = kernel(shaders::seg_coordinates);
  CommandBuffer commands = recording({.label = "switched"});
  commands.dispatch(by_block, kDesc, read(from), write(to), kWords);
  const CommandRef switched =
      commands.dispatch(by_block, kDesc, read(from), read_write(to), kWords);
  commands.dispatch(by_block, kDesc, read(to), write(from), kWords);
  CapturedGraph nodes = compile(commands, Lowering::Faithful),
                graph = compile(commands, Lowering::Persistent);
  std::vector<std::vector<unsigned>> results;
  for (CapturedGraph* const one : {&nodes, &graph}) {
    run([&](CommandBuffer& cmd) { cmd.copy(snapshot(initial_words()), from); });
    static_cast<void>(one->rebind(to, other));
    one->disable(switched);
    one->launch(queue).wait();
    results.push_back(values(from));
    results.push_back(values(other));
  }
  CHECK(results[0] == results[2]);
  CHECK(results[1] == results[3]);
}

}  // namespace reprise::test::block_relations_test

// Kernels in segments compute the same bits as kernels that are nodes.
#include <conditions.shaders.hpp>
#include <segments.shaders.hpp>
#include <words.shaders.hpp>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <span>

#include "conformance/device_fixture.hpp"

namespace reprise::test::segments_test {
namespace {

constexpr unsigned kWords = 512, kBuffers = 12;

struct SegmentTable {
  unsigned words[200];
};

enum class Form : std::uint8_t { Plain, Adds, LargeParameter };
struct KernelCase {
  const KernelDesc& kernel;
  DispatchDesc desc;
  Form form = Form::Plain;
};

const std::vector<KernelCase>& kernel_cases() {
  static const std::vector<KernelCase> cases = {
      {shaders::seg_multiply_add, {.grid = 4, .block = 128}},
      {shaders::seg_multiply_add, {.grid = 16, .block = 32}},
      {shaders::seg_early_return, {.grid = 4, .block = 128}},
      {shaders::seg_early_return, {.grid = 6, .block = 100}},
      {shaders::seg_barriers_by_data, {.grid = 4, .block = 128}},
      {shaders::seg_barriers_by_data, {.grid = 8, .block = 72}},
      {shaders::seg_coordinates, {.grid = {2, 2, 4}, .block = {8, 4, 2}}},
      {shaders::seg_coordinates, {.grid = {3, 2, 2}, .block = {5, 3, 3}}},
      {shaders::seg_coordinates, {.grid = {4, 1, 2}, .block = {16, 2, 2}}},
      {shaders::seg_block_sum, {.grid = 4, .block = 128}},
      {shaders::seg_block_sum, {.grid = 2, .block = 256}},
      {shaders::seg_reverse, {.grid = 4, .block = 128, .shared_bytes = 512}},
      {shaders::seg_reverse, {.grid = 6, .block = 96, .shared_bytes = 20'000}},
      {shaders::seg_lanes, {.grid = 6, .block = 100}},
      {shaders::seg_warp_sum, {.grid = 4, .block = 128}},
      {shaders::seg_warp_sum, {.grid = 8, .block = 64}},
      {shaders::seg_read_only, {.grid = 4, .block = 128}},
      {shaders::seg_read_only, {.grid = 1, .block = 512}},
      {shaders::seg_histogram, {.grid = 8, .block = 64}, Form::Adds},
      {shaders::seg_large_parameter, {.grid = 4, .block = 128}, Form::LargeParameter},
      {shaders::seg_local_array, {.grid = 8, .block = 64}},
      {shaders::seg_calls, {.grid = 4, .block = 128}},
      {shaders::seg_switch, {.grid = 4, .block = 128}},
  };
  return cases;
}

// Dispatches of random kernels, each from one buffer to another, and transfers between them.
struct ProgramDesc {
  std::uint32_t seed = 0;
  unsigned max_threads = 512;  // of a block
  unsigned dispatches = 150;
  unsigned forms = ~0u;  // number of kernel cases to choose from
  bool is_loop = false;  // they are the body of a loop of three iterations
};
class KernelProgram {
 public:
  KernelProgram(const DeviceFixture& f, const ProgramDesc& desc)
      : f_(f),
        random_(desc.seed),
        max_threads_(desc.max_threads),
        is_loop_(desc.is_loop),
        commands_(f.recording(
            {.label = "kernels", .level = is_loop_ ? Level::Secondary : Level::Primary})) {
    for (unsigned b = 0; b < kBuffers; ++b) {
      buffers_.push_back(f.pool->allocate<unsigned>(kWords, "b" + std::to_string(b)));
      is_used_.push_back(false);
      spares_.push_back(f.pool->allocate<unsigned>(kWords, "spare"));
    }
    const auto all = static_cast<unsigned>(kernel_cases().size());
    for (unsigned i = 0; i < std::min(desc.forms, all); ++i)
      cases_.push_back(desc.forms < all ? below(all) : i);
    for (unsigned i = 0; i < desc.dispatches; ++i) add();
    if (is_loop_) repeat();
    commands_.end();
  }

  [[nodiscard]] CommandBuffer& commands() { return commands_; }
  void reset() const {
    f_.run([&](CommandBuffer& cmd) {
      std::vector<unsigned> words(kWords);
      for (unsigned b = 0; b < kBuffers; ++b) {
        for (unsigned i = 0; i < kWords; ++i) words[i] = (b + 1) * 2654435761u + i * 40503u;
        cmd.copy(snapshot(words), buffers_[b]);
        cmd.copy(snapshot(words), spares_[b]);
      }
    });
  }
  // Rebinds a buffer, switches a command or updates the graph, as `random` decides.
  void change(CapturedGraph& graph, std::mt19937& random) const {
    const auto b = random() % kBuffers;
    switch (random() % 8) {
      case 0: static_cast<void>(graph.update(commands_)); return;
      case 1:
      case 2:
      case 3:
        if (!is_loop_) graph.disable(added_[random() % added_.size()]);
        return;
      case 4:
        if (!is_loop_) graph.enable(added_[random() % added_.size()]);
        return;
      default: {
        const auto& other = random() % 2 == 0 ? spares_[b] : buffers_[b];
        if (is_used_[b]) static_cast<void>(graph.rebind(buffers_[b], other));
      }
    }
  }
  [[nodiscard]] std::vector<unsigned> contents() const {
    std::vector<unsigned> all;
    for (const auto* const list : {&buffers_, &spares_}) {
      for (const auto& buffer : *list) {
        const std::vector<unsigned> words = f_.values(buffer);
        all.insert(all.end(), words.begin(), words.end());
      }
    }
    return all;
  }

 private:
  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  // Makes the commands so far the body of a loop.
  void repeat() {
    const auto left = f_.pool->allocate<unsigned>(1, "left");
    const Condition go = f_.device.create_condition({.name = "go", .initial = 1});
    commands_.dispatch(f_.kernel(shaders::conf_count_down), {.grid = 1, .block = 1},
                       read_write(left), go);
    commands_.end();
    CommandBuffer outer = f_.recording({.label = "loop"});
    outer.fill(left, 3u);
    outer.execute_while(go, commands_);
    commands_ = std::move(outer);
  }
  // A fill, copy or update of some words.
  CommandRef add_transfer() {
    const unsigned from = below(kBuffers), to = (from + 1 + below(kBuffers - 1)) % kBuffers,
                   first = below(kWords), count = 1 + below(kWords - first);
    const auto words = buffers_[to].slice(first, count);
    is_used_[to] = true;
    switch (below(4)) {
      case 0: return commands_.fill(words, static_cast<unsigned>(random_()));
      case 1:  // every second word
        return commands_.fill_bits(words, static_cast<std::uint32_t>(random_()), 4,
                                   {4, (count + 1) / 2, 1}, {8, 0});
      case 2:
        is_used_[from] = true;
        return commands_.copy(buffers_[from].slice(first, count), words);
      default: {
        const std::vector<unsigned> values(count, static_cast<unsigned>(random_()));
        return commands_.update(words, std::as_bytes(std::span(values)));
      }
    }
  }
  void add() {
    if (below(4) == 0) return added_.push_back(add_transfer());
    const KernelCase& one = kernel_cases()[cases_[below(static_cast<unsigned>(cases_.size()))]];
    if (one.desc.block.volume() > max_threads_) return;
    const unsigned from = below(kBuffers), to = (from + 1 + below(kBuffers - 1)) % kBuffers;
    const auto &in = buffers_[from], &out = buffers_[to];
    is_used_[from] = is_used_[to] = true;
    const Kernel kernel = f_.kernel(one.kernel);
    const auto dispatch = [&](const auto&... arguments) {
      added_.push_back(commands_.dispatch(kernel, one.desc, arguments...));
    };
    switch (one.form) {
      case Form::Plain: return dispatch(read(in), write(out), kWords);
      case Form::Adds: return dispatch(read(in), read_write(out), kWords);
      case Form::LargeParameter: {
        SegmentTable table;
        for (unsigned& word : table.words) word = static_cast<unsigned>(random_());
        return dispatch(table, read(in), write(out), kWords);
      }
    }
  }

  const DeviceFixture& f_;
  std::mt19937 random_;
  unsigned max_threads_;
  bool is_loop_;
  std::vector<unsigned> cases_;  // of kernel_cases()
  std::vector<GpuRef<unsigned>> buffers_, spares_;
  std::vector<bool> is_used_;  // by buffer
  CommandBuffer commands_;
  std::vector<CommandRef> added_;
};

}  // namespace

TEST_CASE_FIXTURE(DeviceFixture, "segments: kernels of every form compute what nodes compute") {
  if (device.info().limits.max_segment_blocks == 0) return;
  const std::uint32_t seed = std::random_device{}();
  for (std::uint32_t round = 0; round < 6; ++round) {
    CAPTURE(seed + round);
    KernelProgram program(*this,
                          {.seed = seed + round, .max_threads = round % 3 == 0 ? 128u : 512u});
    CapturedGraph faithful = compile(program.commands(), Lowering::Faithful),
                  persistent = compile(program.commands(), Lowering::Persistent);
    for (const SegmentsReport::LeftOut& left_out : persistent.report().segments.left_out) {
      INFO(left_out.command, " ", left_out.reason);
      CHECK(false);
    }
    program.reset();
    faithful.launch(queue).wait();
    const std::vector<unsigned> expected = program.contents();
    for (int replay = 0; replay < 4; ++replay) {
      program.reset();
      persistent.launch(queue).wait();
      REQUIRE(program.contents() == expected);
    }
  }
}

TEST_CASE_FIXTURE(DeviceFixture, "segments: transfers of any size and alignment") {
  if (device.info().limits.max_segment_blocks == 0) return;
  constexpr unsigned kBytes = 30'000;
  using Bytes = std::vector<unsigned char>;
  std::mt19937 random(std::random_device{}());
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  const GpuRef<unsigned char> buffers[] = {pool->allocate<unsigned char>(kBytes, "a"),
                                           pool->allocate<unsigned char>(kBytes, "b")};
  Bytes expected[] = {Bytes(kBytes, 0), Bytes(kBytes, 0)};
  CommandBuffer cmd = recording();
  for (const auto& buffer : buffers) cmd.fill(buffer, static_cast<unsigned char>(0));
  for (int i = 0; i < 200; ++i) {
    // Rows of `width` bytes, `unit` of which are aligned.
    const unsigned unit = 1u << below(5), to = below(2);
    const unsigned width = unit * (1 + below(1'000 / unit)), height = 1 + below(5),
                   depth = 1 + below(3);
    const unsigned row_pitch = width + unit * below(3);
    const Pitch pitch{row_pitch, row_pitch * (height + below(2))};
    const unsigned last = static_cast<unsigned>((depth - 1) * pitch.slice) + height * 1'550;
    const unsigned first = unit * below((kBytes - last) / unit),
                   second = unit * below((kBytes - last) / unit);
    const unsigned max_bytes = std::min(last, 16u << 10);
    const auto for_bytes = [&](unsigned slices, const auto& visit) {
      for (unsigned slice = 0; slice < slices; ++slice)
        for (unsigned row = 0; row < height; ++row)
          for (unsigned byte = 0; byte < width; ++byte)
            visit(static_cast<unsigned>(slice * pitch.slice + row * pitch.row) + byte);
    };
    switch (below(4)) {
      case 0: {
        const unsigned element = std::min(unit, 4u), bits = below(~0u);
        cmd.fill_bits(buffers[to].slice(first, kBytes - first), bits, element, {width, height, 1},
                      pitch);
        for_bytes(1, [&](unsigned at) {
          expected[to][first + at] = static_cast<unsigned char>(bits >> at % element * 8);
        });
        break;
      }
      case 1:
        cmd.copy(buffers[1 - to].slice(second, kBytes - second),
                 buffers[to].slice(first, kBytes - first),
                 CopyDesc{.extent = {width, height, depth}, .source = pitch, .destination = pitch});
        for_bytes(depth,
                  [&](unsigned at) { expected[to][first + at] = expected[1 - to][second + at]; });
        break;
      case 2: {
        const unsigned count = unit * (1 + below(max_bytes / unit));
        cmd.copy(buffers[1 - to].slice(second, count), buffers[to].slice(first, count));
        std::copy_n(expected[1 - to].begin() + second, count, expected[to].begin() + first);
        break;
      }
      default: {
        Bytes bytes(unit * (1 + below(max_bytes / unit)));
        for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
        cmd.update(buffers[to].slice(first, bytes.size()), std::as_bytes(std::span(bytes)));
        std::copy(bytes.begin(), bytes.end(), expected[to].begin() + first);
        break;
      }
    }
  }
  CapturedGraph graph = compile(cmd, Lowering::Persistent);
  // Not the first two, which are larger.
  CHECK(graph.report().segments.commands + 2 == graph.report().commands);
  for (int replay = 0; replay < 3; ++replay) {
    graph.launch(queue).wait();
    for (unsigned b = 0; b < 2; ++b) REQUIRE(values(buffers[b]) == expected[b]);
  }
}

namespace {

// $REPRISE_SEGMENT_PROGRAMS=1000 makes soak tests of many replays, each of a million on a GPU.
int program_count() {
  const char* const chosen = std::getenv("REPRISE_SEGMENT_PROGRAMS");
  return chosen == nullptr ? 3 : std::atoi(chosen);
}
// $REPRISE_SEED repeats a failed run. The default programs disable fills between other commands.
std::uint32_t chosen_seed() {
  const char* const chosen = std::getenv("REPRISE_SEED");
  if (chosen != nullptr) return static_cast<std::uint32_t>(std::strtoul(chosen, nullptr, 10));
  return std::getenv("REPRISE_SEGMENT_PROGRAMS") == nullptr ? 6000 : std::random_device{}();
}

}  // namespace

TEST_CASE_FIXTURE(DeviceFixture, "segments: many replays with changes leave what nodes leave") {
  if (device.info().limits.max_segment_blocks == 0) return;
  const int programs = program_count(), replays = is_host() ? 5 : 1'000;
  const std::uint32_t seed = chosen_seed();
  const Queue queues[] = {queue, device.create_queue()};
  for (int i = 0; i < programs; ++i) {
    const std::uint32_t own_seed = seed + static_cast<std::uint32_t>(i);
    CAPTURE(own_seed);
    KernelProgram program(*this,
                          {.seed = own_seed, .dispatches = 40, .forms = 5, .is_loop = i % 3 == 2});
    const auto run = [&](CapturedGraph graph) {
      program.reset();
      std::mt19937 random(own_seed);
      for (int replay = 0; replay < replays; ++replay) {
        if (random() % 4 == 0) program.change(graph, random);
        static_cast<void>(graph.launch(queues[random() % 2]));
      }
      device.wait_idle();
      return program.contents();
    };
    const std::vector<unsigned> expected = run(compile(program.commands(), Lowering::Faithful));
    REQUIRE(run(compile(program.commands(), Lowering::Persistent)) == expected);
  }
}

TEST_CASE_FIXTURE(DeviceFixture, "segments: many replays leave what replays of nodes leave") {
  if (device.info().limits.max_segment_blocks == 0) return;
  const int programs = program_count(), replays = is_host() ? 5 : 1'000;
  const std::uint32_t seed = chosen_seed();
  for (int i = 0; i < programs; ++i) {
    CAPTURE(seed + static_cast<std::uint32_t>(i));
    KernelProgram program(
        *this, {.seed = seed + static_cast<std::uint32_t>(i), .dispatches = 40, .forms = 5});
    const auto run = [&](CapturedGraph graph) {
      program.reset();
      for (int replay = 0; replay < replays; ++replay) static_cast<void>(graph.launch(queue));
      return program.contents();
    };
    const std::vector<unsigned> expected = run(compile(program.commands(), Lowering::Faithful));
    REQUIRE(run(compile(program.commands(), Lowering::Persistent)) == expected);
  }
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "segments: graphs on two queues run at once, beside kernels that fill the GPU") {
  if (device.info().limits.max_segment_blocks == 0) return;
  KernelProgram first(*this, {.seed = 1}), second(*this, {.seed = 2});
  CapturedGraph graphs[] = {compile(first.commands(), Lowering::Persistent),
                            compile(second.commands(), Lowering::Persistent)};
  const Queue queues[] = {device.create_queue(), device.create_queue(), device.create_queue()};
  const unsigned many = is_host() ? 1 << 12 : 1 << 20, rounds = is_host() ? 1 : 20'000;
  const int replays = is_host() ? 5 : 20;
  const auto wide = pool->allocate<unsigned>(many, "wide");
  CommandBuffer cmd = recording();
  cmd.fill(wide, 0u);
  cmd.dispatch(kernel(shaders::conf_churn), {.grid = many / 256, .block = 256}, read_write(wide),
               rounds, many);
  CapturedGraph filling = compile(cmd, Lowering::Faithful);
  std::vector<unsigned> expected[2];
  for (unsigned g = 0; g < 2; ++g) {
    KernelProgram& program = g == 0 ? first : second;
    program.reset();
    for (int i = 0; i < replays; ++i) static_cast<void>(graphs[g].launch(queues[g]));
    device.wait_idle();
    expected[g] = program.contents();
    program.reset();
  }
  const Fence filled = filling.launch(queues[2]);
  for (int i = 0; i < replays; ++i) {
    static_cast<void>(graphs[0].launch(queues[0]));
    static_cast<void>(graphs[1].launch(queues[1]));
  }
  filled.wait();
  device.wait_idle();
  CHECK(first.contents() == expected[0]);
  CHECK(second.contents() == expected[1]);
}

}  // namespace reprise::test::segments_test

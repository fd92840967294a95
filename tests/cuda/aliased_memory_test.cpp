// Adopted memory that overlaps other memory is one buffer to the order.
#include <vector>

#include <gpu_kernels.shaders.hpp>
#include <reprise/cuda_interop.hpp>

#include "cuda/gpu.hpp"

namespace reprise::test {
namespace {

constexpr unsigned kAliasedWords = 64, kAliasedRounds = 100'000;

// Device memory of the application.
struct AliasedWords {
  unsigned* data = nullptr;
  explicit AliasedWords(const Device& device) {
    const CurrentDevice current(device);
    REQUIRE(cudaMalloc(reinterpret_cast<void**>(&data), kAliasedWords * sizeof(unsigned)) ==
            cudaSuccess);
  }
  AliasedWords(const AliasedWords&) = delete;
  AliasedWords& operator=(const AliasedWords&) = delete;
  ~AliasedWords() { CHECK(cudaFree(data) == cudaSuccess); }
};

// Two handles to common bytes: the first word of both is the same.
struct Aliases {
  GpuRef<unsigned> a, b;
  const char* name;
};

std::vector<Aliases> aliases_of(const Gpu& t, unsigned* memory, const GpuRef<unsigned>& pooled) {
  return {{from_native(t.device, memory, 64, "a"), from_native(t.device, memory, 64, "b"), "twice"},
          {from_native(t.device, memory + 32, 32, "a"),
           from_native(t.device, memory, 64, "b").slice(32, 32), "overlapping"},
          {pooled, from_native(t.device, pooled.data(), 64, "b"), "pooled"}};
}

// Changes the first word of `of` late, so that a reader that does not wait sees the old value.
void change_late(CommandBuffer& cmd, const Kernel& churn, const GpuRef<unsigned>& of) {
  cmd.dispatch(churn, {}, read_write(of.slice(0, 1)), kAliasedRounds, 1u);
}

unsigned churned(unsigned value) {
  for (unsigned r = 0; r < kAliasedRounds; ++r) value = value * 1664525u + 1013904223u;
  return value;
}

}  // namespace

TEST_CASE(
    "cuda aliased memory: handles to the same bytes are ordered like one buffer in a recording") {
  if (!have_gpu()) return;
  const Gpu t;
  const AliasedWords memory(t.device);
  const Kernel churn = t.device.load_kernel(shaders::gpu_churn);
  const auto pooled = t.pool->allocate<unsigned>(64, "pooled");
  const auto in = t.pool->host<unsigned>(1, "in"), out = t.pool->host<unsigned>(1, "out");
  for (const Aliases& pair : aliases_of(t, memory.data, pooled)) {
    CAPTURE(pair.name);
    CHECK(pair.a.overlaps(pair.b));
    const CommandBuffer commands = t.record([&](CommandBuffer& cmd) {
      cmd.copy(in, pair.a.slice(0, 1));
      change_late(cmd, churn, pair.a);
      cmd.copy(pair.b.slice(0, 1), out);
    });
    for (const Lowering lowering : {Lowering::Auto, Lowering::Faithful, Lowering::Persistent}) {
      CapturedGraph graph = t.device.compile(commands, {.pool = t.pool, .lowering = lowering});
      CHECK(graph.report().needed_edges == 2);
      for (unsigned replay = 1; replay <= 10; ++replay) {
        in[0] = replay;
        graph.launch(t.queue).wait();
        CHECK(out[0] == churned(replay));
      }
    }
    CHECK(error_of([&] {
            static_cast<void>(t.record(
                [&](CommandBuffer& cmd) { cmd.copy(pair.a.slice(0, 1), pair.b.slice(0, 1)); }));
          }).code == ErrorCode::Overlap);
  }
}

TEST_CASE(
    "cuda aliased memory: graphs that use the same bytes through two handles wait for each other") {
  if (!have_gpu()) return;
  const Gpu t;
  const Queue other = t.device.create_queue();
  const AliasedWords memory(t.device);
  const Kernel churn = t.device.load_kernel(shaders::gpu_churn);
  const auto pooled = t.pool->allocate<unsigned>(64, "pooled");
  const auto in = t.pool->host<unsigned>(1, "in"), out = t.pool->host<unsigned>(1, "out");
  for (const Aliases& pair : aliases_of(t, memory.data, pooled)) {
    CAPTURE(pair.name);
    CapturedGraph writer = t.compile([&](CommandBuffer& cmd) {
      cmd.copy(in, pair.a.slice(0, 1));
      change_late(cmd, churn, pair.a);
    });
    CapturedGraph reader =
        t.compile([&](CommandBuffer& cmd) { cmd.copy(pair.b.slice(0, 1), out); });
    for (unsigned replay = 1; replay <= 10; ++replay) {
      in[0] = replay;
      static_cast<void>(writer.launch(t.queue));
      reader.launch(other).wait();
      CHECK(out[0] == churned(replay));
    }
    // A handle that comes later is ordered after the work of the earlier ones.
    in[0] = 77;
    static_cast<void>(writer.launch(t.queue));
    const auto late = from_native(t.device, pair.b.data(), 1, "late");
    t.compile([&](CommandBuffer& cmd) { cmd.copy(late, out); }).launch(other).wait();
    CHECK(out[0] == churned(77));
  }
}

TEST_CASE(
    "cuda aliased memory: a rebind accepts handles that share bytes as recorded, and no others") {
  if (!have_gpu()) return;
  const Gpu t;
  const AliasedWords memory(t.device);
  unsigned* const words = memory.data;
  const auto a = from_native(t.device, words, 32, "a"), b = from_native(t.device, words, 32, "b"),
             c = from_native(t.device, words + 32, 32, "c");
  const auto x = t.pool->allocate<unsigned>(32, "x"), y = t.pool->allocate<unsigned>(32, "y");
  CapturedGraph graph = t.compile([&](CommandBuffer& cmd) {
    cmd.fill(a, 1u);
    cmd.copy(b, x);
    cmd.fill(c, 2u);
  });
  static_cast<void>(graph.rebind(x, y));
  graph.launch(t.queue).wait();
  CHECK(t.read(y) == std::vector<unsigned>(32, 1));
  std::string text;
  CHECK(error_of([&] { static_cast<void>(graph.rebind(c, b)); }, &text).code == ErrorCode::Overlap);
  CHECK(text.find("and c, one of which is written") != std::string::npos);
}

}  // namespace reprise::test

// Kernels on a GPU: errors while loading, and launch features of GPUs only: clusters, cooperative
// launches, large shared memory and parameters.
#include <cstring>
#include <numeric>

#include <gpu_kernels.shaders.hpp>
#include <reprise/cuda_interop.hpp>

#include "cuda/gpu.hpp"
#include "gpu_types.hpp"

namespace reprise::test {
namespace {

// Loads gpu_add with another parameter table.
ErrorDetails load_with(const Device& device, std::vector<KernelParameter> table) {
  KernelDesc desc = shaders::gpu_add;
  desc.parameters = table;
  const CudaState before = cuda_state();
  const ErrorDetails error = error_of([&] { static_cast<void>(device.load_kernel(desc)); });
  CHECK(cuda_state() == before);
  return error;
}

std::span<const std::byte> garbage_image() {
  static const std::byte bytes[64] = {std::byte{'h'}, std::byte{'e'}, std::byte{'l'},
                                      std::byte{'l'}, std::byte{'o'}};
  return bytes;
}

}  // namespace

TEST_CASE(
    "cuda kernel: a parameter table that differs from the compiled kernel is a ParameterMismatch") {
  if (!have_gpu()) return;
  const Device& device = gpu();
  CHECK(load_with(device, {{0, 8, true}, {8, 8, false}, {16, 4, false}}).code ==
        ErrorCode::ParameterMismatch);
  CHECK(load_with(device, {{0, 8, true}, {12, 4, false}, {16, 4, false}}).code ==
        ErrorCode::ParameterMismatch);
  CHECK(load_with(device, {{0, 8, true}, {8, 4, false}}).code == ErrorCode::ParameterMismatch);
  CHECK(load_with(device, {{0, 8, true}, {8, 4, false}, {12, 4, false}, {16, 4, false}}).code ==
        ErrorCode::ParameterMismatch);
  CHECK(load_with(device, {}).code == ErrorCode::ParameterMismatch);
  CHECK(device.load_kernel(shaders::gpu_add).name() == "gpu_add");
}

TEST_CASE(
    "cuda kernel: an entry that the module does not contain is KernelNotFound, naming entry and "
    "file") {
  if (!have_gpu()) return;
  KernelDesc desc = shaders::gpu_add;
  desc.name = "no_such_kernel";
  const CudaState before = cuda_state();
  std::string text;
  const ErrorDetails error = error_of([&] { static_cast<void>(gpu().load_kernel(desc)); }, &text);
  CHECK(error.code == ErrorCode::KernelNotFound);
  CHECK(error.stage == Stage::Load);
  CHECK(text.find("no_such_kernel") != std::string::npos);
  CHECK(text.find("gpu_kernels.cu") != std::string::npos);
  desc.image = nullptr;
  CHECK(error_of([&] { static_cast<void>(gpu().load_kernel(desc)); }).code ==
        ErrorCode::KernelNotFound);
  CHECK(cuda_state() == before);
}

TEST_CASE("cuda kernel: an invalid image keeps the driver's error name") {
  if (!have_gpu()) return;
  KernelDesc desc = shaders::gpu_add;
  desc.image = &garbage_image;
  const CudaState before = cuda_state();
  const ErrorDetails error = error_of([&] { static_cast<void>(gpu().load_kernel(desc)); });
  CHECK(error.code == ErrorCode::NativeFailure);
  CHECK(error.native_name.find("cudaError") == 0);
  CHECK(cuda_state() == before);
}

TEST_CASE("cuda kernel: the blocks of a cluster know their ranks") {
  if (!have_gpu()) return;
  const Gpu t;
  const std::uint32_t most = t.device.info().limits.max_cluster_blocks;
  if (most == 0) {
    MESSAGE("skipped: this GPU has no clusters");
    return;
  }
  const Kernel kernel = t.device.load_kernel(shaders::gpu_cluster_ranks);
  const auto ranks = t.pool->allocate<std::uint32_t>(16, "ranks");
  t.run([&](CommandBuffer& cmd) {
    cmd.dispatch(kernel, {.grid = 16, .block = 32, .cluster = Dim3(4)}, write(ranks));
  });
  const std::vector<std::uint32_t> seen = t.read(ranks);
  for (std::uint32_t i = 0; i < 16; ++i) CHECK(seen[i] == i % 4);
}

TEST_CASE(
    "cuda kernel: a cooperative launch that does not fit is refused with its command and label") {
  if (!have_gpu()) return;
  const Gpu t;
  const Kernel kernel = t.device.load_kernel(shaders::gpu_meet);
  // The limit for blocks of one thread; far fewer blocks of 1,024 threads fit.
  const std::uint32_t blocks = t.device.info().limits.max_cooperative_blocks;
  const auto counter = t.pool->allocate<std::uint32_t>(1, "counter");
  const auto seen = t.pool->allocate<std::uint32_t>(blocks, "seen");
  const CudaState before = cuda_state();
  const ErrorDetails error = error_of([&] {
    static_cast<void>(t.compile([&](CommandBuffer& cmd) {
      cmd.fill(counter, 0);
      auto scope = cmd.label("all together");
      cmd.dispatch(kernel,
                   {.grid = blocks, .block = 1024, .launch = DispatchDesc::Launch::Cooperative},
                   read_write(counter), write(seen));
    }));
  });
  CHECK(error.code == ErrorCode::LaunchLimits);
  CHECK(error.stage == Stage::Instantiate);
  CHECK(error.command == 1);
  CHECK(error.label == "all together");
  CHECK(cuda_state() == before);
}

TEST_CASE("cuda kernel: parameters beyond 4,096 bytes are passed completely") {
  if (!have_gpu()) return;
  const Gpu t;
  if (t.device.info().limits.max_parameter_bytes <= sizeof(reprise_test::BigParameter)) {
    MESSAGE("skipped: this GPU limits parameters to ", t.device.info().limits.max_parameter_bytes,
            " bytes");
    return;
  }
  const Kernel kernel = t.device.load_kernel(shaders::gpu_big);
  reprise_test::BigParameter values{};
  std::iota(std::begin(values.at), std::end(values.at), 1u);
  const auto sum = t.pool->allocate<std::uint32_t>(1, "sum");
  t.run([&](CommandBuffer& cmd) {
    cmd.dispatch(kernel, {.grid = 1, .block = 1}, values, write(sum));
  });
  CHECK(t.read(sum)[0] == reprise_test::kBigCount * (reprise_test::kBigCount + 1) / 2);
}

TEST_CASE("cuda kernel: a kernel of many registers stays outside of segments") {
  if (!have_gpu() || gpu().info().limits.max_segment_blocks == 0) return;
  const Gpu t;
  const Kernel kernel = t.device.load_kernel(shaders::gpu_many_registers);
  const auto in = t.pool->allocate<unsigned>(160, "in"),
             out = t.pool->allocate<unsigned>(160, "out");
  CommandBuffer commands = t.record([&](CommandBuffer& cmd) {
    cmd.dispatch(kernel, {.grid = 1, .block = 32}, read(in), write(out), 1u);
    cmd.dispatch(kernel, {.grid = 1, .block = 32}, read(out), write(in), 1u);
  });
  CapturedGraph graph =
      t.device.compile(commands, {.pool = t.pool, .lowering = Lowering::Persistent});
  const SegmentsReport& segments = graph.report().segments;
  REQUIRE(segments.left_out.size() == 2);
  CHECK(segments.left_out[0].reason == "more than 128 registers in a thread");
}

TEST_CASE("cuda kernel: what may be contracted, and what names a missing variable, stays a node") {
  if (!have_gpu() || gpu().info().limits.max_segment_blocks == 0) return;
  const Gpu t;
  static const KernelPtx kContracted[] = {
      {80,
       ".version 7.8\n.target sm_80\n.address_size 64\n"
       ".visible .entry _Z21gpu_count_without_ptxPy(.param .u64 p) { .reg .f32 %f<3>; "
       "mul.f32 %f1, %f2, %f2; ret; }\n",
       true}};
  static const KernelPtx kMissing[] = {
      {80,
       ".version 7.8\n.target sm_80\n.address_size 64\n.global .align 4 .u32 missing;\n"
       ".visible .entry _Z21gpu_count_without_ptxPy(.param .u64 p) { .reg .b32 %r<2>; "
       "ld.global.u32 %r1, [missing]; ret; }\n"}};
  KernelDesc contracted = shaders::gpu_count_without_ptx, missing = contracted;
  contracted.ptx = [] { return std::span<const KernelPtx>(kContracted); };
  missing.ptx = [] { return std::span<const KernelPtx>(kMissing); };
  const auto counter = t.pool->allocate<unsigned long long>(1, "counter");
  CommandBuffer commands = t.record([&](CommandBuffer& cmd) {
    for (const KernelDesc* desc : {&contracted, &missing})
      cmd.dispatch(t.device.load_kernel(*desc), {.grid = 1, .block = 32}, read_write(counter));
  });
  CapturedGraph graph =
      t.device.compile(commands, {.pool = t.pool, .lowering = Lowering::Persistent});
  const SegmentsReport& segments = graph.report().segments;
  REQUIRE(segments.left_out.size() == 2);
  CHECK(segments.left_out[0].reason == "uses mul.f32, which -fmad=true allows nvcc to contract");
  CHECK(segments.left_out[1].reason == "uses missing, which its image does not have");
}

TEST_CASE("cuda kernel: a graph whose segment the driver cannot compile is made of nodes") {
  if (!have_gpu() || gpu().info().limits.max_segment_blocks == 0) return;
  const Gpu t;
  static const KernelPtx kBroken[] = {
      {80,
       ".version 7.8\n.target sm_80\n.address_size 64\n"
       ".visible .entry _Z21gpu_count_without_ptxPy(.param .u64 p) { .reg .b64 %a; "
       "ld.param.u64 %a, [p]; st.global.u64 [%b], %a; ret; }\n"}};  // %b is not declared
  KernelDesc broken = shaders::gpu_count_without_ptx;
  broken.ptx = [] { return std::span<const KernelPtx>(kBroken); };
  const Kernel kernel = t.device.load_kernel(broken);
  const auto counter = t.pool->allocate<unsigned long long>(1, "counter");
  const unsigned long long zero = 0;
  t.run([&](CommandBuffer& cmd) { cmd.update(counter, std::as_bytes(std::span(&zero, 1))); });
  CommandBuffer commands = t.record([&](CommandBuffer& cmd) {
    for (int i = 0; i < 120; ++i)
      cmd.dispatch(kernel, {.grid = 1, .block = 1}, read_write(counter));
  });
  CHECK(error_of([&] {
          static_cast<void>(
              t.device.compile(commands, {.pool = t.pool, .lowering = Lowering::Persistent}));
        }).code == ErrorCode::NativeFailure);
  CapturedGraph graph = t.device.compile(commands, {.pool = t.pool});
  CHECK(graph.report().segments.segments == 0);
  REQUIRE(graph.report().messages.size() == 1);
  CHECK(graph.report().messages[0].id == "no-segments");
  graph.launch(t.queue).wait();
  CHECK(t.read(counter)[0] == 120);
}

}  // namespace reprise::test

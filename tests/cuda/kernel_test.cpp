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

TEST_CASE("cuda kernel: all blocks of a cooperative launch synchronise") {
  if (!have_gpu()) return;
  const Gpu t;
  const std::uint32_t blocks = t.device.info().multiprocessors;
  const Kernel kernel = t.device.load_kernel(shaders::gpu_meet);
  const auto counter = t.pool->allocate<std::uint32_t>(1, "counter");
  const auto seen = t.pool->allocate<std::uint32_t>(blocks, "seen");
  t.run([&](CommandBuffer& cmd) {
    cmd.fill(counter, 0);
    cmd.dispatch(kernel, {.grid = blocks, .block = 1, .launch = DispatchDesc::Launch::Cooperative},
                 read_write(counter), write(seen));
  });
  for (const std::uint32_t value : t.read(seen)) CHECK(value == blocks);
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

TEST_CASE("cuda kernel: dynamic shared memory reaches the opt-in maximum") {
  if (!have_gpu()) return;
  const Gpu t;
  const Kernel kernel = t.device.load_kernel(shaders::gpu_reverse);
  const std::uint32_t bytes = t.device.info().limits.max_shared_bytes;
  REQUIRE(bytes >= 49152);
  const std::uint32_t n = bytes / 4;
  std::vector<std::uint32_t> values(n);
  std::iota(values.begin(), values.end(), 7u);
  const auto data = t.pool->allocate<std::uint32_t>(n, "data");
  t.run([&](CommandBuffer& cmd) {
    cmd.copy(snapshot(values), data);
    cmd.dispatch(kernel, {.grid = 1, .block = 256, .shared_bytes = n * 4}, read_write(data), n);
  });
  std::reverse(values.begin(), values.end());
  CHECK(t.read(data) == values);
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

}  // namespace reprise::test

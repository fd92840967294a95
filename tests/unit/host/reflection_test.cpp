// Kernel reflection: the parameter table of the build, and the values that kernels receive.
#include <doctest/doctest.h>

#include <string_view>
#include <vector>

#include <block_kernels.shaders.hpp>

#include "unit/host/hand_made_graph.hpp"
#include "unit/host/host_fixture.hpp"

using namespace reprise;
using namespace reprise::test;

namespace {

struct Pair {
  short a;
  double b;
};
struct Float3 {
  float x, y, z;
};
struct alignas(16) Float4 {
  float x, y, z, w;
};

}  // namespace

TEST_CASE("kernel reflection: offsets, sizes and kinds follow the CUDA ABI") {
  const KernelDesc& kernel = shaders::show_parameters;
  // char, double, Pair, pointer, float3, float4, bool, unsigned short, pointer
  const std::uint32_t offsets[] = {0, 8, 16, 32, 40, 64, 80, 82, 88};
  const std::uint32_t sizes[] = {1, 8, 16, 8, 12, 16, 1, 2, 8};
  const bool pointers[] = {false, false, false, true, false, false, false, false, true};
  REQUIRE(kernel.parameters.size() == 9);
  for (std::size_t i = 0; i < 9; ++i) {
    CAPTURE(i);
    CHECK(kernel.parameters[i].offset == offsets[i]);
    CHECK(kernel.parameters[i].size == sizes[i]);
    CHECK(kernel.parameters[i].is_pointer == pointers[i]);
  }
}

TEST_CASE(
    "kernel reflection: a description names the kernel and its file, and a kernel may have no "
    "parameters") {
  CHECK(std::string_view(shaders::nothing.name) == "nothing");
  CHECK(shaders::nothing.parameters.empty());
  CHECK(std::string_view(shaders::nothing.source).ends_with("unit/host/kernels/block_kernels.cu"));
  CHECK(static_cast<bool>(shaders::nothing.host));
#ifdef REPRISE_HAS_CUDA
  REQUIRE(static_cast<bool>(shaders::nothing.image));
  CHECK(shaders::nothing.image().size() > 64);
#else
  CHECK_FALSE(static_cast<bool>(shaders::nothing.image));
#endif
}

TEST_CASE("kernel reflection: kernels receive parameters of every kind") {
  HostFixture host;
  std::vector<float> in{99.0f, 0.5f};
  std::vector<double> out(9);
  HandMadeGraph graph(*host.backend);
  BufferAt second = graph.buffer(in);
  second.offset = sizeof(float);
  graph.dispatch(shaders::show_parameters, {1, 1}, 'c', 2.5, Pair{-7, 8.5}, second, Float3{1, 2, 3},
                 Float4{4, 5, 6, 7}, true, static_cast<unsigned short>(65535), graph.buffer(out));
  host.run(*graph.instantiate());
  CHECK(out == std::vector<double>{'c', 2.5, -7, 8.5, 0.5, 321, 7654, 1, 65535});
}

TEST_CASE(
    "host backend: a loaded kernel has the size of its parameter block; a kernel without a host "
    "function is not found") {
  HostFixture host;
  const detail::KernelCore kernel = host.backend->load_kernel(shaders::show_parameters);
  CHECK(kernel.name == "show_parameters");
  CHECK(kernel.parameter_bytes == 96);
  CHECK(kernel.max_dynamic_shared_bytes == host.backend->info().limits.max_shared_bytes);
  KernelDesc gpu_only;
  gpu_only.name = "gpu_only";
  CHECK(code_of([&] { static_cast<void>(host.backend->load_kernel(gpu_only)); }) ==
        ErrorCode::KernelNotFound);
}

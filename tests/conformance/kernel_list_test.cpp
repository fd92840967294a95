// Which kernels of a shader file exist: those that at least one of the two compilers sees.
#include <kernel_list.shaders.hpp>

#include "conformance/device_fixture.hpp"

namespace reprise::test::kernel_list_test {
namespace {

struct Scale {
  float factor;
  int shift;
};
struct Shift {
  float factor;
  int shift;
};

}  // namespace

TEST_CASE_FIXTURE(DeviceFixture, "kernel list: kernels that a macro defines have their own names") {
  const auto numbers = pool->allocate<float>(4, "numbers");
  const auto integers = pool->allocate<int>(4, "integers");
  run([&](CommandBuffer& cmd) {
    const DispatchDesc four{.grid = 1, .block = 4};
    cmd.dispatch(kernel(shaders::fill_float), four, write(numbers), 1.5f);
    cmd.dispatch(kernel(shaders::fill_int), four, write(integers), 7);
  });
  CHECK(values(numbers) == std::vector<float>(4, 1.5f));
  CHECK(values(integers) == std::vector<int>(4, 7));
}

TEST_CASE_FIXTURE(DeviceFixture,
                  "kernel list: a kernel that only nvcc sees runs on GPUs, with checked arguments, "
                  "and the host device refuses it by name") {
  if (is_host()) {
    return check_refused(ErrorCode::KernelNotFound,
                         {"gpu_only_scale", "kernel_list.cu exists on GPUs only"},
                         [&] { static_cast<void>(kernel(shaders::gpu_only_scale)); });
  }
  const auto from = buffer(std::vector<float>{1, 2, 3, 4}, "from");
  const auto to = pool->allocate<float>(4, "to");
  const DispatchDesc four{.grid = 1, .block = 4};
  const Kernel scale = kernel(shaders::gpu_only_scale);
  run([&](CommandBuffer& cmd) {
    cmd.dispatch(scale, four, Scale{2, 1}, read(from), write(to), true);
  });
  CHECK(values(to) == std::vector<float>{-3, -5, -7, -9});
  CommandBuffer cmd = recording();
  check_refused(ErrorCode::ArgumentType, {"argument 0", "expected Scale, got Shift"}, [&] {
    cmd.dispatch(scale, four, Shift{2, 1}, read(from), write(to), true);
  });
  check_refused(ErrorCode::ArgumentType, {"argument 1", "const float*", "write(from)"}, [&] {
    cmd.dispatch(scale, four, Scale{2, 1}, write(from), write(to), true);
  });
  check_refused(ErrorCode::ArgumentType, {"argument 3", "bool"}, [&] {
    cmd.dispatch(scale, four, Scale{2, 1}, read(from), write(to), 2);
  });
}

}  // namespace reprise::test::kernel_list_test

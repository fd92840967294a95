// Application types that push their own kernel arguments.
#include <reprise/launch_args.hpp>

#include "unit/record/record_fixture.hpp"

using namespace reprise;
using namespace reprise::test;
using detail::DispatchPayload;

namespace {

// An application type: an address, two sizes, and owned memory.
struct Matrix {
  GpuRef<float> values;
  std::uint32_t rows = 0, columns = 0;
  std::shared_ptr<int> memory = std::make_shared<int>(0);

  [[nodiscard]] std::shared_ptr<const void> validate() const {
    static_cast<void>(values.validate());
    return memory;
  }
  void push(LaunchArgs& args) const {
    args.push(read(values));
    args.push(rows);
    args.push(columns);
  }
};

// An application type that contains another one.
struct Scaled {
  Matrix matrix;
  float factor = 1;

  [[nodiscard]] std::shared_ptr<const void> validate() const { return std::make_shared<int>(1); }
  void push(LaunchArgs& args) const {
    args.push(matrix);
    args.push(factor);
  }
};

static_assert(DevSliceArg<Matrix> && DevSliceArg<Scaled> && DevSliceArg<GpuRef<float>> &&
              DevSliceArg<HostRef<int>>);
static_assert(!DevSliceArg<int> && !DevSliceArg<AccessedView> && !DevSliceArg<BufferView>);

template <class T>
T value_at(const DispatchPayload& payload, std::size_t offset) {
  T value{};
  std::memcpy(&value, payload.parameters + offset, sizeof value);
  return value;
}

}  // namespace

TEST_CASE("launch args: an application type pushes several arguments in the kernel's order") {
  RecordFixture f;
  const auto y = f.buffer<float>(8, "y");
  const Scaled scaled{{f.buffer<float>(6, "m"), 2, 3}, 0.5f};
  CommandBuffer cmd = f.recording();
  cmd.dispatch(f.kernel("scale", "ppvvvv"), {.grid = 1, .block = 1}, write(y), scaled, 9u);
  const auto r = frozen(cmd);
  const auto& p = r->payload<DispatchPayload>(0);
  CHECK(value_at<std::uint32_t>(p, 16) == 2);
  CHECK(value_at<std::uint32_t>(p, 20) == 3);
  CHECK(value_at<float>(p, 24) == 0.5f);
  CHECK(value_at<std::uint32_t>(p, 28) == 9);
  REQUIRE(r->accesses.size() == 2);
  CHECK(r->accesses[0].access == Access::Write);
  CHECK(r->accesses[1].access == Access::Read);
  CHECK(r->buffers[r->accesses[1].buffer]->name == "m");
}

TEST_CASE(
    "launch args: the recording holds the result of validate(), through split and execute, until "
    "it is released") {
  RecordFixture f;
  Matrix matrix{f.buffer<float>(6, "m"), 2, 3};
  const std::weak_ptr<int> memory = matrix.memory;
  const Kernel sum = f.kernel("sum", "pvv");
  CommandBuffer secondary = f.recording({.level = Level::Secondary});
  secondary.split(1).front().dispatch(sum, {.grid = 1, .block = 1}, matrix);
  matrix.memory.reset();
  secondary.end();
  CHECK_FALSE(memory.expired());
  CommandBuffer primary = f.recording();
  primary.execute(secondary);
  primary.end();
  secondary.reset();
  CHECK_FALSE(memory.expired());
  primary.reset();
  CHECK(memory.expired());
}

TEST_CASE("launch args: an unusable argument is refused and records nothing") {
  RecordFixture f;
  const Matrix matrix{f.buffer<float>(6, "m"), 2, 3};
  CommandBuffer cmd = f.recording();
  check_refused(cmd, ErrorCode::ArgumentCount, {"sum", "takes 1", "got 3"},
                [&] { cmd.dispatch(f.kernel("sum", "p"), {.grid = 1, .block = 1}, matrix); });
  const Kernel sum = f.kernel("sum", "pvv");
  f.status->mark_lost();
  CHECK(thrown_by([&] { cmd.dispatch(sum, {.grid = 1, .block = 1}, matrix); }).code() ==
        ErrorCode::StaleHandle);
  CHECK(cmd.command_count() == 0);
}

TEST_CASE("launch args: a pushed access holds its buffer") {
  RecordFixture f;
  LaunchArgs args;
  std::weak_ptr<const void> buffer;
  {
    const auto x = f.buffer<float>(6, "x");
    buffer = x.validate();
    args.push(read(x));
  }
  CHECK_FALSE(buffer.expired());
  CHECK(detail::HandleAccess::arguments(args)[0].view->name() == "x");
  CHECK(detail::HandleAccess::arguments(args)[0].access == Access::Read);
}

TEST_CASE("launch args: a GpuRef pushes itself as read-write") {
  RecordFixture f;
  LaunchArgs args;
  args.push(f.buffer<float>(6, "m"));
  REQUIRE(detail::HandleAccess::arguments(args).size() == 1);
  CHECK(detail::HandleAccess::arguments(args)[0].access == Access::ReadWrite);
  CHECK(detail::HandleAccess::arguments(args)[0].view->name() == "m");
  CHECK(detail::HandleAccess::owners(args).size() == 1);
}

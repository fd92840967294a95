#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "base/handle_access.hpp"
#include "support/counting_allocator.hpp"
#include "unit/record/record_fixture.hpp"

using namespace reprise;
using namespace reprise::test;
using detail::DispatchPayload;

TEST_CASE(
    "dispatch: the payload has the grid, the values, and a parameter offset for each address") {
  RecordFixture f;
  const auto x = f.buffer<float>(100, "x");
  const auto y = f.buffer<float>(100, "y");
  const Kernel saxpy = f.kernel("saxpy", "vppv");
  CommandBuffer cmd = f.recording();
  const std::uint32_t above = __LINE__;
  const CommandRef ref =
      cmd.dispatch(saxpy, {.grid = {4, 2}, .block = {64, 1, 2}, .shared_bytes = 12}, 2.5f,
                   read(x.slice(10, 50)), read_write(y), 7u);
  const std::uint32_t below = __LINE__;
  CHECK(ref.index == 0);
  const auto r = frozen(cmd);
  REQUIRE(r->commands.size() == 1);
  CHECK(r->commands[0].kind == detail::CommandKind::Dispatch);
  CHECK(r->commands[0].where.line > above);
  CHECK(r->commands[0].where.line < below);
  CHECK(std::string_view(r->commands[0].where.file).ends_with("dispatch_verb_test.cpp"));
  const auto& p = r->payload<DispatchPayload>(0);
  CHECK(r->kernels[p.kernel] == detail::core_of(saxpy));
  CHECK(p.grid == Dim3(4, 2, 1));
  CHECK(p.block == Dim3(64, 1, 2));
  CHECK_FALSE(p.cluster);
  CHECK(p.shared_bytes == 12);
  REQUIRE(p.parameter_bytes == 28);
  float a = 0;
  std::uint32_t n = 0;
  std::uint64_t address = 1;
  std::memcpy(&a, p.parameters, 4);
  std::memcpy(&n, p.parameters + 24, 4);
  std::memcpy(&address, p.parameters + 8, 8);
  CHECK(a == 2.5f);
  CHECK(n == 7);
  CHECK(address == 0);
  REQUIRE(p.buffer_argument_count == 2);
  CHECK(p.buffer_arguments[0].parameter_offset == 8);
  CHECK(p.buffer_arguments[0].offset == 40);
  CHECK(r->buffers[p.buffer_arguments[0].buffer] == detail::core_of(x));
  CHECK(p.buffer_arguments[1].parameter_offset == 16);
  REQUIRE(r->commands[0].access_count == 2);
  CHECK(r->accesses[0].access == Access::Read);
  CHECK(r->accesses[0].begin == 40);
  CHECK(r->accesses[0].end == 240);
  CHECK(r->accesses[1].access == Access::ReadWrite);
  CHECK(r->accesses[1].end == 400);
}

TEST_CASE("dispatch: calls with a shared description have their own source locations") {
  RecordFixture f;
  const auto x = f.buffer<float>(100, "x");
  const Kernel k = f.kernel("k", "p");
  const DispatchDesc shared{.grid = 1, .block = 32};
  CommandBuffer cmd = f.recording();
  const std::uint32_t line = __LINE__;
  cmd.dispatch(k, shared, write(x));
  cmd.dispatch(k, shared, read(x));
  cmd.dispatch(k, {.grid = 1, .block = 32, .where = {"caller.cpp", 7}}, read(x));
  LaunchArgs args;
  args.push(read(x));
  cmd.dispatch(k, shared, args);
  const auto r = frozen(cmd);
  CHECK(r->commands[0].where.line == line + 1);
  CHECK(r->commands[1].where.line == line + 2);
  CHECK(r->commands[2].where.line == 7);
  CHECK(std::string_view(r->commands[2].where.file) == "caller.cpp");
  CHECK(r->commands[3].where.line == line + 6);
}

TEST_CASE("dispatch: an empty range is passed to the kernel and conflicts with nothing") {
  RecordFixture f;
  const auto x = f.buffer<float>(4, "x");
  CommandBuffer cmd = f.recording();
  cmd.dispatch(f.kernel("k", "p"), {}, write(x.slice(4, 0)));
  const auto r = frozen(cmd);
  CHECK(r->commands[0].access_count == 0);
  REQUIRE(r->payload<DispatchPayload>(0).buffer_argument_count == 1);
  CHECK(r->payload<DispatchPayload>(0).buffer_arguments[0].offset == 16);
}

TEST_CASE("dispatch: a kernel without parameters takes no arguments") {
  RecordFixture f;
  CommandBuffer cmd = f.recording();
  cmd.dispatch(f.kernel("k", ""), {});
  CHECK(frozen(cmd)->payload<DispatchPayload>(0).parameter_bytes == 0);
}

TEST_CASE("dispatch: persistent, transient and pinned buffers are each recorded once") {
  RecordFixture f;
  const Kernel k = f.kernel("k", "ppp");
  CommandBuffer cmd = f.recording();
  const auto x = f.buffer<int>(1, "x");
  const auto t = f.buffer<int>(1, "t", BufferKind::Transient);
  const auto h = f.buffer<int>(1, "h", BufferKind::PinnedHost);
  for (int i = 0; i < 3; ++i) cmd.dispatch(k, {}, read(x), write(t), read_write(h));
  const auto r = frozen(cmd);
  CHECK(r->buffers.size() == 3);
  CHECK(r->kernels.size() == 1);
  CHECK(r->accesses.size() == 9);
}

TEST_CASE("dispatch: a wrong argument count names the kernel, the expected and the actual count") {
  RecordFixture f;
  const auto x = f.buffer<float>(1, "x");
  CommandBuffer cmd = f.recording();
  auto scope = cmd.label("forward");
  auto inner = cmd.label("layer 1");
  cmd.dispatch(f.kernel("first", ""), {});
  const Kernel saxpy = f.kernel("saxpy", "vpp");
  check_refused(cmd, ErrorCode::ArgumentCount,
                {"dispatch at ", "dispatch_verb_test.cpp:", "saxpy", "takes 3", "got 1",
                 "command 1", "forward/layer 1"},
                [&] { cmd.dispatch(saxpy, {}, read(x)); });
  const Error error = thrown_by([&] { cmd.dispatch(saxpy, {}); });
  CHECK(error.details().command == 1);
  CHECK(error.details().label == "forward/layer 1");
}

TEST_CASE(
    "dispatch: an argument of the wrong kind or size names its index, the expected and the actual "
    "type") {
  RecordFixture f;
  const auto x = f.buffer<float>(1, "x");
  const Kernel k = f.kernel("k", "vp");
  CommandBuffer cmd = f.recording();
  check_refused(cmd, ErrorCode::ArgumentSize,
                {"argument 0 of kernel k", "value of 4 bytes", "buffer x"},
                [&] { cmd.dispatch(k, {}, read(x), read(x)); });
  check_refused(cmd, ErrorCode::ArgumentSize,
                {"argument 0 of kernel k", "value of 4 bytes", "an empty buffer"},
                [&] { cmd.dispatch(k, {}, read(BufferView()), read(x)); });
  check_refused(cmd, ErrorCode::ArgumentSize,
                {"argument 1 of kernel k", "expected a buffer", "value of 4 bytes", "read(x)"},
                [&] { cmd.dispatch(k, {}, 1.0f, 2.0f); });
  check_refused(cmd, ErrorCode::ArgumentSize,
                {"argument 0 of kernel k", "value of 4 bytes", "got one of 8"},
                [&] { cmd.dispatch(k, {}, 1.0, read(x)); });
}

namespace {

// The value that a kernel with one parameter of type `To` gets; empty: refused.
template <class To, class From>
std::optional<To> converted(From value) {
  RecordFixture f;
  const Kernel k = f.typed_kernel<To>("k");
  CommandBuffer cmd = f.recording();
  try {
    cmd.dispatch(k, {}, value);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::ArgumentType);
    return std::nullopt;
  }
  const auto r = frozen(cmd);
  To result;
  std::memcpy(&result, r->payload<DispatchPayload>(0).parameters, sizeof result);
  return result;
}

struct Opaque;
namespace app {
struct Point {
  float x, y;
};
}  // namespace app
namespace other {
struct Point {
  float x, y;
};
struct Size {
  float x, y;
};
}  // namespace other

}  // namespace

TEST_CASE("dispatch: numbers convert exactly or are refused") {
  CHECK(converted<float>(2) == 2.0f);
  CHECK(converted<float>(16'777'216) == 16'777'216.0f);
  CHECK_FALSE(converted<float>(16'777'217));
  CHECK(converted<float>(0.5) == 0.5f);
  CHECK_FALSE(converted<float>(0.1));
  CHECK_FALSE(converted<float>(1e300));
  CHECK(converted<float>(std::numeric_limits<double>::infinity()) ==
        std::numeric_limits<float>::infinity());
  CHECK(std::isnan(converted<float>(std::nan("")).value_or(0)));
  CHECK(converted<int>(3.0) == 3);
  CHECK_FALSE(converted<int>(3.5));
  CHECK_FALSE(converted<int>(std::nan("")));
  CHECK_FALSE(converted<int>(2'147'483'648u));
  CHECK_FALSE(converted<unsigned>(-1));
  CHECK(converted<unsigned char>(255) == 255);
  CHECK_FALSE(converted<unsigned char>(256));
  CHECK(converted<long long>(~0u) == 4'294'967'295ll);
  CHECK(converted<std::uint64_t>(18'446'744'073'709'549'568.0) == 18'446'744'073'709'549'568u);
  CHECK_FALSE(converted<std::uint64_t>(18'446'744'073'709'551'616.0));
  CHECK_FALSE(converted<double>(9'007'199'254'740'993ll));
  CHECK(converted<bool>(1) == true);
  CHECK_FALSE(converted<bool>(2));
  CHECK(converted<int>(true) == 1);
  CHECK(converted<long>(5ll) == 5l);  // the same type under another name
}

TEST_CASE("dispatch: buffers and classes need the type of the parameter") {
  RecordFixture f;
  const auto x = f.buffer<int>(4, "x");
  const auto points = f.buffer<app::Point>(4, "points");
  CommandBuffer cmd = f.recording();
  const Kernel floats = f.typed_kernel<const float*, float*>("floats");
  check_refused(cmd, ErrorCode::ArgumentType,
                {"argument 0 of kernel floats", "const float*", "x holds int", "as<float>()"},
                [&] { cmd.dispatch(floats, {}, read(x), write(x)); });
  cmd.dispatch(floats, {}, read(x.as<float>()), write(x.as<float>()));
  check_refused(cmd, ErrorCode::ArgumentType, {"argument 0", "const float*", "write(x)"},
                [&] { cmd.dispatch(floats, {}, write(x.as<float>()), write(x.as<float>())); });
  // A view without a type only needs the alignment, and no parameter of unknown type is checked.
  cmd.dispatch(floats, {}, read(BufferView(x)), write(BufferView(x).subview(4, 4)));
  check_refused(
      cmd, ErrorCode::ArgumentType, {"argument 1", "float*", "offset 1", "multiple of 4"},
      [&] { cmd.dispatch(floats, {}, read(BufferView(x)), write(BufferView(x).subview(1, 4))); });
  cmd.dispatch(f.typed_kernel<void*, const void*, Opaque*>("bytes"), {}, write(x), read(x),
               read_write(x));
  // Classes are equal by name and size, whatever their namespace.
  cmd.dispatch(f.typed_kernel<other::Point, other::Point*>("classes"), {}, app::Point{1, 2},
               write(points));
  check_refused(cmd, ErrorCode::ArgumentType, {"argument 0", "expected Size, got Point"}, [&] {
    cmd.dispatch(f.typed_kernel<other::Size>("sizes"), {}, app::Point{1, 2});
  });
  check_refused(cmd, ErrorCode::ArgumentType,
                {"argument 0", "expected float, got Point", "8 bytes"}, [&] {
                  cmd.dispatch(f.typed_kernel<float>("value"), {}, app::Point{1, 2});
                });
  check_refused(cmd, ErrorCode::ArgumentType, {"argument 0", "expected float, got a slot of int"},
                [&] { cmd.dispatch(f.typed_kernel<float>("value"), {}, slot("a", 2)); });
}

TEST_CASE("dispatch: a possible pointer parameter of an adopted kernel takes a buffer or 8 bytes") {
  RecordFixture f;
  const auto x = f.buffer<float>(1, "x");
  auto core = std::make_shared<detail::KernelCore>();
  core->name = "adopted";
  core->parameters.push_back({.offset = 0, .size = 8, .is_pointer = false, .may_be_pointer = true});
  core->parameter_bytes = 8;
  core->device = f.status;
  const auto adopted = detail::make_handle<Kernel>(std::shared_ptr<const detail::KernelCore>(core));
  CommandBuffer cmd = f.recording();
  cmd.dispatch(adopted, {}, write(x));
  cmd.dispatch(adopted, {}, std::uint64_t{7});
  check_refused(cmd, ErrorCode::ArgumentSize,
                {"argument 0 of kernel adopted", "8 bytes", "got one of 4"},
                [&] { cmd.dispatch(adopted, {}, 7); });
  const auto r = frozen(cmd);
  CHECK(r->payload<DispatchPayload>(0).buffer_argument_count == 1);
  CHECK(r->payload<DispatchPayload>(1).buffer_argument_count == 0);
}

TEST_CASE("dispatch: an empty kernel or buffer is NotInitialized") {
  RecordFixture f;
  const Kernel k = f.kernel("k", "p");
  CommandBuffer cmd = f.recording();
  check_refused(cmd, ErrorCode::NotInitialized, {"dispatch", "Kernel is empty", "load_kernel"},
                [&] { cmd.dispatch(Kernel(), {}); });
  check_refused(cmd, ErrorCode::NotInitialized, {"argument 0 of k", "empty buffer", "allocate"},
                [&] { cmd.dispatch(k, {}, read(BufferView())); });
}

TEST_CASE("dispatch: a kernel or buffer of another device is WrongDevice and names both") {
  RecordFixture f, other;
  other.status = RecordFixture::make_status("cuda:3");
  const Kernel k = f.kernel("k", "p");
  const Kernel foreign = other.kernel("foreign", "p");
  const auto x = f.buffer<int>(1, "x");
  const auto z = other.buffer<int>(1, "z");
  CommandBuffer cmd = f.recording();
  check_refused(cmd, ErrorCode::WrongDevice, {"kernel foreign", "cuda:3", "host"},
                [&] { cmd.dispatch(foreign, {}, read(x)); });
  check_refused(cmd, ErrorCode::WrongDevice, {"argument 0 of k z", "cuda:3", "host"},
                [&] { cmd.dispatch(k, {}, read(z)); });
}

TEST_CASE("dispatch: a refused argument releases the buffers of those before it") {
  RecordFixture f;
  const auto x = f.buffer<float>(16, "x");
  const auto y = f.buffer<float>(16, "y");
  CommandBuffer cmd = f.recording();
  check_refused(cmd, ErrorCode::ArgumentSize, {"argument 1 of kernel k", "expected a value"},
                [&] { cmd.dispatch(f.kernel("k", "pv"), {}, read(x), read(y)); });
  CHECK(detail::core_of(x)->recorded.load() == 0);
}

TEST_CASE("dispatch: a stale kernel or buffer is StaleHandle") {
  RecordFixture f;
  const Kernel k = f.kernel("k", "p");
  const auto x = f.buffer<int>(1, "x");
  const auto y = f.buffer<int>(1, "y");
  CommandBuffer cmd = f.recording();
  detail::core_of(x)->cleared = true;
  check_refused(cmd, ErrorCode::StaleHandle, {"argument 0 of k x", "pool was cleared"},
                [&] { cmd.dispatch(k, {}, read(x)); });
  f.status->mark_lost();
  check_refused(cmd, ErrorCode::StaleHandle, {"kernel k", "device was lost"},
                [&] { cmd.dispatch(k, {}, read(y)); });
  const Kernel new_kernel = f.kernel("fresh", "p");
  check_refused(cmd, ErrorCode::StaleHandle, {"argument 0 of fresh y", "rebuild"},
                [&] { cmd.dispatch(new_kernel, {}, read(y)); });
  f.status->shut_down = true;
  check_refused(cmd, ErrorCode::StaleHandle, {"kernel fresh", "shut down"},
                [&] { cmd.dispatch(new_kernel, {}, read(y)); });
}

TEST_CASE("dispatch: a repeated recording allocates nothing") {
  RecordFixture f;
  std::vector<GpuRef<float>> buffers;
  for (int i = 0; i < 50; ++i) buffers.push_back(f.buffer<float>(16, "b"));
  const Kernel k = f.kernel("k", "vpp");
  CommandBuffer cmd = f.commands();
  const auto record = [&](int count) {
    for (int i = 0; i < count; ++i) {
      cmd.dispatch(k, {.grid = 4, .block = 64}, 1.0f, read(buffers[i % 50]),
                   read_write(buffers[(i + 1) % 50]));
    }
  };
  for (int warm_up = 0; warm_up < 3; ++warm_up) {
    cmd.begin();
    record(5050);
    cmd.end();
  }
  cmd.begin();
  record(50);  // first use of the buffers grows the recorder's list
  const std::uint64_t before = allocations_of_this_thread();
  record(5000);
  CHECK(allocations_of_this_thread() - before == 0);
  cmd.end();
}

TEST_CASE("dispatch: an allocation failure records nothing and releases buffers and kernels") {
  RecordFixture f;
  const auto x = f.buffer<float>(16, "a name that is long enough for the heap");
  const auto y = f.buffer<float>(16, "y");
  const Kernel k = f.kernel("k", "pp");
  int failures = 0;
  for (std::uint64_t n = 0;; ++n) {
    CommandBuffer cmd = f.recording();
    bool threw = false;
    {
      const FailingAllocations failing(n);
      try {
        cmd.dispatch(k, {}, read(x), write(y));
      } catch (const std::bad_alloc&) {
        threw = true;
      }
    }
    if (!threw) break;
    ++failures;
    CHECK(cmd.command_count() == 0);
    CHECK(detail::core_of(x)->recorded.load() == 0);
    CHECK(detail::core_of(y)->recorded.load() == 0);
    cmd.dispatch(k, {}, write(y), read(x));  // the recorder remains usable
    const auto r = frozen(cmd);
    REQUIRE(r->buffers.size() == 2);
    CHECK(r->buffers[0] == detail::core_of(y));
  }
  CHECK(failures >= 3);
}

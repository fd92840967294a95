#include <doctest/doctest.h>

#include <limits>
#include <reprise/buffer.hpp>

#include "base/handle_access.hpp"
#include "support/thrown_by.hpp"
#include "unit/record/record_fixture.hpp"

using namespace reprise;
using namespace reprise::test;

TEST_CASE("buffer view: a subview's offset is relative to its view") {
  RecordFixture f;
  const GpuRef<float> x = f.buffer<float>(100, "x");
  const BufferView inner = x.subview(40, 80).subview(20, 60);
  CHECK(inner.offset() == 60);
  CHECK(inner.bytes() == 60);
  CHECK(detail::core_of(inner) == detail::core_of(x));
  CHECK(x.slice(10, 5).offset() == 40);
  CHECK(x.slice(10, 5).size() == 5);
  CHECK(x.slice(100, 0).bytes() == 0);
}

TEST_CASE("buffer view: a range outside the view is OutOfRange, even if its end overflows") {
  RecordFixture f;
  const GpuRef<float> x = f.buffer<float>(100, "x");
  constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();
  CHECK(code_of([&] { static_cast<void>(x.subview(0, 401)); }) == ErrorCode::OutOfRange);
  CHECK(code_of([&] { static_cast<void>(x.subview(401, 0)); }) == ErrorCode::OutOfRange);
  CHECK(code_of([&] { static_cast<void>(x.subview(8, kHuge - 4)); }) == ErrorCode::OutOfRange);
  CHECK(code_of([&] { static_cast<void>(x.slice(kHuge / 4 + 1, 1)); }) == ErrorCode::OutOfRange);
  CHECK(code_of([&] { static_cast<void>(x.slice(1, kHuge / 4 + 2)); }) == ErrorCode::OutOfRange);
  CHECK(code_of([&] { static_cast<void>(x.subview(8, 8).subview(4, 8)); }) ==
        ErrorCode::OutOfRange);
}

TEST_CASE(
    "buffer view: its address is the buffer's address plus the offset; a transient has none") {
  RecordFixture f;
  const GpuRef<float> x = f.buffer<float>(4, "x");
  float memory[4] = {};
  detail::core_of(x)->address = reinterpret_cast<std::byte*>(memory);
  CHECK(x.slice(2, 1).data() == memory + 2);
  const GpuRef<float> t = f.buffer<float>(4, "t", BufferKind::Transient);
  CHECK(code_of([&] { static_cast<void>(t.data()); }) == ErrorCode::Unsupported);
}

TEST_CASE("buffer view: it is stale after its pool is cleared or its device is lost") {
  RecordFixture f;
  const GpuRef<float> cleared = f.buffer<float>(4, "cleared");
  const GpuRef<float> lost = f.buffer<float>(4, "lost");
  detail::core_of(cleared)->cleared = true;
  CHECK(cleared.is_stale());
  CHECK_FALSE(lost.is_stale());
  f.status->mark_lost();
  CHECK(lost.is_stale());
  CHECK(code_of([&] { static_cast<void>(lost.data()); }) == ErrorCode::StaleHandle);
  CHECK(code_of([&] { static_cast<void>(cleared.data()); }) == ErrorCode::StaleHandle);
}

TEST_CASE("kernel: a default-constructed kernel has no name and no parameters") {
  const Kernel kernel;
  CHECK_FALSE(kernel);
  CHECK(kernel.name().empty());
  CHECK(kernel.parameters().empty());
  RecordFixture f;
  CHECK(f.kernel("saxpy", "vpp").name() == "saxpy");
  CHECK(f.kernel("saxpy", "vpp").parameters().size() == 3);
}

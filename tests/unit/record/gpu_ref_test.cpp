// GpuRef as a handle with device and generation.
#include <reprise/buffer.hpp>
#include <reprise/device_state.hpp>
#include <reprise/launch_args.hpp>

#include "base/handle_access.hpp"
#include "support/thrown_by.hpp"
#include "unit/record/record_fixture.hpp"

using namespace reprise;
using namespace reprise::test;

namespace {

struct GpuRefFixture : RecordFixture {
  GpuRef<float> x;
  explicit GpuRefFixture(const std::string& selector = "cuda:3") {
    status->selector = selector;
    x = buffer<float>(4, "x");
    detail::core_of(x)->address = reinterpret_cast<std::byte*>(memory);
  }
  alignas(16) float memory[4] = {};
};

}  // namespace

TEST_CASE("gpu ref: access returns address, count and an owner that keeps the buffer alive") {
  GpuRefFixture f;
  const DeviceSlice<float> slice = f.x.access();
  CHECK(slice.data == f.memory);
  CHECK(slice.size == 4);
  const std::weak_ptr<detail::BufferCore> core = detail::core_of(f.x);
  f.x = {};
  CHECK_FALSE(core.expired());
  CHECK(f.buffer<float>(2, "y").slice(1, 1).access().size == 1);
}

TEST_CASE("gpu ref: raw_device_ptr is the address as an integer, also for a slice") {
  GpuRefFixture f;
  CHECK(f.x.raw_device_ptr() == reinterpret_cast<std::uintptr_t>(f.memory));
  CHECK(f.x.slice(2, 1).raw_device_ptr() == reinterpret_cast<std::uintptr_t>(f.memory + 2));
}

TEST_CASE("gpu ref: device_id is the ordinal of its device; empty without a device") {
  CHECK(GpuRefFixture("cuda:3").x.device_id() == 3);
  CHECK(GpuRefFixture("host").x.device_id() == 0);
  CHECK_FALSE(GpuRef<int>().device_id().has_value());
}

TEST_CASE("gpu ref: is_empty depends on the byte count, with or without a buffer") {
  GpuRefFixture f;
  CHECK_FALSE(f.x.is_empty());
  CHECK(f.x.slice(4, 0).is_empty());
  CHECK(GpuRef<int>().is_empty());
}

TEST_CASE(
    "gpu ref: the generation is fixed at creation, and an outdated handle is permanently "
    "StaleHandle") {
  GpuRefFixture f;
  CHECK(f.x.generation() == 1);
  f.status->mark_lost();
  CHECK(f.x.generation() == 1);
  const auto is_stale = [&] {
    CHECK(code_of([&] { static_cast<void>(f.x.access()); }) == ErrorCode::StaleHandle);
    CHECK(code_of([&] { static_cast<void>(f.x.raw_device_ptr()); }) == ErrorCode::StaleHandle);
    CHECK(code_of([&] { static_cast<void>(f.x.validate()); }) == ErrorCode::StaleHandle);
  };
  is_stale();
  f.status->lost = false;  // simulates a rebuild
  is_stale();
  CHECK(f.buffer<float>(1, "new").generation() == 2);
  CHECK(f.x.device_id() == 3);
}

TEST_CASE("gpu ref: shutting the device down makes its handles stale and clears their device") {
  GpuRefFixture f;
  f.status->shut_down = true;
  const Error error = thrown_by([&] { static_cast<void>(f.x.access()); });
  CHECK(error.code() == ErrorCode::StaleHandle);
  CHECK(std::string(error.what()).find("shut down") != std::string::npos);
  CHECK_FALSE(f.x.device_id().has_value());
  CHECK(f.x.is_stale());
}

TEST_CASE("gpu ref: as<U> needs whole and aligned elements") {
  RecordFixture f;
  const auto x = f.buffer<std::uint8_t>(16, "x");
  CHECK(x.as<std::uint32_t>().size() == 4);
  CHECK(x.slice(4, 8).as<std::uint32_t>().size() == 2);
  CHECK(x.slice(4, 8).as<std::uint32_t>().offset() == 4);
  CHECK(code_of([&] { static_cast<void>(x.slice(0, 6).as<std::uint32_t>()); }) ==
        ErrorCode::InvalidArgument);
  CHECK(code_of([&] { static_cast<void>(x.slice(2, 8).as<std::uint32_t>()); }) ==
        ErrorCode::InvalidArgument);
  CHECK(code_of([&] { static_cast<void>(GpuRef<std::uint32_t>(x.slice(0, 6))); }) ==
        ErrorCode::InvalidArgument);
  CHECK(GpuRef<std::uint8_t>().as<std::uint32_t>().size() == 0);
}

TEST_CASE("host ref: only pinned host memory is one") {
  RecordFixture f;
  CHECK(HostRef<int>(f.buffer<int>(4, "pinned", BufferKind::PinnedHost)).size() == 4);
  CHECK(code_of([&] { static_cast<void>(HostRef<int>(f.buffer<int>(4, "x"))); }) ==
        ErrorCode::InvalidArgument);
}

namespace {

template <class T>
concept Writable = requires(const T& ref) {
  write(ref);
};

}  // namespace

TEST_CASE("gpu ref: it converts to const elements, which can only be read") {
  RecordFixture f;
  const auto x = f.buffer<int>(4, "x");
  const GpuRef<const int> constant = x;
  CHECK(constant.id() == x.id());
  CHECK(constant.slice(1, 2).size() == 2);
  CHECK(read(constant).access == Access::Read);
  LaunchArgs args;
  constant.push(args);
  CHECK(detail::HandleAccess::arguments(args)[0].access == Access::Read);
  x.push(args);
  CHECK(detail::HandleAccess::arguments(args)[1].access == Access::ReadWrite);
  static_assert(Writable<GpuRef<int>> && !Writable<GpuRef<const int>>);
  static_assert(std::is_convertible_v<GpuRef<int>, GpuRef<const int>>);
  static_assert(!std::is_convertible_v<GpuRef<const int>, GpuRef<int>>);
  static_assert(std::is_nothrow_move_constructible_v<GpuRef<int>>);
}

TEST_CASE("buffer view: overlaps is about bytes of one buffer") {
  RecordFixture f;
  const auto x = f.buffer<int>(4, "x"), y = f.buffer<int>(4, "y");
  CHECK(x.overlaps(x));
  CHECK(x.slice(0, 2).overlaps(x.slice(1, 1)));
  CHECK_FALSE(x.slice(0, 2).overlaps(x.slice(2, 2)));
  CHECK_FALSE(x.overlaps(y));
  CHECK_FALSE(x.slice(1, 0).overlaps(x));
}

TEST_CASE(
    "device state: it follows the device through loss, rebuild and shutdown, and outlives it") {
  auto status = RecordFixture::make_status("cuda:1");
  const auto state = detail::make_handle<DeviceState>(status);
  CHECK(state.device_id() == 1);
  CHECK(state.generation() == 1);
  CHECK(state.accepts_work());
  status->mark_lost();
  CHECK(state.phase() == DeviceState::Phase::Lost);
  CHECK(state.generation() == 2);
  CHECK_FALSE(state.accepts_work());
  status->lost = false;
  CHECK(state.phase() == DeviceState::Phase::Working);
  status->shut_down = true;
  status.reset();
  CHECK(state.phase() == DeviceState::Phase::ShutDown);
  CHECK_FALSE(state.accepts_work());
}

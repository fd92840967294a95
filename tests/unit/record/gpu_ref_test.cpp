// GpuRef as a handle with device and generation.
#include <reprise/buffer.hpp>
#include <reprise/device_state.hpp>

#include "unit/record/record_fixture.hpp"

using namespace reprise;
using namespace reprise::test;

namespace {

struct GpuRefFixture : RecordFixture {
  GpuRef<float> x;
  explicit GpuRefFixture(const std::string& selector = "cuda:3") {
    status->selector = selector;
    x = buffer<float>(4, "x");
    x.core()->address = reinterpret_cast<std::byte*>(memory);
  }
  alignas(16) float memory[4] = {};
};

ErrorCode code_of(const std::function<void()>& call) { return thrown_by(call).code(); }

}  // namespace

TEST_CASE("gpu ref: access returns address, count and an owner that keeps the buffer alive") {
  GpuRefFixture f;
  const DeviceSlice<float> slice = f.x.access();
  CHECK(slice.data == f.memory);
  CHECK(slice.size == 4);
  const std::weak_ptr<detail::BufferCore> core = f.x.core();
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
  f.status->lose();
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

TEST_CASE("gpu ref: access of an empty handle and of a transient are different errors") {
  GpuRefFixture f;
  CHECK(code_of([&] { static_cast<void>(GpuRef<int>().access()); }) == ErrorCode::InvalidArgument);
  CHECK(code_of([&] { static_cast<void>(GpuRef<int>().validate()); }) ==
        ErrorCode::InvalidArgument);
  CHECK(code_of([&] {
          static_cast<void>(f.buffer<int>(4, "t", BufferKind::Transient).access());
        }) == ErrorCode::Unsupported);
}

TEST_CASE(
    "device state: it follows the device through loss, rebuild and shutdown, and outlives it") {
  auto status = RecordFixture::make_status("cuda:1");
  const DeviceState state(status);
  CHECK(state.device_id() == 1);
  CHECK(state.generation() == 1);
  CHECK(state.accepts_work());
  status->lose();
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

// Detection of a driver and a GPU, and the reason for their absence: with fake answers, and on this
// machine.
#include <doctest/doctest.h>

#include <reprise/instance.hpp>

#include "backend/cuda/cuda_provider.hpp"
#include "cuda/gpu.hpp"
#include "support/contains.hpp"

namespace reprise::test {
namespace {

using detail::CudaProvider;
using detail::DriverProbe;

cudaError_t no_version(int* version) {
  *version = 0;
  return cudaSuccess;
}
cudaError_t old_version(int* version) {
  *version = 11040;
  return cudaSuccess;
}
cudaError_t new_version(int* version) {
  *version = 99010;
  return cudaSuccess;
}
cudaError_t count_must_not_be_asked(int*) {
  FAIL("the driver was queried for devices");
  return cudaErrorUnknown;
}
template <cudaError_t Result>
cudaError_t no_count(int* count) {
  *count = 0;
  return Result;
}

}  // namespace

TEST_CASE("cuda provider: without a driver there are no devices, and the reason is NoDriver") {
  CudaProvider provider({&no_version, &count_must_not_be_asked});
  CHECK(provider.devices().empty());
  CHECK(contains(provider.unavailable_reason(), "no CUDA driver is installed"));
  const ErrorDetails error = error_of([&] { provider.require_driver(); });
  CHECK(error.code == ErrorCode::NoDriver);
  CHECK(error.stage == Stage::Open);
}

TEST_CASE("cuda provider: an old driver is refused with both versions") {
  CudaProvider provider({&old_version, &count_must_not_be_asked});
  CHECK(provider.devices().empty());
  CHECK(contains(provider.unavailable_reason(), "for CUDA 11.4"));
  CHECK(contains(provider.unavailable_reason(),
                 CudaProvider::kMinimumDriver >= 13000 ? "13.0 or newer" : "12.4 or newer"));
  std::string text;
  CHECK(error_of([&] { provider.require_driver(); }, &text).code == ErrorCode::DriverTooOld);
  CHECK(contains(text, provider.unavailable_reason()));
}

TEST_CASE("cuda provider: a driver that reports itself as insufficient is too old") {
  CudaProvider provider({&new_version, &no_count<cudaErrorInsufficientDriver>});
  const ErrorDetails error = error_of([&] { provider.require_driver(); });
  CHECK(error.code == ErrorCode::DriverTooOld);
  CHECK(error.native_name == "cudaErrorInsufficientDriver");
}

TEST_CASE("cuda provider: a driver without a GPU is not a driver error") {
  for (const auto count : {&no_count<cudaErrorNoDevice>, &no_count<cudaSuccess>}) {
    CudaProvider provider({&new_version, count});
    CHECK(provider.devices().empty());
    CHECK(contains(provider.unavailable_reason(), "sees no GPU"));
    CHECK_NOTHROW(provider.require_driver());
  }
}

TEST_CASE("cuda provider: a driver that fails to initialise is reported with its own error") {
  CudaProvider provider({&new_version, &no_count<cudaErrorSystemNotReady>});
  CHECK(contains(provider.unavailable_reason(), "cudaErrorSystemNotReady"));
  const ErrorDetails error = error_of([&] { provider.require_driver(); });
  CHECK(error.code == ErrorCode::NoDriver);
  CHECK(error.native_call == "cudaGetDeviceCount");
}

TEST_CASE("cuda provider: a missing GPU cannot be opened") {
  CudaProvider provider({&no_version, &count_must_not_be_asked});
  CHECK(error_of([&] {
          static_cast<void>(provider.open(0, std::make_shared<detail::DeviceStatus>()));
        }).code == ErrorCode::UnknownDevice);
}

TEST_CASE(
    "instance: a GPU selected by name on a machine without one fails with the reason; best selects "
    "the host") {
  const Instance instance;
  detail::BackendProvider& provider = detail::cuda_provider();
  CHECK(instance.gpu_unavailable_reason() == provider.unavailable_reason());
  if (!provider.devices().empty()) {
    MESSAGE("this machine has a GPU");
    CHECK(instance.open_device(DeviceSelector::named("cuda:0")).info().kind == DeviceKind::Cuda);
    return;
  }
  CHECK_FALSE(instance.gpu_unavailable_reason().empty());
  bool driver = true;
  try {
    provider.require_driver();
  } catch (const Error& error) {
    driver = false;
    CHECK(error_of([&] {
            static_cast<void>(instance.open_device(DeviceSelector::named("cuda:0")));
          }).code == error.code());
  }
  if (driver) {
    CHECK(error_of([&] {
            static_cast<void>(instance.open_device(DeviceSelector::named("cuda:0")));
          }).code == ErrorCode::UnknownDevice);
  }
  CHECK(instance.open_device(DeviceSelector::named("best")).info().kind == DeviceKind::Host);
}

}  // namespace reprise::test

#include <doctest/doctest.h>

#include <optional>
#include <string>

#include "base/handle_access.hpp"
#include "runtime/core/instance_core.hpp"
#include "support/environment_variable.hpp"
#include "unit/runtime/fake_backend.hpp"

using namespace reprise;
using namespace reprise::test;

namespace {

const std::vector<FakeDevice> kTwo{{"cuda:0", DeviceKind::Cuda}, {"host", DeviceKind::Host}};

}  // namespace

TEST_CASE("instance: lists the devices of every provider in order") {
  FakeWorld world;
  FakeProvider gpus(world, {{"cuda:0", DeviceKind::Cuda}, {"cuda:1", DeviceKind::Cuda}}),
      host(world);
  const Instance instance = detail::make_instance({.application = "app"}, {&gpus, &host});
  const auto devices = instance.devices();
  REQUIRE(devices.size() == 3);
  CHECK(devices[0].selector == "cuda:0");
  CHECK(devices[2].selector == "host");
  CHECK(instance.gpu_unavailable_reason().empty());
  CHECK(instance.application() == "app");
}

TEST_CASE("open_device: best is the first GPU, or the host device without a GPU") {
  const EnvironmentVariable unset("REPRISE_DEVICE", std::nullopt);
  FakeInstance both({}, kTwo);
  CHECK(both.instance.open_device().info().selector == "cuda:0");
  FakeInstance alone;
  CHECK(alone.instance.open_device().info().selector == "host");
  CHECK(alone.instance.gpu_unavailable_reason() == "built without CUDA");
}

TEST_CASE("open_device: REPRISE_DEVICE overrides best, but not a name") {
  const EnvironmentVariable set("REPRISE_DEVICE", "host");
  FakeInstance fake({}, kTwo);
  CHECK(fake.instance.open_device().info().selector == "host");
  CHECK(fake.instance.open_device(DeviceSelector::named("cuda:0")).info().selector == "cuda:0");
}

TEST_CASE(
    "open_device: an invalid REPRISE_DEVICE is refused, naming the variable and valid values") {
  FakeInstance fake({}, kTwo);
  {
    const EnvironmentVariable set("REPRISE_DEVICE", "gpu");
    CHECK(error_of([&] { (void)fake.instance.open_device(); }).code == ErrorCode::InvalidArgument);
    const std::string text = text_of([&] { (void)fake.instance.open_device(); });
    CHECK(text.find("REPRISE_DEVICE is \"gpu\"; use best, host or cuda:N") != std::string::npos);
  }
  const EnvironmentVariable set("REPRISE_DEVICE", "cuda:7");
  CHECK(error_of([&] { (void)fake.instance.open_device(); }).code == ErrorCode::UnknownDevice);
  CHECK(text_of([&] {
          (void)fake.instance.open_device();
        }).find("REPRISE_DEVICE: no device is named \"cuda:7\"") != std::string::npos);
}

TEST_CASE("open_device: an unknown name lists the available devices") {
  FakeInstance fake({}, kTwo);
  const auto open = [&] { (void)fake.open("toaster"); };
  CHECK(error_of(open).code == ErrorCode::UnknownDevice);
  CHECK(error_of(open).stage == Stage::Open);
  CHECK(error_of(open).label == "toaster");
  CHECK(text_of(open).find("cuda:0 (fake cuda:0), host (fake host)") != std::string::npos);
}

TEST_CASE("open_device: for a named GPU without a driver, the error is the driver's") {
  FakeWorld world;
  FakeProvider gpus(world, {}), host(world);
  const Instance instance = detail::make_instance({}, {&gpus, &host});
  const auto open = [&] { (void)instance.open_device(DeviceSelector::named("cuda:0")); };
  CHECK(error_of(open).code == ErrorCode::NoDriver);
  gpus.refuse_driver(ErrorCode::DriverTooOld);
  CHECK(error_of(open).code == ErrorCode::DriverTooOld);
  CHECK(instance.gpu_unavailable_reason() == "the fake has no devices");
  CHECK(error_of([&] { (void)instance.open_device(DeviceSelector::named("cuda:x")); }).code ==
        ErrorCode::UnknownDevice);
}

TEST_CASE("open_device: in a build without CUDA, the error for a named GPU says so") {
  FakeInstance fake;
  CHECK(text_of([&] { (void)fake.open("cuda:0"); }).find("built without CUDA") !=
        std::string::npos);
}

TEST_CASE(
    "instance: REPRISE_VALIDATION overrides the description, and an invalid value is refused") {
  FakeWorld world;
  FakeProvider host(world);
  for (const auto& [value, level] : {std::pair{"off", Validation::Off},
                                     {"basic", Validation::Basic},
                                     {"full", Validation::Full}}) {
    const EnvironmentVariable set("REPRISE_VALIDATION", value);
    CHECK(detail::core_of(detail::make_instance({.validation = Validation::Off}, {&host}))
              ->validation() == level);
  }
  {
    const EnvironmentVariable empty("REPRISE_VALIDATION", "");
    CHECK(detail::core_of(detail::make_instance({.validation = Validation::Full}, {&host}))
              ->validation() == Validation::Full);
  }
  const EnvironmentVariable set("REPRISE_VALIDATION", "loud");
  const auto make = [&] { (void)detail::make_instance({}, {&host}); };
  CHECK(error_of(make).code == ErrorCode::InvalidArgument);
  CHECK(text_of(make).find("REPRISE_VALIDATION is \"loud\"; use off, basic or full") !=
        std::string::npos);
}

TEST_CASE("instance: REPRISE_BLOCK_RELATIONS is on or off, and an invalid value is refused") {
  FakeWorld world;
  FakeProvider host(world);
  for (const auto& [value, is_on] : {std::pair{"on", true}, {"off", false}, {"", true}}) {
    const EnvironmentVariable set("REPRISE_BLOCK_RELATIONS", value);
    CHECK(detail::core_of(detail::make_instance({}, {&host}))->has_block_relations() == is_on);
  }
  const EnvironmentVariable set("REPRISE_BLOCK_RELATIONS", "no");
  const auto make = [&] { (void)detail::make_instance({}, {&host}); };
  CHECK(error_of(make).code == ErrorCode::InvalidArgument);
  CHECK(text_of(make).find("REPRISE_BLOCK_RELATIONS is \"no\"; use on or off") !=
        std::string::npos);
}

TEST_CASE("instance: a device keeps its instance alive") {
  FakeInstance fake;
  auto instance = std::optional<Instance>(fake.instance);
  const Device device = instance->open_device(DeviceSelector::named("host"));
  instance.reset();
  CHECK(device.info().selector == "host");
  CHECK(device.create_pool()->buffer_count() == 0);
}

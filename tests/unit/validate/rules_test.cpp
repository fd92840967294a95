// Every rule about a single command or handle: an input that it reports and one that it accepts.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/contains.hpp"
#include "support/recording_builder.hpp"
#include "validate/rules.hpp"
#include "validate/validate.hpp"

using namespace reprise;
using namespace reprise::detail;
using namespace reprise::test;

namespace {

DeviceInfo small_device() {
  DeviceInfo info;
  info.limits = {.max_grid = {1000, 100, 10},
                 .max_block = {256, 128, 8},
                 .max_block_threads = 256,
                 .max_shared_bytes = 4096,
                 .max_parameter_bytes = 64,
                 .max_cluster_blocks = 4,
                 .max_cooperative_blocks = 50,
                 .max_pitch = 512};
  return info;
}

using Ids = std::vector<std::string_view>;

Ids ids_of(const Recording& recording, const DeviceInfo& device = small_device(),
           Validation level = Validation::Full) {
  Ids ids;
  for (const Finding& finding : validate(recording, device, level))
    ids.push_back(finding.message.id);
  return ids;
}

const Ids kNothing;

// A dispatch of one read of x that is valid on the small device except for `desc`.
Ids ids_of_dispatch(const DispatchPayload& desc, const DeviceInfo& device = small_device(),
                    Validation level = Validation::Full) {
  RecordingBuilder b;
  const std::uint32_t x = b.add_buffer("x", 64);
  const BufferAccess access = b.read(x);
  b.dispatch("work", desc, {&access, 1});
  return ids_of(*b.finish(), device, level);
}

DispatchPayload launch(Dim3 grid, Dim3 block, std::uint32_t shared_bytes = 0) {
  DispatchPayload desc;
  desc.grid = grid;
  desc.block = block;
  desc.shared_bytes = shared_bytes;
  return desc;
}

DispatchPayload clustered(Dim3 grid, Dim3 cluster) {
  DispatchPayload desc = launch(grid, 32);
  desc.cluster = cluster;
  return desc;
}

DispatchPayload cooperative(Dim3 grid) {
  DispatchPayload desc = launch(grid, 32);
  desc.launch = DispatchDesc::Launch::Cooperative;
  return desc;
}

std::string text_of(const Recording& recording) {
  const auto findings = validate(recording, small_device(), Validation::Full);
  REQUIRE(findings.size() == 1);
  return findings[0].message.text;
}

}  // namespace

TEST_CASE("validate: each rule has a unique id in kebab case") {
  Ids ids;
  for (const RuleRow& row : kRules) {
    CHECK(row.id.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string_view::npos);
    CHECK(std::find(ids.begin(), ids.end(), row.id) == ids.end());
    ids.push_back(row.id);
  }
}

TEST_CASE("validate: a recording within all limits has no findings") {
  CHECK(ids_of(*RecordingBuilder().finish()) == kNothing);
  CHECK(ids_of_dispatch(launch({1000, 100, 10}, {256, 1, 1}, 4096)) == kNothing);
  CHECK(ids_of_dispatch(launch(1, {4, 8, 8}, 0)) == kNothing);
}

TEST_CASE("validate: dispatch-grid-zero") {
  CHECK(ids_of_dispatch(launch({0, 1, 1}, 32)) == Ids{"dispatch-grid-zero"});
  CHECK(ids_of_dispatch(launch({1, 1, 0}, 32)) == Ids{"dispatch-grid-zero"});
  CHECK(ids_of_dispatch(launch({1, 1, 1}, 32)) == kNothing);
}

TEST_CASE("validate: dispatch-grid-too-large, in each direction") {
  CHECK(ids_of_dispatch(launch({1001, 1, 1}, 32)) == Ids{"dispatch-grid-too-large"});
  CHECK(ids_of_dispatch(launch({1, 101, 1}, 32)) == Ids{"dispatch-grid-too-large"});
  CHECK(ids_of_dispatch(launch({1, 1, 11}, 32)) == Ids{"dispatch-grid-too-large"});
}

TEST_CASE("validate: dispatch-block-zero") {
  CHECK(ids_of_dispatch(launch(1, {32, 0, 1})) == Ids{"dispatch-block-zero"});
}

TEST_CASE(
    "validate: dispatch-block-too-large, by direction, by threads and by the kernel's own limit") {
  CHECK(ids_of_dispatch(launch(1, {1, 1, 9})) == Ids{"dispatch-block-too-large"});
  CHECK(ids_of_dispatch(launch(1, {256, 2, 1})) == Ids{"dispatch-block-too-large"});
  CHECK(ids_of_dispatch(launch(1, {128, 2, 1})) == kNothing);
  RecordingBuilder b;
  auto kernel = std::make_shared<KernelCore>();
  kernel->device = b.recording().device;
  kernel->name = "big";
  kernel->max_block_threads = 64;
  b.dispatch("big", launch(1, 65), {});
  b.recording().kernels[0] = kernel;
  const std::string text = text_of(*b.finish());
  CHECK(contains(text, "command 0, dispatch big (app.cpp:1)"));
  CHECK(contains(text, "kernel big allows 64"));
}

TEST_CASE(
    "validate: dispatch-shared-too-large, by the device's limit and the kernel's remaining "
    "memory") {
  CHECK(ids_of_dispatch(launch(1, 32, 4097)) == Ids{"dispatch-shared-too-large"});
  RecordingBuilder b;
  auto kernel = std::make_shared<KernelCore>();
  kernel->device = b.recording().device;
  kernel->static_shared_bytes = 4000;
  kernel->max_dynamic_shared_bytes = 96;
  b.dispatch("tiles", launch(1, 32, 96), {});
  b.dispatch("tiles", launch(1, 32, 97), {});
  b.recording().kernels[0] = kernel;
  const auto findings = validate(*b.finish(), small_device(), Validation::Full);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].message.id == "dispatch-shared-too-large");
  CHECK(findings[0].message.command == 1);
}

TEST_CASE("validate: dispatch-parameters-too-large") {
  RecordingBuilder b;
  const std::uint32_t x = b.add_buffer("x", 64);
  b.dispatch("eight", std::vector<BufferAccess>(8, b.read(x)));
  b.dispatch("nine", std::vector<BufferAccess>(9, b.read(x)));
  const auto findings = validate(*b.finish(), small_device(), Validation::Full);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].message.id == "dispatch-parameters-too-large");
  CHECK(findings[0].message.command == 1);
}

TEST_CASE("validate: dispatch-parameters-mismatch, at every level") {
  RecordingBuilder b;
  const std::uint32_t x = b.add_buffer("x", 64);
  b.dispatch("work", {b.read(x)});
  auto kernel = std::make_shared<KernelCore>(*b.recording().kernels[0]);
  kernel->parameter_bytes = 16;
  b.recording().kernels[0] = kernel;
  CHECK(ids_of(*b.finish(), small_device(), Validation::Off) ==
        Ids{"dispatch-parameters-mismatch"});
}

TEST_CASE("validate: dispatch-cluster-unsupported on a device without clusters") {
  DeviceInfo device = small_device();
  device.limits.max_cluster_blocks = 0;
  CHECK(ids_of_dispatch(clustered(4, {2, 1, 1}), device) == Ids{"dispatch-cluster-unsupported"});
  CHECK(ids_of_dispatch(launch(4, 32), device) == kNothing);
}

TEST_CASE("validate: dispatch-cluster-zero, -too-large and -indivisible") {
  CHECK(ids_of_dispatch(clustered(4, {2, 0, 1})) == Ids{"dispatch-cluster-zero"});
  CHECK(ids_of_dispatch(clustered(4, {0, 0, 0})) == Ids{"dispatch-cluster-zero"});
  CHECK(ids_of_dispatch(clustered(5, {5, 1, 1})) == Ids{"dispatch-cluster-too-large"});
  CHECK(ids_of_dispatch(clustered(5, {2, 1, 1})) == Ids{"dispatch-cluster-indivisible"});
  CHECK(ids_of_dispatch(clustered({4, 3, 1}, {1, 2, 1})) == Ids{"dispatch-cluster-indivisible"});
  CHECK(ids_of_dispatch(clustered(4, {4, 1, 1})) == kNothing);
}

TEST_CASE("validate: dispatch-cooperative-unsupported on a device without cooperative launches") {
  DeviceInfo device = small_device();
  device.limits.max_cooperative_blocks = 0;
  CHECK(ids_of_dispatch(cooperative(1), device) == Ids{"dispatch-cooperative-unsupported"});
  CHECK(ids_of_dispatch(launch(1, 32), device) == kNothing);
}

TEST_CASE("validate: dispatch-cooperative-too-large") {
  CHECK(ids_of_dispatch(cooperative(51)) == Ids{"dispatch-cooperative-too-large"});
  CHECK(ids_of_dispatch(cooperative({5, 10, 1})) == kNothing);
}

TEST_CASE("validate: copy-pitch-too-large, on either side, only with several rows") {
  RecordingBuilder b;
  const std::uint32_t x = b.add_buffer("x", 4096), y = b.add_buffer("y", 4096);
  b.copy(b.rows(Access::Read, x, 0, {8, 4, 1}, {513, 0}),
         b.rows(Access::Write, y, 0, {8, 4, 1}, {512, 0}));
  b.copy(b.rows(Access::Read, x, 0, {8, 4, 1}, {512, 0}),
         b.rows(Access::Write, y, 0, {8, 4, 1}, {512, 0}));
  b.copy(b.read(x), b.write(y));
  CHECK(ids_of(*b.finish(), small_device(), Validation::Basic) == Ids{"copy-pitch-too-large"});
}

TEST_CASE("validate: fill-pitch-too-large") {
  RecordingBuilder b;
  const std::uint32_t x = b.add_buffer("x", 4096);
  b.fill(b.rows(Access::Write, x, 0, {8, 4, 1}, {520, 0}));
  b.fill(b.rows(Access::Write, x, 0, {8, 4, 1}, {512, 0}));
  CHECK(ids_of(*b.finish()) == Ids{"fill-pitch-too-large"});
}

TEST_CASE(
    "validate: fill-element-invalid for sizes, offsets, widths and pitches that are not "
    "multiples") {
  RecordingBuilder b;
  const std::uint32_t x = b.add_buffer("x", 4096);
  b.fill(b.write(x), 0, 3);
  b.fill(RecordingBuilder::range(Access::Write, x, 2, 6), 0, 4);
  b.fill(RecordingBuilder::range(Access::Write, x, 4, 10), 0, 4);
  b.fill(b.rows(Access::Write, x, 0, {8, 4, 1}, {10, 0}), 0, 4);
  b.fill(RecordingBuilder::range(Access::Write, x, 4, 12), 0, 4);
  b.fill(RecordingBuilder::range(Access::Write, x, 1, 4), 0, 1);
  CHECK(ids_of(*b.finish()) == Ids(4, "fill-element-invalid"));
}

TEST_CASE("validate: range-out-of-bounds for accesses and barriers, at every level") {
  RecordingBuilder b;
  const std::uint32_t x = b.add_buffer("x", 64);
  b.dispatch("inside", {RecordingBuilder::range(Access::Read, x, 32, 64)});
  b.dispatch("outside", {RecordingBuilder::range(Access::Read, x, 32, 65)});
  b.barrier({x, 60, 70});
  const auto findings = validate(*b.finish(), small_device(), Validation::Off);
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].message.id == "range-out-of-bounds");
  CHECK(findings[0].message.command == 1);
  CHECK(findings[0].code == ErrorCode::OutOfRange);
  CHECK(contains(
      findings[0].message.text,
      "command 1, dispatch outside (app.cpp:2): bytes [32, 65) of buffer \"x\" exceed its 64 "
      "bytes"));
  CHECK(findings[1].message.command == 2);
}

TEST_CASE(
    "validate: copy-overlap if source and destination share a byte, not for interleaved rows") {
  RecordingBuilder b;
  const std::uint32_t x = b.add_buffer("x", 64);
  b.copy(RecordingBuilder::range(Access::Read, x, 0, 17),
         RecordingBuilder::range(Access::Write, x, 16, 33));
  b.copy(RecordingBuilder::range(Access::Read, x, 0, 16),
         RecordingBuilder::range(Access::Write, x, 16, 32));
  b.copy(b.rows(Access::Read, x, 0, {4, 8, 1}, {8, 0}),
         b.rows(Access::Write, x, 4, {4, 8, 1}, {8, 0}));
  b.copy(b.rows(Access::Read, x, 0, {4, 8, 1}, {8, 0}),
         b.rows(Access::Write, x, 3, {4, 8, 1}, {8, 0}));
  const auto findings = validate(*b.finish(), small_device(), Validation::Off);
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].message.id == "copy-overlap");
  CHECK(findings[0].message.command == 0);
  CHECK(findings[0].code == ErrorCode::Overlap);
  CHECK(findings[1].message.command == 3);
}

TEST_CASE("validate: handle-stale for a buffer whose pool was cleared, naming its first user") {
  RecordingBuilder b;
  const std::uint32_t x = b.add_buffer("x", 64), y = b.add_buffer("y", 64);
  b.dispatch("a", {b.read(x)});
  b.dispatch("b", {b.read(y)});
  b.recording().buffers[y]->cleared = true;
  const auto findings = validate(*b.finish(), small_device(), Validation::Off);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].message.id == "handle-stale");
  CHECK(findings[0].code == ErrorCode::StaleHandle);
  CHECK(findings[0].message.command == 1);
}

TEST_CASE("validate: handle-stale for buffers and kernels of a lost device") {
  RecordingBuilder b;
  const std::uint32_t x = b.add_buffer("x", 64);
  b.dispatch("a", {b.read(x)});
  b.recording().device->mark_lost();
  CHECK(ids_of(*b.finish(), small_device(), Validation::Off) ==
        Ids{"handle-stale", "handle-stale"});
}

TEST_CASE("validate: device-foreign for buffers and kernels of another device") {
  RecordingBuilder b;
  const std::uint32_t x = b.add_buffer("x", 64);
  b.dispatch("a", {b.read(x)});
  b.recording().device = std::make_shared<DeviceStatus>();
  const auto findings = validate(*b.finish(), small_device(), Validation::Off);
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].message.id == "device-foreign");
  CHECK(findings[0].code == ErrorCode::WrongDevice);
}

TEST_CASE("validate: edge-invalid for edges to barriers and to unknown commands") {
  RecordingBuilder b;
  b.dispatch("a", {});
  b.barrier();
  b.dispatch("b", {});
  b.edge(0, 2);
  b.edge(0, 1);
  b.edge(3, 2);
  CHECK(ids_of(*b.finish(), small_device(), Validation::Off) == Ids(2, "edge-invalid"));
}

TEST_CASE("validate: Off skips limits, Basic checks them, and only Full checks pairs") {
  DispatchPayload desc = launch(0, 0, 5000);
  desc.cluster = Dim3(3);
  CHECK(ids_of_dispatch(desc, small_device(), Validation::Off) == kNothing);
  CHECK(ids_of_dispatch(desc, small_device(), Validation::Basic).size() == 3);
  RecordingBuilder b({.ordering = Ordering::Explicit});
  const std::uint32_t x = b.add_buffer("x", 64);
  b.dispatch("a", {b.write(x)});
  b.dispatch("b", {b.write(x)});
  const RecordingPtr recording = b.finish();
  CHECK(ids_of(*recording, small_device(), Validation::Basic) == kNothing);
  CHECK(ids_of(*recording, small_device(), Validation::Full) == Ids{"hazard-unordered"});
}

TEST_CASE("validate: findings-left-out counts the findings of a rule beyond the first 64") {
  RecordingBuilder b;
  for (int i = 0; i < 70; ++i) b.dispatch("none", launch(0, 32), {});
  const auto findings = validate(*b.finish(), small_device(), Validation::Basic);
  REQUIRE(findings.size() == 65);
  CHECK(findings[63].message.id == "dispatch-grid-zero");
  CHECK(findings[64].message.id == "findings-left-out");
  CHECK(findings[64].message.severity == Severity::Info);
  CHECK(contains(findings[64].message.text, "70 times"));
}

TEST_CASE("validate: findings are in command order, with label and location") {
  RecordingBuilder b({.label = "step"});
  b.begin_label("forward");
  b.dispatch("a", launch(0, 32), {});
  b.end_label();
  b.dispatch("b", launch(1, 0), {});
  b.dispatch("c", launch(0, 32), {});
  const auto findings = validate(*b.finish(), small_device(), Validation::Basic);
  REQUIRE(findings.size() == 3);
  CHECK(findings[0].message.label == "forward");
  CHECK(findings[0].message.where.line == 1);
  CHECK(findings[1].message.command == 1);
  CHECK(findings[2].message.command == 2);
}

TEST_CASE(
    "validate: the first error is thrown with its id and the number of further errors, without "
    "warnings") {
  RecordingBuilder b({.label = "step"});
  b.barrier();
  b.begin_label("forward");
  b.dispatch("a", launch(0, 32), {});
  b.dispatch("b", launch(0, 32), {});
  b.dispatch("c", launch(1, 0), {});
  const RecordingPtr recording = b.finish();
  const auto findings = validate(*recording, small_device(), Validation::Full);
  CHECK(findings[0].message.severity == Severity::Warning);
  try {
    throw_first_error(findings, *recording);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::LaunchLimits);
    CHECK(error.stage() == Stage::Validate);
    CHECK(error.details().command == 1);
    CHECK(error.details().label == "forward");
    CHECK(error.details().message_id == "dispatch-grid-zero");
    CHECK(contains(error.what(), "and 2 more errors"));
  }
  throw_first_error({findings[0]}, *recording);
}

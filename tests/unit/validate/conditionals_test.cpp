// Rules about conditions and conditionals, and findings inside bodies.
#include <doctest/doctest.h>

#include "record/condition_core.hpp"
#include "support/contains.hpp"
#include "unit/record/record_fixture.hpp"
#include "validate/validate.hpp"

using namespace reprise;
using namespace reprise::detail;
using namespace reprise::test;

namespace {

struct ConditionalRules : RecordFixture {
  GpuRef<std::uint32_t> x = buffer<std::uint32_t>(64, "x");
  Condition go = condition("go"), other = condition("other");
  Kernel decide = kernel("decide", "pc");
  DeviceInfo device = with(DeviceLimits::Conditionals::All);

  static DeviceInfo with(DeviceLimits::Conditionals conditionals) {
    DeviceInfo info;
    info.limits = {.max_grid = {100, 100, 100},
                   .max_block = {256, 256, 64},
                   .max_block_threads = 256,
                   .max_parameter_bytes = 64};
    info.limits.conditionals = conditionals;
    return info;
  }
  Condition condition(std::string_view name) { return make_condition(status, {.name = name}); }
  CommandBuffer filling(std::string_view label) {
    CommandBuffer commands = recording({.label = label, .level = Level::Secondary});
    commands.fill(x, 1u);
    commands.end();
    return commands;
  }
  std::vector<Finding> find(CommandBuffer& commands, Validation level = Validation::Full) {
    return validate(*frozen(commands), device, level);
  }
};

}  // namespace

TEST_CASE(
    "validate: a condition that controls two commands, one of them in another body, is an error") {
  ConditionalRules f;
  const CommandBuffer body = f.filling("body");
  CommandBuffer inner = f.recording({.label = "inner", .level = Level::Secondary});
  inner.execute_if(f.go, body);
  inner.end();
  CommandBuffer cmd = f.recording();
  cmd.execute_if(f.go, body);
  cmd.execute_if(f.other, inner);
  const auto found = f.find(cmd, Validation::Basic);
  REQUIRE(found.size() == 1);
  CHECK(found[0].message.id == "condition-decides-several");
  CHECK(found[0].message.command == 1);
  CHECK(contains(found[0].message.text, "condition go controls command 0 already"));
}

TEST_CASE("validate: a condition that is set and controls nothing is an error") {
  ConditionalRules f;
  const CommandBuffer body = f.filling("body");
  CommandBuffer cmd = f.recording();
  cmd.fill(f.x, 2u);
  cmd.dispatch(f.decide, {.grid = 1}, read(f.x), f.go);
  cmd.dispatch(f.decide, {.grid = 1}, read(f.x), f.other);
  cmd.execute_if(f.other, body);
  const auto found = f.find(cmd);
  REQUIRE(found.size() == 1);
  CHECK(found[0].message.id == "condition-decides-nothing");
  CHECK(found[0].message.command == 1);
  CHECK(contains(found[0].message.text, "condition go"));
}

TEST_CASE("validate: condition-never-set for a condition that no kernel sets, in no body either") {
  ConditionalRules f;
  const CommandBuffer body = f.filling("body");
  CommandBuffer deciding = f.recording({.label = "deciding", .level = Level::Secondary});
  deciding.dispatch(f.decide, {.grid = 1}, read(f.x), f.go);
  deciding.end();
  CommandBuffer cmd = f.recording();
  cmd.execute_while(f.go, deciding);
  cmd.execute_while(f.condition("counted"), body, {.max_iterations = 3});
  cmd.execute_if(f.other, body);
  const auto found = f.find(cmd);
  REQUIRE(found.size() == 1);
  CHECK(found[0].message.id == "condition-never-set");
  CHECK(found[0].message.severity == Severity::Warning);
  CHECK(found[0].message.command == 2);
  CHECK(contains(found[0].message.text, "condition other, which therefore keeps its initial value 0"));
}

TEST_CASE("validate: conditionals that the device does not support are errors") {
  ConditionalRules f;
  const CommandBuffer body = f.filling("body");
  CommandBuffer cmd = f.recording();
  cmd.execute_if(f.go, body);
  cmd.execute_if(f.other, body, body);
  const Condition which = f.condition("which"), again = f.condition("again");
  cmd.execute_switch(which, {body});
  cmd.execute_while(again, body, {.max_iterations = 2});
  const auto recording = frozen(cmd);
  const auto commands = [&](DeviceLimits::Conditionals conditionals) {
    std::vector<std::uint32_t> of;
    for (const Finding& finding :
         validate(*recording, ConditionalRules::with(conditionals), Validation::Off)) {
      CHECK(finding.message.id == "conditional-unsupported");
      CHECK(finding.code == ErrorCode::Unsupported);
      of.push_back(finding.message.command.value());
    }
    return of;
  };
  CHECK(commands(DeviceLimits::Conditionals::All).empty());
  CHECK(commands(DeviceLimits::Conditionals::Basic) == std::vector<std::uint32_t>{1, 2});
  CHECK(commands(DeviceLimits::Conditionals::None) == std::vector<std::uint32_t>{0, 1, 2, 3});
}

TEST_CASE("validate: a finding in a body is reported for the command that runs it") {
  ConditionalRules f;
  const Kernel work = f.kernel("work", "p");
  CommandBuffer wrong = f.recording({.label = "wrong", .level = Level::Secondary});
  wrong.dispatch(work, {.grid = 0, .block = 1}, write(f.x));
  wrong.end();
  CommandBuffer middle = f.recording({.label = "middle", .level = Level::Secondary});
  middle.execute(wrong, Nested);
  middle.end();
  CommandBuffer cmd = f.recording();
  cmd.fill(f.x, 1u);
  {
    auto scope = cmd.label("here");
    cmd.execute(middle, Nested);
  }
  const auto found = f.find(cmd);
  REQUIRE(found.size() == 1);
  CHECK(found[0].message.id == "dispatch-grid-zero");
  CHECK(found[0].message.command == 1);
  CHECK(found[0].message.label == "here");
  CHECK(contains(found[0].message.text, "runs middle"));
  CHECK(contains(found[0].message.text, "runs wrong"));
}

TEST_CASE(
    "validate: a body may read a transient that was written outside, but not an unwritten one") {
  ConditionalRules f;
  const auto t = f.buffer<std::uint32_t>(64, "t", BufferKind::Transient);
  CommandBuffer reader = f.recording({.label = "reader", .level = Level::Secondary});
  reader.copy(t, f.x);
  reader.end();
  CommandBuffer right = f.recording();
  right.fill(t, 1u);
  right.execute(reader, Nested);
  CHECK(f.find(right).empty());
  CommandBuffer wrong = f.recording();
  wrong.execute(reader, Nested);
  const auto found = f.find(wrong);
  REQUIRE(found.size() == 1);
  CHECK(found[0].message.id == "transient-read-before-write");
}

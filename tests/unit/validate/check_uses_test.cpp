// Warnings about work without effect, and what they must not report.
#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include <reprise/graph_op.hpp>

#include "support/contains.hpp"
#include "support/recording_builder.hpp"
#include "unit/record/record_fixture.hpp"
#include "validate/validate.hpp"

using namespace reprise;
using namespace reprise::detail;
using namespace reprise::test;

namespace {

std::vector<Finding> uses_found_in(const Recording& recording,
                                   Validation level = Validation::Full) {
  DeviceInfo info;
  info.limits = {.max_grid = {100, 100, 100},
                 .max_block = {256, 256, 64},
                 .max_block_threads = 256,
                 .max_parameter_bytes = 256,
                 .max_pitch = 4096};
  return validate(recording, info, level);
}

using LocatedIds = std::vector<std::string>;

LocatedIds located_ids_of(const Recording& recording) {
  LocatedIds ids;
  for (const Finding& finding : uses_found_in(recording)) {
    CHECK(finding.message.severity == Severity::Warning);
    ids.push_back(std::string(finding.message.id) + " " +
                  std::to_string(finding.message.command.value()));
  }
  return ids;
}

struct WritingOp {
  GpuRef<float> on;
  [[nodiscard]] std::string_view op_name() const { return "writing"; }
  void declare(GraphOpDeclaration& declaration) const {
    declaration.use(write(on));
    declaration.workspace(64);
  }
  void record(GraphRecordCtx&) const {}
};

}  // namespace

TEST_CASE("validate: transient-never-read names the first command that writes the transient") {
  RecordingBuilder b;
  const auto t = b.add_buffer("t", 64, BufferKind::Transient), x = b.add_buffer("x", 64);
  b.fill(b.write(x));
  b.dispatch("make", {b.read(x), RecordingBuilder::range(Access::Write, t, 0, 32)});
  b.copy(RecordingBuilder::range(Access::Read, x, 0, 32),
         RecordingBuilder::range(Access::Write, t, 32, 64));
  const RecordingPtr recording = b.finish();
  const auto found = uses_found_in(*recording);
  REQUIRE(found.size() == 1);
  CHECK(found[0].message.id == "transient-never-read");
  CHECK(found[0].message.command == 1);
  CHECK(contains(found[0].message.text, "a transient that no command reads"));
  CHECK(uses_found_in(*recording, Validation::Basic).empty());
}

TEST_CASE("validate: transient-never-read spares scratch memory, unneeded results and read ones") {
  RecordingBuilder b;
  const auto scratch = b.add_buffer("scratch", 64, BufferKind::Transient),
             t = b.add_buffer("t", 64, BufferKind::Transient), x = b.add_buffer("x", 64);
  b.dispatch("reduce", {b.write(x), b.write(scratch)});
  b.fill(b.write(t));
  b.copy(RecordingBuilder::range(Access::Read, t, 0, 4),
         RecordingBuilder::range(Access::Write, x, 0, 4));
  CHECK(located_ids_of(*b.finish()) == LocatedIds{});
}

TEST_CASE("validate: dead-write for a write that later commands overwrite completely") {
  RecordingBuilder b;
  const auto x = b.add_buffer("x", 64), y = b.add_buffer("y", 64);
  b.fill(b.write(x));                                           // 0
  b.dispatch("make", {b.read(y), b.write(x)});                  // 1
  b.fill(RecordingBuilder::range(Access::Write, x, 0, 32));     // 2
  b.update(RecordingBuilder::range(Access::Write, x, 32, 64));  // 3
  b.copy(b.read(x), b.write(y));                                // 4
  b.copy(b.read(x), b.write(y));                                // 5
  const RecordingPtr recording = b.finish();
  // A kernel may leave parts of its output unwritten, so command 0 is not reported.
  CHECK(located_ids_of(*recording) == LocatedIds{"dead-write 1", "dead-write 4"});
  const auto found = uses_found_in(*recording);
  CHECK(found[0].message.other_command == 3);
  CHECK(contains(found[0].message.text,
                 "no command reads the bytes that it writes before command 3"));
  CHECK(contains(found[0].message.text, "overwrites them"));
}

TEST_CASE("validate: dead-write spares outputs, partial overwrites and bytes that are read") {
  RecordingBuilder b;
  const auto x = b.add_buffer("x", 64), y = b.add_buffer("y", 64), z = b.add_buffer("z", 64);
  b.fill(b.write(x));
  b.fill(RecordingBuilder::range(Access::Write, x, 0, 60));
  b.fill(b.write(y));
  b.copy(RecordingBuilder::range(Access::Read, y, 60, 64),
         RecordingBuilder::range(Access::Write, z, 0, 4));
  b.fill(b.write(y));
  b.fill(b.write(z));  // the copy's result is dead, but not seen before
  b.dispatch("grow", {b.read_write(z)});
  b.fill(b.rows(Access::Write, z, 0, {.width = 8, .height = 4}, {.row = 16}));
  b.fill(b.rows(Access::Write, z, 0, {.width = 8, .height = 4}, {.row = 16}));
  CHECK(located_ids_of(*b.finish()) == LocatedIds{"dead-write 3"});
}

TEST_CASE("validate: dead-write spares pinned and adopted memory, and user-ordered recordings") {
  RecordingBuilder b;
  const auto pinned = b.add_buffer("pinned", 64, BufferKind::PinnedHost),
             adopted = b.add_buffer("adopted", 64);
  b.recording().buffers[adopted]->is_adopted = true;
  for (const auto buffer : {pinned, adopted}) {
    b.fill(b.write(buffer));
    b.fill(b.write(buffer));
  }
  CHECK(located_ids_of(*b.finish()) == LocatedIds{});

  RecordingBuilder ordered({.ordering = Ordering::Explicit});
  const auto x = ordered.add_buffer("x", 64);
  ordered.fill(ordered.write(x));
  ordered.fill(ordered.write(x));
  ordered.edge(1, 0);
  CHECK(located_ids_of(*ordered.finish()) == LocatedIds{});
}

TEST_CASE("validate: ops and bodies are never reported as work without effect") {
  RecordFixture f;
  const auto t = f.buffer<float>(64, "t", BufferKind::Transient);
  const auto x = f.buffer<float>(64, "x");
  CommandBuffer body = f.recording({.level = Level::Secondary});
  body.fill(t, 1.0f);
  body.fill(x, 1.0f);
  body.end();
  CommandBuffer cmd = f.recording();
  cmd.add(WritingOp{x});
  cmd.fill(x, 2.0f);
  cmd.copy(x, f.buffer<float>(64, "y"));
  cmd.execute(body, Nested);
  cmd.fill(x, 3.0f);
  CHECK(located_ids_of(*frozen(cmd)) == LocatedIds{});
}

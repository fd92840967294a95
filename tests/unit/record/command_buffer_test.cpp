#include <doctest/doctest.h>

#include "base/handle_access.hpp"
#include "unit/record/record_fixture.hpp"

using namespace reprise;
using namespace reprise::test;
using State = CommandBufferState;

namespace {

struct Replay : detail::PendingSource {
  bool pending = true;
  [[nodiscard]] bool is_pending() const noexcept override { return pending; }
};

void check_state_error(const std::function<void()>& call,
                       std::initializer_list<std::string_view> parts,
                       ErrorCode code = ErrorCode::InvalidState) {
  const Error error = thrown_by(call);
  CHECK(error.code() == code);
  const std::string text = error.what();
  for (const std::string_view part : parts) {
    INFO("text: ", text);
    INFO("part: ", std::string(part));
    CHECK(text.find(part) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("command buffer: it has the properties of its description") {
  RecordFixture f;
  const CommandBuffer cmd =
      f.commands({.label = "step", .ordering = Ordering::Explicit, .level = Level::Secondary});
  CHECK(cmd.label() == "step");
  CHECK(cmd.ordering() == Ordering::Explicit);
  CHECK(cmd.level() == Level::Secondary);
  CHECK(cmd.state() == State::Initial);
  CHECK(cmd.command_count() == 0);
}

TEST_CASE("command buffer: begin, end and reset change the state") {
  RecordFixture f;
  CommandBuffer cmd = f.commands({.label = "step", .ordering = Ordering::Linear});
  cmd.begin();
  CHECK(cmd.state() == State::Recording);
  CHECK(detail::core_of(cmd)->recording() == nullptr);
  cmd.host([] {});
  const auto r = frozen(cmd);
  CHECK(cmd.state() == State::Executable);
  CHECK(cmd.command_count() == 1);
  CHECK(r->label == "step");
  CHECK(r->ordering == Ordering::Linear);
  CHECK(r->device == f.status);
  cmd.begin();  // discards the recording
  CHECK(cmd.command_count() == 0);
  cmd.reset();
  CHECK(cmd.state() == State::Initial);
  cmd.reset();
  CHECK(cmd.state() == State::Initial);
  CHECK(r->commands.size() == 1);  // a graph keeps its recording
}

TEST_CASE(
    "command buffer: every method in the wrong state is InvalidState and names method and state") {
  RecordFixture f;
  const auto x = f.buffer<int>(4, "x");
  const Kernel k = f.kernel("k", "");
  const std::byte bytes[4] = {};
  std::vector<int> values(4);
  const CommandBuffer secondary = f.commands({.level = Level::Secondary});
  CommandBuffer cmd = f.commands({.label = "step"});
  const CopyDesc pitched{.extent = {4, 1, 1}, .source = {}, .destination = {}};
  const std::vector<std::pair<std::string, std::function<void()>>> methods{
      {"dispatch", [&] { cmd.dispatch(k, {}); }},
      {"copy", [&] { cmd.copy(x, x); }},
      {"copy", [&] { cmd.copy(snapshot(values), x); }},
      {"copy", [&] { cmd.copy(x, borrowed(values)); }},
      {"copy", [&] { cmd.copy(x, x, pitched); }},
      {"copy", [&] { cmd.copy(snapshot(values), x, pitched); }},
      {"copy", [&] { cmd.copy(x, borrowed(values), pitched); }},
      {"fill", [&] { cmd.fill(x, 1); }},
      {"update", [&] { cmd.update(x, bytes); }},
      {"host", [&] { cmd.host([] {}); }},
      {"barrier", [&] { cmd.barrier(); }},
      {"edge", [&] { cmd.edge({}, {}); }},
      {"begin_label", [&] { cmd.begin_label("a"); }},
      {"begin_label", [&] { auto scope = cmd.label("a"); }},
      {"end_label", [&] { cmd.end_label(); }},
      {"execute", [&] { cmd.execute(secondary); }},
      {"end", [&] { cmd.end(); }},
      {"split", [&] { static_cast<void>(cmd.split(2)); }},
  };
  for (const auto& [name, method] : methods)
    check_state_error(method, {name, "step", "Initial", "begin() it first"});
  cmd.begin();
  cmd.end();
  for (const auto& [name, method] : methods) check_state_error(method, {name, "Executable"});
  cmd.begin();
  check_state_error([&] { cmd.begin(); }, {"begin", "Recording", "end() or reset()"});
}

TEST_CASE(
    "command buffer: it is Pending while one of its graphs is, and then refuses begin and reset") {
  RecordFixture f;
  CommandBuffer cmd = f.recording({.label = "step"});
  cmd.host([] {});
  cmd.end();
  auto replay = std::make_shared<Replay>();
  auto other = std::make_shared<Replay>();
  other->pending = false;
  detail::core_of(cmd)->add_pending_source(other);
  CHECK(cmd.state() == State::Executable);
  detail::core_of(cmd)->add_pending_source(replay);
  CHECK(cmd.state() == State::Pending);
  check_state_error([&] { cmd.begin(); }, {"begin", "step", "Pending", "fences"});
  check_state_error([&] { cmd.reset(); }, {"reset", "Pending", "fences"});
  check_state_error([&] { cmd.end(); }, {"end", "Pending"});
  CHECK(detail::core_of(cmd)->recording()->commands.size() == 1);
  replay->pending = false;
  CHECK(cmd.state() == State::Executable);
  replay->pending = true;
  replay.reset();
  CHECK(cmd.state() == State::Executable);
  cmd.begin();
  CHECK(cmd.state() == State::Recording);
}

TEST_CASE(
    "command buffer: it is Invalid after one of its buffers or kernels becomes stale, until "
    "reset") {
  RecordFixture f;
  const auto x = f.buffer<int>(4, "x");
  CommandBuffer cmd = f.recording({.label = "step"});
  cmd.fill(x, 1);
  cmd.end();
  CHECK(detail::core_of(cmd)->executable("compile") != nullptr);
  detail::core_of(x)->cleared = true;
  CHECK(cmd.state() == State::Invalid);
  check_state_error([&] { cmd.begin(); }, {"begin", "Invalid", "reset()"});
  const Error error =
      thrown_by([&] { static_cast<void>(detail::core_of(cmd)->executable("compile")); });
  CHECK(error.code() == ErrorCode::StaleHandle);
  CHECK(
      std::string(error.what()).find("compile: command buffer step: it names x, which is stale") ==
      0);
  cmd.reset();
  CHECK(cmd.state() == State::Initial);

  CommandBuffer with_kernel = f.recording();
  with_kernel.dispatch(f.kernel("k", ""), {});
  with_kernel.end();
  f.status->mark_lost();
  CHECK(with_kernel.state() == State::Invalid);
  CHECK(thrown_by([&] {
          static_cast<void>(detail::core_of(with_kernel)->executable("compile"));
        }).code() == ErrorCode::StaleHandle);
}

TEST_CASE("command buffer: executable() without a recording is InvalidState") {
  RecordFixture f;
  const CommandBuffer cmd = f.commands({.label = "step"});
  check_state_error([&] { static_cast<void>(detail::core_of(cmd)->executable("compile")); },
                    {"compile", "step", "Initial"});
}

TEST_CASE("command buffer: a buffer counts as recorded while its command buffer can be compiled") {
  RecordFixture f;
  const auto x = f.buffer<int>(4, "x");
  CommandBuffer cmd = f.recording();
  cmd.fill(x, 1);
  cmd.fill(x, 2);
  CHECK(detail::core_of(x)->recorded.load() == 1);
  const auto held_by_graph = frozen(cmd);  // graphs count their own references
  CHECK(detail::core_of(x)->recorded.load() == 1);
  cmd.reset();
  CHECK(detail::core_of(x)->recorded.load() == 0);
  cmd.begin();
  cmd.fill(x, 1);
  CHECK(detail::core_of(x)->recorded.load() == 1);
  cmd.reset();
  CHECK(detail::core_of(x)->recorded.load() == 0);
}

TEST_CASE(
    "command buffer: a recording outlives its command buffer and keeps its buffers and kernels") {
  RecordFixture f;
  std::shared_ptr<const detail::Recording> r;
  std::weak_ptr<detail::BufferCore> buffer;
  std::weak_ptr<const detail::KernelCore> kernel;
  {
    const auto x = f.buffer<int>(4, "x");
    const Kernel k = f.kernel("k", "p");
    buffer = detail::core_of(x);
    kernel = detail::core_of(k);
    CommandBuffer cmd = f.recording();
    cmd.dispatch(k, {}, write(x));
    r = frozen(cmd);
  }
  CHECK(r->command_name(0) == "dispatch k");
  CHECK_FALSE(buffer.expired());
  r.reset();
  CHECK(buffer.expired());
  CHECK(kernel.expired());
}

TEST_CASE(
    "command buffer: rebinding replaces buffers and kernels but not those of existing graphs") {
  RecordFixture f;
  const auto x = f.buffer<int>(4, "x");
  const Kernel k = f.kernel("k", "p");
  CommandBuffer cmd = f.recording();
  cmd.dispatch(k, {}, write(x));
  const auto before = frozen(cmd);
  f.status->mark_lost();
  const auto new_buffer = f.buffer<int>(4, "x");
  const Kernel new_kernel = f.kernel("k", "p");
  detail::core_of(cmd)->rebind([&](const auto&) { return detail::core_of(new_buffer); },
                               [&](const auto&) { return detail::core_of(new_kernel); });
  CHECK(cmd.state() == State::Executable);
  const auto after = detail::core_of(cmd)->recording();
  CHECK(after->buffers[0] == detail::core_of(new_buffer));
  CHECK(after->kernels[0] == detail::core_of(new_kernel));
  CHECK(after->generation == 2);
  CHECK(after->commands[0].payload == before->commands[0].payload);
  CHECK(before->buffers[0] == detail::core_of(x));
  CHECK(detail::core_of(new_buffer)->recorded.load() == 1);
}

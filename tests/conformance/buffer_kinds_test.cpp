// Every call that takes a view, with a buffer of each kind.
#include <map>
#include <optional>

#include <reprise/device_scalar.hpp>
#include <reprise/find_races.hpp>
#include <reprise/graph_op.hpp>
#include <reprise/launch_args.hpp>
#include <reprise/stream_capture.hpp>

#include "conditions.shaders.hpp"
#include "conformance/device_fixture.hpp"
#include "words.shaders.hpp"

namespace reprise::test::buffer_kinds_test {
namespace {

using enum ErrorCode;

// An op that declares an access and does nothing.
struct Declares {
  AccessedView use;
  [[nodiscard]] std::string_view op_name() const noexcept { return "declares"; }
  void declare(GraphOpDeclaration& declaration) const { declaration.use(use); }
  void record(GraphRecordCtx&) const {}
};

// An application type that pushes a view, and a temporary condition or slot.
struct Pushed {
  AccessedView view;
  [[nodiscard]] std::shared_ptr<const void> validate() const { return nullptr; }
  void push(LaunchArgs& args) const { args.push(view); }
};

struct KindsFixture : DeviceFixture {
  Condition condition = device.create_condition({.name = "go"});
  GpuRef<unsigned> other = pool->allocate<unsigned>(1, "other");
  Kernel increase = kernel(shaders::conf_increase);

  [[nodiscard]] BufferView view(BufferKind kind) const {
    switch (kind) {
      case BufferKind::Device: return pool->allocate<unsigned>(1, "device");
      case BufferKind::Transient: return pool->transient<unsigned>(1, "transient");
      case BufferKind::PinnedHost: return pool->host<unsigned>(1, "pinned");
      case BufferKind::Condition: return condition.view();
      case BufferKind::BorrowedHost: break;  // no handle names it
    }
    return {};
  }
  // The code that `record` throws while recording into a new command buffer.
  [[nodiscard]] std::optional<ErrorCode> recording_code(
      const std::function<void(CommandBuffer&)>& record) const {
    CommandBuffer commands = recording();
    return code_or_none([&] { record(commands); });
  }
  [[nodiscard]] static std::optional<ErrorCode> code_or_none(const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.code();
    }
    return std::nullopt;
  }
};

using Expected = std::map<BufferKind, ErrorCode>;  // kinds that are left out are accepted
constexpr BufferKind kKinds[] = {BufferKind::Device, BufferKind::Transient, BufferKind::PinnedHost,
                                 BufferKind::Condition};

struct Verb {
  std::string name;
  Expected refused;
  std::function<std::optional<ErrorCode>(const KindsFixture&, BufferView)> code;
};

Verb recorded(std::string name, Expected refused,
              std::function<void(const KindsFixture&, CommandBuffer&, const BufferView&)> record) {
  return {std::move(name), std::move(refused),
          [record = std::move(record)](const KindsFixture& f, const BufferView& view) {
            return f.recording_code([&](CommandBuffer& commands) { record(f, commands, view); });
          }};
}

Verb called(std::string name, Expected refused,
            std::function<void(const KindsFixture&, BufferView&)> call) {
  return {std::move(name), std::move(refused),
          [call = std::move(call)](const KindsFixture& f, BufferView view) {
            return KindsFixture::code_or_none([&] { call(f, view); });
          }};
}

std::vector<Verb> verbs() {
  const Expected no_condition{{BufferKind::Condition, InvalidArgument}};
  const Expected no_argument{{BufferKind::Condition, ArgumentSize}};
  const Expected persistent{{BufferKind::Transient, Unsupported},
                            {BufferKind::Condition, Unsupported}};
  static constexpr unsigned kWord[] = {1};
  return {
      recorded("copy from", no_condition,
               [](const auto& f, auto& c, const auto& v) { c.copy(v, f.other); }),
      recorded("copy to", no_condition,
               [](const auto& f, auto& c, const auto& v) { c.copy(f.other, v); }),
      recorded("copy a snapshot to", no_condition,
               [](const auto&, auto& c, const auto& v) {
                 c.copy(snapshot(std::span<const unsigned>(kWord)), v);
               }),
      recorded("copy rows from", no_condition,
               [](const auto& f, auto& c, const auto& v) {
                 c.copy(v, f.other, {.extent = {1, 2, 1}, .source = {2}, .destination = {2}});
               }),
      recorded("fill_bits", no_condition,
               [](const auto&, auto& c, const auto& v) {
                 c.fill_bits(v, 1, 4, {4, 1, 1}, {});
               }),
      recorded("update", no_condition,
               [](const auto&, auto& c, const auto& v) {
                 c.update(v, std::as_bytes(std::span(kWord)));
               }),
      recorded("host", no_condition,
               [](const auto&, auto& c, const auto& v) { c.host([] {}, {read_write(v)}); }),
      recorded("add", no_condition,
               [](const auto&, auto& c, const auto& v) { c.add(Declares{read(v)}); }),
      recorded("barrier", {},
               [](const auto&, auto& c, const auto& v) { c.barrier({.buffer = v}); }),
      recorded("dispatch", no_argument,
               [](const auto& f, auto& c, const auto& v) {
                 c.dispatch(f.increase, {}, read_write(v), 1u, 1u);
               }),
      recorded("dispatch of pushed arguments", no_argument,
               [](const auto& f, auto& c, const auto& v) {
                 c.dispatch(f.increase, {}, Pushed{read_write(v)}, 1u, 1u);
               }),
      recorded("dispatch for a reprise_condition",
               {{BufferKind::Device, ArgumentSize},
                {BufferKind::Transient, ArgumentSize},
                {BufferKind::PinnedHost, ArgumentSize}},
               [](const auto& f, auto& c, const auto& v) {
                 c.dispatch(f.kernel(shaders::conf_decide), {}, read(f.other), write(v));
               }),
      called("record_kernel", no_argument,
             [](const auto& f, auto& v) {
               StreamCapture capture = StreamCapture::begin(f.device.create_queue());
               capture.record_kernel(f.increase, {}, v, 1u, 1u);
             }),
      called("data", persistent, [](const auto&, auto& v) { static_cast<void>(v.data()); }),
      called("raw_device_ptr", persistent,
             [](const auto&, auto& v) { static_cast<void>(v.raw_device_ptr()); }),
      called("record_write", persistent, [](const auto& f, auto& v) { v.record_write(f.queue); }),
      called("record_write of a fence", persistent,
             [](const auto&, auto& v) { v.record_write(Fence()); }),
      called("last_write_stream", persistent,
             [](const auto&, auto& v) { static_cast<void>(v.last_write_stream()); }),
      called("DeviceScalar::set",
             {{BufferKind::Transient, Unsupported},
              {BufferKind::PinnedHost, InvalidArgument},
              {BufferKind::Condition, Unsupported}},
             [](const auto& f, auto& v) {
               DeviceScalar<unsigned> scalar(*f.pool, f.queue, 0u);
               static_cast<GpuRef<unsigned>&>(scalar) = GpuRef<unsigned>(v);
               scalar.set(7u);
               f.queue.wait_idle();
             }),
      called("rebind",
             {{BufferKind::Transient, InvalidArgument}, {BufferKind::Condition, InvalidArgument}},
             [](const auto& f, auto& v) {
               CommandBuffer body = f.device.create_command_buffer({.level = Level::Secondary});
               body.begin();
               body.fill(f.other, 1u);
               body.end();
               CommandBuffer commands = f.recording();
               if (v.kind() == BufferKind::Condition) {
                 commands.dispatch(f.kernel(shaders::conf_decide), {}, read(f.other), f.condition);
                 commands.execute_if(f.condition, body);
               } else {
                 commands.fill_bits(v, 1, 4, {4, 1, 1}, {});
                 commands.copy(v, f.other);
               }
               CapturedGraph graph = f.compile(commands);
               static_cast<void>(graph.rebind(v, f.view(v.kind())));
             }),
      called("find_races, ignored", {},
             [](const auto& f, auto& v) {
               CommandBuffer commands = f.recording();
               commands.fill(f.other, 1u);
               commands.end();
               static_cast<void>(find_races(commands, {.runs = 1, .ignore = {v}}));
             }),
  };
}

}  // namespace

TEST_CASE_FIXTURE(KindsFixture,
                  "buffer kinds: each call accepts a kind or refuses it with the documented code") {
  for (const Verb& verb : verbs()) {
    for (const BufferKind kind : kKinds) {
      INFO(verb.name, " of a buffer of kind ", std::string(to_string(kind)));
      const std::optional<ErrorCode> code = verb.code(*this, view(kind));
      const auto refused = verb.refused.find(kind);
      CHECK(std::string(code ? to_string(*code) : "accepted") ==
            std::string(refused != verb.refused.end() ? to_string(refused->second) : "accepted"));
    }
  }
}

TEST_CASE_FIXTURE(KindsFixture,
                  "buffer kinds: a refused condition is named, with the way to set it") {
  CommandBuffer commands = recording();
  check_refused(ErrorCode::InvalidArgument,
                {"copy", "the destination go is a condition", "reprise_condition"},
                [&] { commands.copy(other, condition.view()); });
  check_refused(ErrorCode::InvalidArgument, {"add", "buffer of op declares", "go is a condition"},
                [&] { commands.add(Declares{read(condition.view())}); });
  check_refused(ErrorCode::Unsupported, {"record_write of go, a condition"}, [&] {
    BufferView view = condition.view();
    view.record_write(queue);
  });
}

TEST_CASE_FIXTURE(KindsFixture, "buffer kinds: a pool allocates no conditions and no borrowed memory") {
  const auto allocate = [&](BufferKind kind, PerReplica replicas) {
    static_cast<void>(pool->allocate_bytes(kind, 10, 4, 4, "x", replicas));
  };
  check_refused(ErrorCode::InvalidArgument, {"test", "a condition", "x", "create_condition"},
                [&] { allocate(BufferKind::Condition, {}); });
  check_refused(ErrorCode::InvalidArgument, {"test", "borrowed memory", "x", "PinnedHost"},
                [&] { allocate(BufferKind::BorrowedHost, {}); });
  check_refused(ErrorCode::InvalidArgument, {"kind", "9"},
                [&] { allocate(static_cast<BufferKind>(9), {}); });
  check_refused(ErrorCode::InvalidArgument, {"transient of 2 copies", "x", "omit PerReplica"},
                [&] { allocate(BufferKind::Transient, {2}); });
  allocate(BufferKind::Transient, {1});
  check_refused(ErrorCode::InvalidArgument, {"alignment", "1099511627776"}, [&] {
    static_cast<void>(pool->allocate_bytes(BufferKind::Device, 10, 4, std::uint64_t{1} << 40, "x"));
  });
}

TEST_CASE_FIXTURE(KindsFixture,
                  "buffer kinds: pushed conditions and slots outlive the objects of the caller") {
  struct Deciding {
    KindsFixture* f;
    [[nodiscard]] std::shared_ptr<const void> validate() const { return nullptr; }
    void push(LaunchArgs& args) const {
      args.push(read(f->other));
      const Condition copy = f->condition;
      args.push(copy);
    }
  };
  struct Sloted {
    KindsFixture* f;
    [[nodiscard]] std::shared_ptr<const void> validate() const { return nullptr; }
    void push(LaunchArgs& args) const {
      args.push(read_write(f->other));
      const std::string name = "a name of a slot that is long enough for the heap";
      args.push(slot(name, 5u));
      args.push(1u);
    }
  };
  CommandBuffer body = device.create_command_buffer({.level = Level::Secondary});
  body.begin();
  body.dispatch(increase, {}, Sloted{this});
  body.end();
  CommandBuffer commands = recording();
  commands.fill(other, 1u);
  commands.dispatch(kernel(shaders::conf_decide), {}, Deciding{this});
  commands.execute_if(condition, body);
  CapturedGraph graph = compile(commands);
  graph.launch(queue).wait();
  CHECK(values(other) == std::vector<unsigned>{6});
  graph.scalar<unsigned>("a name of a slot that is long enough for the heap").set(2);
  graph.launch(queue).wait();
  CHECK(values(other) == std::vector<unsigned>{3});
}

}  // namespace reprise::test::buffer_kinds_test

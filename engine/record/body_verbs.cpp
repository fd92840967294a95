// RecorderCore::nested and conditional, which record a whole recording as one command.
#include <algorithm>
#include <unordered_map>
#include <vector>

#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "record/payload.hpp"
#include "record/recorder_core.hpp"

namespace reprise::detail {

namespace {

// Name of the first command of `recording` or of its bodies that satisfies `is_wanted`; empty if
// there is none.
template <class Predicate>
std::string first_command(const Recording& recording, const Predicate& is_wanted) {
  std::uint32_t command = 0;
  const Recording* const found = find_recording(recording, [&](const Recording& in) {
    command = 0;
    while (command < in.commands.size() && !is_wanted(in, command)) ++command;
    return command < in.commands.size();
  });
  return found == nullptr ? std::string() : found->command_name(command);
}

bool is_conditional(const Recording& recording, std::uint32_t command) {
  return recording.commands[command].kind == CommandKind::Conditional;
}
bool is_callback(const Recording& recording, std::uint32_t command) {
  return recording.commands[command].kind == CommandKind::Host;
}

bool copies_borrowed(const Recording& recording, std::uint32_t command) {
  if (recording.commands[command].kind != CommandKind::Copy) return false;
  const auto& copy = recording.payload<CopyPayload>(command);
  return copy.source.is_borrowed() || copy.destination.is_borrowed();
}

bool sets(const Recording& recording, const BufferCore* condition) {
  return std::any_of(
      recording.accesses.begin(), recording.accesses.end(), [&](const BufferAccess& access) {
        return writes(access.access) && recording.buffers[access.buffer].get() == condition;
      });
}

// The accesses of a command that runs whole recordings: for each buffer, one range that bounds all
// accesses of the bodies.
class BodyAccesses {
 public:
  void add(std::uint32_t buffer, const BufferAccess& access, BufferKind kind) {
    const auto [entry, is_new] = index_of_.try_emplace(buffer, list_.size());
    if (is_new) {
      list_.push_back({buffer, access.access, 0, access.begin, access.end});
      return;
    }
    BufferAccess& known = list_[entry->second];
    known.begin = std::min(known.begin, access.begin);
    known.end = std::max(known.end, access.end);
    // A transient that the body writes first needs no content from outside. A write already
    // conflicts with every access.
    if (kind == BufferKind::Transient && known.access == Access::Write) return;
    known.access =
        static_cast<Access>(static_cast<int>(known.access) | static_cast<int>(access.access));
  }
  void add(const Recording& recording, const Body& body) {
    for (const BufferAccess& access : recording.accesses) {
      add(body.buffers[access.buffer], access, recording.buffers[access.buffer]->kind);
    }
  }
  [[nodiscard]] const std::vector<BufferAccess>& list() const noexcept { return list_; }

 private:
  std::vector<BufferAccess> list_;
  std::unordered_map<std::uint32_t, std::size_t> index_of_;  // buffer -> position in list_
};

}  // namespace

void RecorderCore::check_nested(const Verb& verb, const Recording& secondary) const {
  check_secondary(verb, secondary);
  if (secondary.nesting < Recorder::kMaxNesting) return;
  fail(verb, ErrorCode::InvalidArgument,
       concat("secondary ", secondary.label, " contains ", secondary.nesting,
              " levels of secondaries that commands execute, and at most ", Recorder::kMaxNesting,
              " may lie below a command buffer; inline some with execute()"));
}

Body RecorderCore::add_body(const std::shared_ptr<const Recording>& body) {
  auto* const buffers = lists_.arena->make_array<std::uint32_t>(body->buffers.size());
  for (std::size_t i = 0; i < body->buffers.size(); ++i) buffers[i] = intern(body->buffers[i]);
  lists_.bodies.push_back(body);
  return {static_cast<std::uint32_t>(lists_.bodies.size() - 1),
          static_cast<std::uint32_t>(body->buffers.size()), buffers};
}

CommandRef RecorderCore::nested(const std::shared_ptr<const Recording>& secondary,
                                SourceLocation where) {
  const Verb verb{"execute", where};
  require_recording(verb);
  check_nested(verb, *secondary);
  if (const std::string found = first_command(*secondary, is_conditional); !found.empty()) {
    fail(verb, ErrorCode::Unsupported,
         concat("secondary ", secondary->label, " holds a conditional (", found,
                "), which a nested graph does not support; omit Nested to inline its commands"));
  }
  const NestedPayload* payload = nullptr;
  std::uint32_t access_count = 0;
  transact(1, [&](Arena& arena) {
    const Body body = add_body(secondary);
    BodyAccesses accesses;
    accesses.add(*secondary, body);
    access_count = static_cast<std::uint32_t>(accesses.list().size());
    if (access_count != 0)
      std::copy(accesses.list().begin(), accesses.list().end(),
                lists_.accesses.reserve(arena, access_count));
    payload = arena.make<NestedPayload>(body);
  });
  return commit(CommandKind::Nested, payload, access_count, where);
}

void RecorderCore::check_condition(const Verb& verb, const BufferView& condition) const {
  const BufferCore* const core = core_of(condition).get();
  if (core == nullptr) {
    fail(verb, ErrorCode::NotInitialized,
         "the Condition is empty; create one with Device::create_condition");
  }
  if (core->device.get() != device_) {
    fail(verb, ErrorCode::WrongDevice,
         concat("condition ", display_name(*core), " belongs to ",
                name_beside(*core->device, *device_), ", and this command buffer records for ",
                family_->device->selector));
  }
  if (core->is_stale()) fail_view(verb, condition, "condition");
}

void RecorderCore::check_body(const Verb& verb, const Decision& decision,
                              const Recording& body) const {
  check_nested(verb, body);
  if (const std::string found = first_command(body, is_callback); !found.empty()) {
    fail(verb, ErrorCode::Unsupported,
         concat("secondary ", body.label, " holds a ", found,
                "; a body of a conditional cannot contain one. Record it before or after"));
  }
  if (const std::string found = first_command(body, copies_borrowed); !found.empty()) {
    fail(verb, ErrorCode::Unsupported,
         concat("secondary ", body.label, " copies borrowed host memory (", found,
                "), which a conditional cannot access. Use a buffer of CapturePool::host, or copy "
                "before or after"));
  }
  if (decision.branch == Branch::While && decision.max_iterations == 0 &&
      !sets(body, core_of(*decision.condition).get())) {
    fail(verb, ErrorCode::InvalidArgument,
         concat(
             "no command of secondary ", body.label, " sets condition ", decision.condition->name(),
             ": the loop would never end. Set it in a kernel of the body, or set .max_iterations"));
  }
}

CommandRef RecorderCore::conditional(const Decision& decision,
                                     std::span<const std::shared_ptr<const Recording>> bodies,
                                     SourceLocation where) {
  const std::string name = concat("execute_", to_string(decision.branch));
  const Verb verb{name, where};
  require_recording(verb);
  check_condition(verb, *decision.condition);
  if (bodies.empty())
    fail(verb, ErrorCode::InvalidArgument, "there is no case; pass a secondary for each");
  for (const auto& body : bodies) check_body(verb, decision, *body);

  const ConditionalPayload* payload = nullptr;
  std::uint32_t access_count = 0;
  transact(1, [&](Arena& arena) {
    const std::uint32_t condition = intern(core_of(*decision.condition));
    auto* const list = arena.make_array<Body>(bodies.size());
    BodyAccesses accesses;
    accesses.add(condition, {condition, Access::Read, 0, 0, decision.condition->bytes()},
                 BufferKind::Condition);
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      list[i] = add_body(bodies[i]);
      accesses.add(*bodies[i], list[i]);
    }
    access_count = static_cast<std::uint32_t>(accesses.list().size());
    std::copy(accesses.list().begin(), accesses.list().end(),
              lists_.accesses.reserve(arena, access_count));
    payload = arena.make<ConditionalPayload>(decision.branch, condition,
                                             static_cast<std::uint32_t>(bodies.size()), list,
                                             decision.max_iterations);
  });
  return commit(CommandKind::Conditional, payload, access_count, where);
}

}  // namespace reprise::detail

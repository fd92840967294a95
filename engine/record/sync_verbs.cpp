// RecorderCore: host callbacks, barriers, edges and labels.
#include <algorithm>
#include <utility>

#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "record/recorder_core.hpp"

namespace reprise::detail {

namespace {

constexpr std::uint64_t ticket_of(std::uint32_t recorder, std::uint32_t label) {
  return (std::uint64_t{recorder} << 32) | label;
}

}  // namespace

void RecorderCore::check_access(const Verb& verb, const AccessedView& access,
                                std::string_view role) const {
  check_memory(verb, access.view, role);
  if (access.access < Access::Read || access.access > Access::ReadWrite) [[unlikely]]
    check_enumerator(verb, concat("the access of the ", role), access.access);
}

CommandRef RecorderCore::host(std::function<void()> function,
                              std::span<const AccessedView> accesses, SourceLocation where) {
  const Verb verb{"host", where};
  require_recording(verb);
  if (!function) fail(verb, ErrorCode::InvalidArgument, "the function is empty; pass a callable");
  if (accesses.data() == nullptr && !accesses.empty()) {
    fail(verb, ErrorCode::InvalidArgument, concat(accesses.size(), " accesses at a null address"));
  }
  for (const AccessedView& access : accesses) check_access(verb, access, "accessed buffer");

  const HostPayload* payload = nullptr;
  std::uint32_t access_count = 0;
  transact(1, [&](Arena& arena) {
    BufferAccess* const reserved =
        lists_.accesses.reserve(arena, static_cast<std::uint32_t>(accesses.size()));
    for (const AccessedView& access : accesses) {
      if (access.view.bytes() == 0) continue;
      const std::uint64_t begin = access.view.offset();
      reserved[access_count++] = {intern(core_of(access.view)), access.access, 0, begin,
                                  begin + access.view.bytes()};
    }
    payload = arena.make<HostPayload>(static_cast<std::uint32_t>(lists_.functions.size()));
    lists_.functions.push_back(std::make_shared<const std::function<void()>>(std::move(function)));
  });
  return commit(CommandKind::Host, payload, access_count, where);
}

void RecorderCore::barrier(const BarrierDesc& desc, SourceLocation where) {
  const Verb verb{"barrier", where};
  require_recording(verb);
  if (desc.buffer) check_view(verb, desc.buffer, "buffer");
  check_enumerator(verb, ".before", desc.before);
  check_enumerator(verb, ".after", desc.after);
  check_enumerator(verb, ".dependency", desc.dependency);

  const BarrierPayload* payload = nullptr;
  transact(1, [&](Arena& arena) {
    BarrierPayload barrier;
    barrier.before = desc.before;
    barrier.after = desc.after;
    barrier.dependency = desc.dependency;
    if (desc.buffer) {
      barrier.buffer = intern(core_of(desc.buffer));
      barrier.begin = desc.buffer.offset();
      barrier.end = desc.buffer.offset() + desc.buffer.bytes();
    }
    payload = arena.make<BarrierPayload>(barrier);
  });
  commit(CommandKind::Barrier, payload, 0, where);
}

bool RecorderCore::inlines(const CommandRef& ref) const noexcept {
  return std::any_of(lists_.inlined.begin(), lists_.inlined.end(), [&](const RecordedRun& run) {
    return run.recorder == ref.recorder && ref.index - run.first < run.count;
  });
}

void RecorderCore::edge(CommandRef before, CommandRef after, Dependency dependency,
                        SourceLocation where) {
  const Verb verb{"edge", where};
  require_recording(verb);
  const auto check = [&](const CommandRef& ref, std::string_view role) {
    const bool known = ref.recorder == lists_.recorder
                           ? ref.index < lists_.commands.size()
                           : ref.index != kNone && (family_->owns(ref.recorder) || inlines(ref));
    if (known) return;
    fail(verb, ErrorCode::InvalidArgument,
         concat("`", role, "` is not a command of this recording of ", family_->label,
                "; pass a CommandRef returned since begin(), or of a secondary that this recorder "
                "has inlined"));
  };
  check(before, "before");
  check(after, "after");
  check_enumerator(verb, "`dependency`", dependency);
  if (before.recorder == after.recorder && before.index == after.index) {
    fail(verb, ErrorCode::CyclicDependency,
         concat("command ", before.index, " would wait for itself"));
  }
  LocalEdge* const edge = lists_.edges.reserve(*lists_.arena, 1);
  *edge = {before, after, where, dependency};
  lists_.edges.commit(1);
}

std::uint64_t RecorderCore::begin_label(std::string_view name, Color color) {
  const Verb verb{"begin_label", {}};
  require_recording(verb);
  if (name.empty())
    fail(verb, ErrorCode::InvalidArgument, "the name of the label is empty; pass a name");
  const std::uint32_t depth = label_->depth + 1;
  check_label_depth(verb, name, depth);
  Arena& arena = *lists_.arena;
  const std::string_view stored(
      reinterpret_cast<const char*>(arena.copy_bytes(name.data(), name.size(), 1)), name.size());
  LocalLabel* const label = lists_.labels.reserve(arena, 1);
  RecordObserver* const observer = family_->observer.get();
  *label = {label_, stored,
            color,  lists_.labels.size(),
            depth,  observer == nullptr ? 0 : observer->label_began(stored)};
  lists_.labels.commit(1);
  label_ = label;
  return ticket_of(lists_.recorder, label->index);
}

void RecorderCore::fail_label_depth(const Verb& verb, std::string_view label) const {
  fail(verb, ErrorCode::InvalidArgument,
       concat("label ", label, " exceeds the limit of ", Recorder::kMaxLabels,
              " nested labels; end_label() some first"));
}

void RecorderCore::end_label() {
  const Verb verb{"end_label", {}};
  require_recording(verb);
  if (!has_open_label())
    fail(verb, ErrorCode::InvalidState,
         "no label is open here; each end_label() closes one begin_label()");
  leave_label();
}

void RecorderCore::close_label(std::uint64_t ticket) noexcept {
  if (has_open_label() && ticket == ticket_of(lists_.recorder, label_->index)) leave_label();
}

}  // namespace reprise::detail

// Rebinding: replaces recorded buffers of a replica.
#include "runtime/graph/graph_update.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/graph/buffer_attach_transaction.hpp"
#include "runtime/graph/graph_update_report.hpp"

namespace reprise::detail {
namespace {

std::string_view kind_name(BufferKind kind) {
  switch (kind) {
    case BufferKind::Device: return "device memory";
    case BufferKind::PinnedHost: return "pinned host memory";
    case BufferKind::Transient: return "a transient";
    case BufferKind::Condition: return "a condition";
    case BufferKind::BorrowedHost: return "borrowed host memory";
  }
  return "?";
}

struct Span {
  const std::byte* begin;
  const std::byte* end;
  Access access;
  std::uint32_t index;  // in the recording
  [[nodiscard]] bool conflicts(const Span& other) const {
    return begin < other.end && other.begin < end && (writes(access) || writes(other.access));
  }
};

// True if the recording's order takes the buffers' common bytes into account.
bool are_recorded_so(const Recording& recording, const Span& a, const Span& b) {
  if (recording.places.empty()) return false;
  const MemoryPlace &x = recording.places[a.index], &y = recording.places[b.index];
  return x.memory == y.memory && a.begin - x.offset == b.begin - y.offset;
}

// The use of a buffer by its index in the recording, or end(). `uses` are ordered by index.
template <typename Uses>
auto find_use(Uses& uses, std::uint32_t index) {
  const auto found = std::lower_bound(
      uses.begin(), uses.end(), index,
      [](const BufferUse& use, std::uint32_t wanted) { return use.index < wanted; });
  return found != uses.end() && found->index == index ? found : uses.end();
}

// A requested binding that differs from the current one.
struct NewBinding {
  BufferUse use;
  std::byte* address;
};

// Checks one binding against the recording and the replica.
class BindingCheck {
 public:
  BindingCheck(GraphReplica& replica, BindingState& state, const BufferBinding& binding)
      : replica_(replica), state_(state), binding_(binding) {
    if (!binding.recorded || !binding.buffer)
      refuse(ErrorCode::NotInitialized, "the recorded or the new buffer is empty");
  }

  // Empty if `addresses`, by index in the recording, contain the buffer already.
  [[nodiscard]] std::optional<NewBinding> run(const std::vector<std::byte*>& addresses) {
    const Plan& plan = *replica_.executable().plan();
    const BufferCore& from = *core_of(binding_.recorded);
    const std::shared_ptr<BufferCore>& copy =
        copy_for(core_of(binding_.buffer), replica_.index().number);
    const BufferCore& to = *copy;
    const std::uint32_t index = state_.index_of(&from);
    if (index == kNone) refuse(ErrorCode::InvalidArgument, "no command of the graph uses it");
    require_copies(to, index);
    require_kind(from, to);
    if (to.device != from.device)
      refuse(ErrorCode::WrongDevice,
             concat(display_name(to), " belongs to ", name_beside(*to.device, *from.device)));
    if (to.is_stale()) refuse(ErrorCode::StaleHandle, concat(display_name(to), " is stale"));
    if (binding_.buffer.bytes() < from.bytes) {
      refuse(ErrorCode::OutOfRange, concat(display_name(to), " has ", binding_.buffer.bytes(),
                                           " bytes, and the recorded buffer has ", from.bytes));
    }
    std::byte* const address = to.address + binding_.buffer.offset();
    if (reinterpret_cast<std::uintptr_t>(address) % from.alignment != 0) {
      refuse(ErrorCode::InvalidArgument, concat("the view of ", display_name(to),
                                                " is not aligned to ", from.alignment, " bytes"));
    }
    if (addresses[index] == address) return std::nullopt;
    for (const std::uint32_t node : state_.nodes_of_buffer(index)) {
      const std::uint32_t command = plan.command_of(node);
      if (plan.recording->commands[command].kind == CommandKind::Host) {
        refuse(ErrorCode::Unsupported,
               concat("command ", command, ", ", plan.recording->command_name(command),
                      ", is a function that captured the recorded buffer"));
      }
    }
    const Access access = find_use(replica_.uses(), index)->access;
    return NewBinding{{PoolBuffer::of(copy), access, index}, address};
  }

  [[noreturn]] void refuse(ErrorCode code, const std::string& text) const {
    const std::string name =
        binding_.recorded ? display_name(*core_of(binding_.recorded)) : "an empty buffer";
    fail(code, Stage::Launch, replica_.label(),
         concat("rebind of ", name, " in graph ", replica_.label(), ": ", text));
  }

 private:
  void require_copies(const BufferCore& to, std::uint32_t index) const {
    const std::uint32_t copies = binding_.buffer.replicas(), replicas = replica_.index().count;
    if (copies >= replicas) return;
    const auto use = find_use(replica_.uses(), index);
    if (copies == 1 && (use == replica_.uses().end() || !writes(use->access))) return;
    refuse(ErrorCode::NotPerReplica,
           concat(display_name(to), " has ", copies, " of the ", replicas,
                  " copies that the graph's replicas ", copies > 1 ? "use" : "write"));
  }
  void require_kind(const BufferCore& from, const BufferCore& to) const {
    if (from.kind == BufferKind::Transient || from.kind == BufferKind::Condition ||
        to.kind != from.kind) {
      refuse(ErrorCode::InvalidArgument,
             concat(kind_name(to.kind), " cannot replace ", kind_name(from.kind)));
    }
    if (binding_.recorded.offset() != 0 || binding_.recorded.bytes() != from.bytes) {
      refuse(ErrorCode::InvalidArgument,
             "the view is a part of a buffer; a binding replaces a whole buffer");
    }
  }

  GraphReplica& replica_;
  BindingState& state_;
  const BufferBinding& binding_;
};

// Throws Overlap if buffers at `addresses`, by index in the recording, share bytes that a command
// writes and for which the commands are not ordered.
void require_no_overlap(const GraphReplica& replica, const std::vector<std::byte*>& addresses) {
  const Recording& recording = *replica.executable().plan()->recording;
  std::vector<Span> spans;
  for (const BufferUse& use : replica.uses()) {
    if (use.index != kNone)
      spans.push_back({addresses[use.index],
                       addresses[use.index] + recording.buffers[use.index]->bytes, use.access,
                       use.index});
  }
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.begin < b.begin; });
  const std::byte* end = nullptr;  // of the spans before i
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (spans[i].begin < end) {
      const auto known = spans.begin() + static_cast<std::ptrdiff_t>(i);
      const auto clash = std::find_if(spans.begin(), known, [&](const Span& s) {
        return s.conflicts(spans[i]) && !are_recorded_so(recording, s, spans[i]);
      });
      if (clash != known) {
        fail(ErrorCode::Overlap, Stage::Launch, replica.label(),
             concat("rebind in graph ", replica.label(), ": the recorded buffers ",
                    display_name(*recording.buffers[clash->index]), " and ",
                    display_name(*recording.buffers[spans[i].index]),
                    ", one of which is written, would share bytes, and its commands are not "
                    "ordered for that"));
      }
    }
    end = std::max(end, spans[i].end);
  }
}

// The bindings that differ from the current ones. Updates `addresses`. Under order().
std::vector<BufferUse> find_new_bindings(GraphReplica& replica, BindingState& state,
                                         std::span<const BufferBinding> bindings,
                                         std::vector<std::byte*>& addresses) {
  std::vector<BufferUse> changed;
  for (const BufferBinding& binding : bindings) {
    BindingCheck check(replica, state, binding);
    std::optional<NewBinding> next = check.run(addresses);
    if (!next) continue;
    const bool is_repeated = std::any_of(changed.begin(), changed.end(), [&](const BufferUse& u) {
      return u.index == next->use.index;
    });
    if (is_repeated) check.refuse(ErrorCode::InvalidArgument, "it is named twice");
    addresses[next->use.index] = next->address;
    changed.push_back(std::move(next->use));
  }
  if (!changed.empty()) require_no_overlap(replica, addresses);
  return changed;
}

// Sets the nodes of all `uses`, or of none.
ExecUpdate set_buffers(GraphExecutable& executable, const std::vector<BufferUse>& uses,
                       const std::vector<std::byte*>& addresses, std::uint32_t& nodes) {
  BindingState& state = executable.bindings;
  const auto set = [&](const BufferUse& use, std::byte* address) {
    return executable.exec->change(BindingChange{.what = BindingChange::What::Buffer,
                                                 .index = use.index,
                                                 .address = address,
                                                 .nodes = state.nodes_of_buffer(use.index)});
  };
  std::size_t done = 0;
  const auto restore = [&] {
    while (done > 0) {
      --done;
      static_cast<void>(set(uses[done], state.current().address[uses[done].index]));
    }
    nodes = 0;
  };
  try {
    for (; done < uses.size(); ++done) {
      ExecUpdate result = set(uses[done], addresses[uses[done].index]);
      if (!result.done()) {
        restore();
        return result;
      }
      nodes += static_cast<std::uint32_t>(state.nodes_of_buffer(uses[done].index).size());
    }
  } catch (...) {  // no memory
    restore();
    throw;
  }
  for (const BufferUse& use : uses) {
    state.record(
        {.what = BindingChange::What::Buffer, .index = use.index, .address = addresses[use.index]});
  }
  return {};
}

}  // namespace

UpdateReport rebind(GraphReplica& replica, std::span<const BufferBinding> bindings,
                    const UpdateDesc& desc) {
  const UpdateClock clock;
  UpdateReport report;
  replica.require_updatable("rebind");
  const ResidencyPin pin(replica);
  std::lock_guard order(replica.device()->order());
  std::vector<std::byte*> addresses;
  std::vector<BufferUse> changed;
  {
    const GraphReplica::Edit edit(replica);
    addresses = edit.executable().bindings.current().address;
    changed = find_new_bindings(replica, edit.executable().bindings, bindings, addresses);
  }
  BufferAttachTransaction added(replica, std::move(changed));
  if (added.uses().empty()) {
    report.time = clock.elapsed();
    return report;
  }
  std::vector<BufferUse> replaced;
  replaced.reserve(added.uses().size());
  QueuePoint last;
  {
    const GraphReplica::Edit edit(replica);
    ExecUpdate result{.outcome = GraphExecUpdateOutcome::NotSupported};
    if (desc.first <= UpdateMethod::Nodes) {
      result = set_buffers(edit.executable(), added.uses(), addresses, report.nodes);
      if (!result.done()) report_refusal(result, *edit.executable().plan(), report);
    }
    if (result.done()) {
      report.method = UpdateMethod::Nodes;
    } else if (desc.last == UpdateMethod::Reinstantiated) {
      Bindings next = edit.executable().bindings.current();
      next.address = std::move(addresses);
      edit.replace_executable(
          GraphExecutable::instantiate(edit.executable().spec(), {}, std::move(next)),
          GraphReplica::Edit::Upload::Needed);
      report.method = UpdateMethod::Reinstantiated;
      report.nodes = static_cast<std::uint32_t>(edit.executable().plan()->lowered.nodes.size());
    }
    if (report.method != UpdateMethod::Unchanged) {
      std::vector<BufferUse>& uses = edit.uses();
      for (const BufferUse& use : added.uses()) {
        replaced.push_back(std::exchange(*find_use(uses, use.index), use));
      }
      added.commit();
    }
    last = edit.executable().last;
  }
  for (const BufferUse& use : replaced) use.buffer->detach(replica, use.access, last);
  report.time = clock.elapsed();
  trace_update_report(replica, report);
  return report;
}

}  // namespace reprise::detail

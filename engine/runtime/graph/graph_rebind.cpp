// GraphCore::rebind: other buffers in the place of recorded ones.
#include <algorithm>
#include <mutex>

#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/graph/buffer_attach.hpp"
#include "runtime/graph/graph_core.hpp"
#include "runtime/graph/graph_update_report.hpp"

namespace reprise::detail {
namespace {

std::string_view kind_name(BufferKind kind) {
  switch (kind) {
    case BufferKind::Device: return "device memory";
    case BufferKind::PinnedHost: return "pinned host memory";
    case BufferKind::Transient: return "a transient";
    case BufferKind::Condition: return "a condition";
  }
  return "?";
}

struct Span {
  const std::byte* begin;
  const std::byte* end;
  Access access;
  [[nodiscard]] bool conflicts(const Span& other) const {
    return begin < other.end && other.begin < end && (writes(access) || writes(other.access));
  }
};

}  // namespace

// What is different from now, with the addresses it leads to.
std::vector<GraphCore::Use> GraphCore::checked_bindings(std::span<const BufferBinding> bindings,
                                                        std::vector<std::byte*>& addresses) {
  const Recording& recording = *body_->plan->recording;
  BindingState& journal = body_->journal;
  std::vector<Use> changed;
  for (const BufferBinding& binding : bindings) {
    const auto refuse = [&](ErrorCode code, const std::string& text) {
      const std::string name =
          binding.recorded ? display_name(*core_of(binding.recorded)) : "an empty buffer";
      fail(code, Stage::Launch, label(),
           concat("rebind of ", name, " in graph ", label(), ": ", text));
    };
    if (!binding.recorded || !binding.buffer)
      refuse(ErrorCode::NotInitialized, "the recorded or the new buffer is empty");
    const BufferCore& from = *core_of(binding.recorded);
    const std::shared_ptr<BufferCore>& copy = copy_for(core_of(binding.buffer), instance_.number);
    const BufferCore& to = *copy;
    const std::uint32_t index = journal.index_of(&from);
    if (index == kNone) refuse(ErrorCode::InvalidArgument, "no command of the graph uses it");
    const auto use = [&] {
      return std::find_if(uses_.begin(), uses_.end(),
                          [&](const Use& u) { return u.index == index; });
    };
    const auto is_written = [&] {
      const auto found = use();
      return found != uses_.end() && writes(found->access);
    };
    const std::uint32_t copies = binding.buffer.replicas();
    if (copies < instance_.count && (copies > 1 || is_written())) {
      refuse(ErrorCode::NotPerReplica,
             concat(display_name(to), " has ", copies, " of the ", instance_.count,
                    " copies that the graph's instances ", copies > 1 ? "use" : "write"));
    }
    if (from.kind == BufferKind::Transient || to.kind != from.kind) {
      refuse(ErrorCode::InvalidArgument,
             concat(kind_name(to.kind), " cannot take the place of ", kind_name(from.kind)));
    }
    if (binding.recorded.offset() != 0 || binding.recorded.bytes() != from.bytes) {
      refuse(ErrorCode::InvalidArgument,
             "it is a part of a buffer; a binding replaces the whole of one");
    }
    if (to.device != from.device)
      refuse(ErrorCode::WrongDevice, concat(display_name(to), " is of ", to.device->selector));
    if (to.is_stale()) refuse(ErrorCode::StaleHandle, concat(display_name(to), " is stale"));
    if (binding.buffer.bytes() < from.bytes) {
      refuse(ErrorCode::OutOfRange, concat(display_name(to), " gives ", binding.buffer.bytes(),
                                           " bytes, and ", from.bytes, " are used"));
    }
    std::byte* const address = to.address + binding.buffer.offset();
    if (reinterpret_cast<std::uintptr_t>(address) % from.alignment != 0) {
      refuse(ErrorCode::InvalidArgument, concat("the view of ", display_name(to),
                                                " is not aligned to ", from.alignment, " bytes"));
    }
    if (addresses[index] == address) continue;
    for (const std::uint32_t node : journal.nodes_of_buffer(index)) {
      const std::uint32_t command = body_->plan->command_of(node);
      if (recording.commands[command].kind == CommandKind::Host) {
        refuse(ErrorCode::Unsupported,
               concat("command ", command, ", ", recording.command_name(command),
                      ", goes on using the memory that it captured"));
      }
    }
    addresses[index] = address;
    const auto before = std::find_if(changed.begin(), changed.end(),
                                     [&](const Use& u) { return u.index == index; });
    if (before != changed.end()) refuse(ErrorCode::InvalidArgument, "it is named twice");
    changed.push_back({PoolBuffer::of(copy), use()->access, index});
  }
  // The order of the commands was found for buffers that are not the same memory.
  std::vector<Span> spans;
  for (const Use& use : uses_) {
    if (use.index != kNone)
      spans.push_back({addresses[use.index],
                       addresses[use.index] + recording.buffers[use.index]->bytes, use.access});
  }
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.begin < b.begin; });
  const std::byte* reach = nullptr;  // of those before
  for (std::size_t i = 0; !changed.empty() && i < spans.size(); ++i) {
    if (spans[i].begin < reach) {
      const bool clash = std::any_of(spans.begin(), spans.begin() + static_cast<std::ptrdiff_t>(i),
                                     [&](const Span& s) { return s.conflicts(spans[i]); });
      if (clash) {
        fail(ErrorCode::Overlap, Stage::Launch, label(),
             concat("rebind in graph ", label(),
                    ": two of its buffers, one of which is written, would share bytes, and its "
                    "commands are not ordered for that"));
      }
    }
    reach = std::max(reach, spans[i].end);
  }
  return changed;
}

UpdateReport GraphCore::rebind(std::span<const BufferBinding> bindings, const UpdateDesc& desc) {
  const UpdateClock clock;
  UpdateReport report;
  std::lock_guard one(updating_);
  require_updatable("rebind");
  const ResidencyPin pages(*this);
  std::lock_guard order(device()->order());
  std::vector<std::byte*> addresses = body_->journal.now().address;
  BufferAttachTransaction uses(*this, checked_bindings(bindings, addresses));
  if (uses.list().empty()) {
    report.time = clock.elapsed();
    return report;
  }
  std::vector<Use> replaced;
  replaced.reserve(uses.list().size());
  QueuePoint last;
  {
    std::lock_guard lock(mutex_);
    BindingState& journal = body_->journal;
    const auto set = [&](const Use& use, std::byte* address) {
      return body_->exec->change(BindingChange{.what = BindingChange::What::Buffer,
                                               .index = use.index,
                                               .address = address,
                                               .nodes = journal.nodes_of_buffer(use.index)});
    };
    std::size_t done = 0;
    if (desc.first <= UpdateMethod::Nodes) {
      for (; done < uses.list().size(); ++done) {
        const Use& use = uses.list()[done];
        const ExecUpdate result = set(use, addresses[use.index]);
        if (!result.done()) {
          note_refusal(result, *body_->plan, report);
          break;
        }
        report.nodes += static_cast<std::uint32_t>(journal.nodes_of_buffer(use.index).size());
      }
    }
    if (done == uses.list().size()) {
      report.method = UpdateMethod::Nodes;
      for (const Use& use : uses.list()) {
        journal.note({.what = BindingChange::What::Buffer,
                      .index = use.index,
                      .address = addresses[use.index]});
      }
    } else {
      while (done > 0) {
        --done;
        static_cast<void>(set(uses.list()[done], journal.now().address[uses.list()[done].index]));
      }
      report.nodes = 0;
      if (desc.last == UpdateMethod::Reinstantiated) {
        Bindings now = journal.now();
        now.address = std::move(addresses);
        reinstantiate(body_->plan, std::move(now), nullptr);
        report.method = UpdateMethod::Reinstantiated;
        report.nodes = static_cast<std::uint32_t>(body_->plan->lowered.nodes.size());
      }
    }
    if (report.method != UpdateMethod::Unchanged) {
      for (const Use& use : uses.list()) {
        const auto old = std::find_if(uses_.begin(), uses_.end(),
                                      [&](const Use& u) { return u.index == use.index; });
        replaced.push_back(std::exchange(*old, use));
      }
      uses.keep();
    }
    last = body_->last;
  }
  for (const Use& use : replaced) use.buffer->detach(*this, last);
  report.time = clock.elapsed();
  trace_update_report(report);
  return report;
}

}  // namespace reprise::detail

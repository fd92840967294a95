#include "plan/dot_parameters.hpp"

#include <algorithm>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "plan/describe.hpp"

namespace reprise::detail {

namespace {

std::string triple(const Dim3& d) { return concat(d.x, ' ', d.y, ' ', d.z); }

std::string rows(const Extent& extent, const Pitch& pitch) {
  return concat(extent.width, " x ", extent.height, " x ", extent.depth, " bytes, pitch ",
                pitch.row, ' ', pitch.slice);
}

std::string value_bytes(const std::byte* bytes, std::uint32_t count) {
  std::string text;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::string digits = hex(std::to_integer<unsigned>(bytes[i]));
    text += digits.substr(digits.size() - 2);
  }
  return text;
}

// Native nodes without an equivalent command, by the op name that describes them.
DotFlags flag_of_op(std::string_view name) {
  struct Row {
    std::string_view name;
    DotFlags flag;
  };
  static constexpr Row kRows[] = {{"event record", DotFlags::EventNodeParams},
                                  {"event wait", DotFlags::EventNodeParams},
                                  {"semaphore signal", DotFlags::ExtSemasSignalNodeParams},
                                  {"semaphore wait", DotFlags::ExtSemasWaitNodeParams},
                                  {"memory allocation", DotFlags::MemAllocNodeParams},
                                  {"memory release", DotFlags::MemFreeNodeParams},
                                  {"memory operations", DotFlags::BatchMemOpNodeParams},
                                  {"conditional", DotFlags::ConditionalNodeParams}};
  const auto* const found = std::find_if(std::begin(kRows), std::end(kRows),
                                         [&](const Row& row) { return row.name == name; });
  return found == std::end(kRows) ? DotFlags::KernelNodeParams : found->flag;
}

class NodeParameters {
 public:
  NodeParameters(const Recording& recording, std::uint32_t command, DotFlags flags)
      : recording_(recording),
        command_(command),
        kind_(recording.commands[command].kind),
        flags_(flags) {}

  std::string write() {
    if (shows(DotFlags::RuntimeTypes)) line(runtime_type());
    switch (kind_) {
      case CommandKind::Dispatch: dispatch(); break;
      case CommandKind::Copy: copy(); break;
      case CommandKind::Fill: fill(); break;
      case CommandKind::Update:
        if (shows(DotFlags::MemcpyNodeParams))
          line(recording_.payload<UpdatePayload>(command_).bytes, "-byte snapshot");
        break;
      case CommandKind::Host:
        if (shows(DotFlags::HostNodeParams))
          line("callback ", recording_.payload<HostPayload>(command_).function);
        break;
      case CommandKind::Op: op(recording_.payload<OpPayload>(command_).op); break;
      case CommandKind::Conditional: conditional(); break;
      case CommandKind::Nested:
      case CommandKind::Barrier: break;
    }
    if (shows(DotFlags::Handles)) handles();
    return std::move(text_);
  }

 private:
  [[nodiscard]] bool shows(DotFlags flag) const noexcept { return has_flag(flags_, flag); }

  template <class... Parts>
  void line(const Parts&... parts) {
    text_ += concat('\n', parts...);
  }

  [[nodiscard]] std::string_view runtime_type() const {
    switch (kind_) {
      case CommandKind::Dispatch: return "cudaGraphNodeTypeKernel";
      case CommandKind::Copy:
      case CommandKind::Update: return "cudaGraphNodeTypeMemcpy";
      case CommandKind::Fill: return "cudaGraphNodeTypeMemset";
      case CommandKind::Host: return "cudaGraphNodeTypeHost";
      case CommandKind::Barrier: return "cudaGraphNodeTypeEmpty";
      case CommandKind::Conditional: return "cudaGraphNodeTypeConditional";
      case CommandKind::Nested: return "cudaGraphNodeTypeGraph";
      case CommandKind::Op: break;
    }
    return recording_.origin == RecordingOrigin::ReadBack ? "native node"
                                                          : "cudaGraphNodeTypeGraph";
  }

  void dispatch() {
    const auto& p = recording_.payload<DispatchPayload>(command_);
    const KernelCore& kernel = *recording_.kernels[p.kernel];
    if (p.op != kNone) op(p.op);
    if (shows(DotFlags::KernelNodeParams)) {
      line("grid ", triple(p.grid), ", block ", triple(p.block), ", shared ", p.shared_bytes);
      for (std::size_t i = 0; i < kernel.parameters.size(); ++i)
        line("argument ", i, ": ", argument(p, kernel.parameters[i]));
    }
    if (shows(DotFlags::KernelNodeAttributes)) {
      line("cluster ", p.cluster ? triple(*p.cluster) : std::string("none"),
           p.launch == DispatchDesc::Launch::Cooperative ? ", cooperative" : ", not cooperative");
      line("kernel: static shared ", kernel.static_shared_bytes, ", max ", kernel.max_block_threads,
           " threads");
    }
  }

  [[nodiscard]] std::string argument(const DispatchPayload& p,
                                     const KernelParameter& parameter) const {
    for (std::uint32_t i = 0; i < p.buffer_argument_count; ++i) {
      const BufferArgument& buffer = p.buffer_arguments[i];
      if (buffer.parameter_offset == parameter.offset)
        return concat(display_name(*recording_.buffers[buffer.buffer]), " + ", buffer.offset);
    }
    if (parameter.offset + parameter.size > p.parameter_bytes) return "?";
    return value_bytes(p.parameters + parameter.offset, parameter.size);
  }

  void copy() {
    if (!shows(DotFlags::MemcpyNodeParams)) return;
    const auto& p = recording_.payload<CopyPayload>(command_);
    line("source at ", p.source.offset, ", ", rows(p.extent, p.source_pitch));
    line("destination at ", p.destination.offset, ", ", rows(p.extent, p.destination_pitch));
  }

  void fill() {
    if (!shows(DotFlags::MemsetNodeParams)) return;
    const auto& p = recording_.payload<FillPayload>(command_);
    line("value ", hex(p.bits), ", elements of ", p.element_bytes, " bytes");
    line("destination at ", p.offset, ", ", rows(p.extent, p.pitch));
  }

  void op(std::uint32_t op) {
    const RecordedOp& recorded = *recording_.ops[op];
    if (!recorded.parameters.empty() && shows(flag_of_op(recorded.name))) line(recorded.parameters);
  }

  void conditional() {
    if (!shows(DotFlags::ConditionalNodeParams)) return;
    const auto& p = recording_.payload<ConditionalPayload>(command_);
    const std::string limit =
        p.max_iterations == 0 ? "" : concat(", max ", p.max_iterations, " iterations");
    line(to_string(p.branch), " by ", display_name(*recording_.buffers[p.condition]), ", ",
         p.body_count, p.body_count == 1 ? " body" : " bodies", limit);
  }

  void handles() {
    const Command& command = recording_.commands[command_];
    for (std::uint32_t i = 0; i < command.access_count; ++i) {
      const BufferCore& buffer =
          *recording_.buffers[recording_.accesses[command.first_access + i].buffer];
      const std::string address = buffer.address == nullptr
                                      ? "no address"
                                      : hex(reinterpret_cast<std::uintptr_t>(buffer.address));
      line(display_name(buffer), ": buffer ", buffer.id.slot, '.', buffer.id.version, " at ",
           address);
    }
  }

  const Recording& recording_;
  const std::uint32_t command_;
  const CommandKind kind_;
  const DotFlags flags_;
  std::string text_;
};

}  // namespace

void require_flags(DotFlags flags, std::string_view label) {
  constexpr std::uint32_t kKnown = (static_cast<std::uint32_t>(DotFlags::Locations) << 1) - 1;
  const std::uint32_t unknown = static_cast<std::uint32_t>(flags) & ~kKnown;
  if (unknown != 0)
    fail(ErrorCode::InvalidArgument, Stage::Plan, label,
         concat("the DOT of graph ", label, ": the flags contain ", hex(unknown),
                ", which is no bit of DotFlags"));
}

std::string dot_parameters(const Plan& plan, std::uint32_t command, DotFlags flags) {
  if (flags == DotFlags::None) return {};
  return NodeParameters(*plan.recording, command, flags).write();
}

}  // namespace reprise::detail

// Public API of GraphOp: declaration and recording context.
#include <reprise/graph_op.hpp>

#include <atomic>
#include <charconv>
#include <cstring>

#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "record/kernel_arguments.hpp"
#include "record/recorded_op.hpp"
#include "record/recording.hpp"

namespace reprise::inline REPRISE_ABI {

namespace {

using detail::concat;

const detail::RecordedOp& op_of(const detail::Recording& recording, std::uint32_t command) {
  return *recording.ops[recording.payload<detail::OpPayload>(command).op];
}

bool contains(const BufferView& whole, const BufferView& part) {
  return detail::core_of(whole) == detail::core_of(part) && part.offset() >= whole.offset() &&
         part.offset() - whole.offset() <= whole.bytes() &&
         part.bytes() <= whole.bytes() - (part.offset() - whole.offset());
}

}  // namespace

GraphOp::~GraphOp() = default;

std::uint32_t GraphOpDeclaration::workspace(std::uint64_t bytes, std::uint32_t alignment) {
  workspaces_.push_back({bytes, alignment});
  return static_cast<std::uint32_t>(workspaces_.size() - 1);
}

Kernel GraphOpDeclaration::load_kernel(const KernelDesc& desc) const {
  if (loader_ != nullptr && *loader_) return (*loader_)(desc);
  ErrorDetails details;
  details.code = ErrorCode::Unsupported;
  details.stage = Stage::Load;
  throw Error(std::move(details), concat("kernel ", desc.name,
                                         ": this declaration belongs to no recording; add the op "
                                         "to one"));
}

DeviceKind GraphRecordCtx::device_kind() const noexcept { return recording_.device->kind; }

std::uint32_t GraphRecordCtx::device_ordinal() const noexcept {
  return detail::ordinal_of(*recording_.device);
}

void GraphRecordCtx::fail(ErrorCode code, const std::string& text) const {
  ErrorDetails details;
  details.code = code;
  details.stage = Stage::Instantiate;
  details.command = command_;
  details.label = recording_.label_path(recording_.commands[command_].label);
  throw Error(std::move(details), concat("op ", op_of(recording_, command_).name, ": ", text));
}

void* GraphRecordCtx::address(const BufferView& view) const {
  const detail::RecordedOp& op = op_of(recording_, command_);
  for (std::size_t i = 0; i < op.views.size(); ++i) {
    if (!contains(op.views[i].view, view)) continue;
    return target_.address(recording_.payload<detail::OpPayload>(command_).buffers[i]) +
           view.offset();
  }
  fail(ErrorCode::InvalidArgument,
       concat("it requested ",
              view ? detail::display_name(*detail::core_of(view))
                   : std::string("a view without a buffer"),
              ", bytes ", view.offset(), " to ", view.offset() + view.bytes(),
              ", which its declare() does not list"));
}

void GraphRecordCtx::require_declared_write(const BufferView& view, std::string_view kernel) const {
  if (view.bytes() == 0) return;
  for (const AccessedView& use : op_of(recording_, command_).views) {
    if (writes(use.access) && contains(use.view, view)) return;
  }
  fail(ErrorCode::InvalidArgument,
       concat("kernel ", kernel, " writes ", detail::display_name(*detail::core_of(view)),
              ", bytes ", view.offset(), " to ", view.offset() + view.bytes(),
              ", which its declare() lists as read only"));
}

void* GraphRecordCtx::workspace(std::uint32_t index) const {
  const detail::RecordedOp& op = op_of(recording_, command_);
  if (index >= op.workspace_count) {
    fail(ErrorCode::OutOfRange,
         concat("it requested workspace ", index, " and declared ", op.workspace_count));
  }
  return target_.address(
      recording_.payload<detail::OpPayload>(command_).buffers[op.views.size() + index]);
}

void GraphRecordCtx::dispatch_arguments(const Kernel& kernel, const DispatchDesc& desc,
                                        std::span<const detail::Argument> args) {
  const detail::KernelCore* const core = detail::core_of(kernel).get();
  if (core == nullptr)
    fail(ErrorCode::NotInitialized, "the Kernel is empty; create one with Device::load_kernel");
  if (core->device != recording_.device) {
    fail(ErrorCode::WrongDevice, concat("kernel ", core->name, " was loaded on ",
                                        detail::name_beside(*core->device, *recording_.device),
                                        " and not on ", recording_.device->selector));
  }
  const auto check_enumerator = [&](std::string_view field, auto value) {
    if (const std::string fault = detail::enumerator_fault(field, value); !fault.empty())
      fail(ErrorCode::InvalidArgument, concat("kernel ", core->name, ": ", fault));
  };
  check_enumerator(".launch", desc.launch);
  check_enumerator(".start", desc.start);
  if (desc.cluster || desc.launch != DispatchDesc::Launch::Normal) {
    fail(ErrorCode::Unsupported,
         concat(
             "kernel ", core->name,
             ": ops support neither clusters nor cooperative launches; record a dispatch instead"));
  }
  if (const std::string fault =
          detail::launch_fault(*core, desc.grid, desc.block, desc.shared_bytes, target_.limits());
      !fault.empty())
    fail(ErrorCode::LaunchLimits, concat("kernel ", core->name, ": ", fault));
  const auto refuse = [&] {
    const detail::ArgumentFault fault = detail::argument_fault(*core, args);
    fail(fault.code, fault.text);
  };
  if (args.size() != core->parameters.size()) refuse();
  std::vector<std::byte> block(core->parameter_bytes);
  for (std::size_t i = 0; i < args.size(); ++i) {
    const KernelParameter& parameter = core->parameters[i];
    std::byte* const to = block.data() + parameter.offset;
    if (parameter.is_condition) {
      fail(ErrorCode::Unsupported, concat("argument ", i, " of kernel ", core->name,
                                          ": ops cannot set conditions; record a dispatch"));
    }
    if (!detail::fits(parameter, args[i])) refuse();
    if (args[i].view == nullptr) {
      detail::store_value(parameter, args[i], to);
      continue;
    }
    check_enumerator(concat("the access of argument ", i), args[i].access);
    const void* const at = address(*args[i].view);
    if (writes(args[i].access)) require_declared_write(*args[i].view, core->name);
    std::memcpy(to, &at, sizeof at);
  }
  target_.keep(detail::core_of(kernel));
  target_.dispatch(*core, desc, block);
}

void GraphRecordCtx::host(std::function<void(std::uint32_t)> step, std::uint32_t pieces) {
  if (device_kind() != DeviceKind::Host)
    fail(ErrorCode::Unsupported,
         "host steps run on the host device only; on a GPU, submit to native_stream()");
  if (!step || pieces == 0)
    fail(ErrorCode::InvalidArgument, "the step has no function or no pieces");
  target_.host(std::move(step), pieces);
}

void GraphRecordCtx::host_async(std::function<void(StepDone)> start) {
  if (device_kind() != DeviceKind::Host)
    fail(ErrorCode::Unsupported,
         "host steps run on the host device only; on a GPU, submit to native_stream()");
  if (!start) fail(ErrorCode::InvalidArgument, "the step has no function");
  target_.host_async(std::move(start));
}

void* GraphRecordCtx::native_stream() {
  if (device_kind() != DeviceKind::Cuda)
    fail(ErrorCode::Unsupported, "the host device has no stream; use host()");
  return target_.native_stream();
}

void GraphRecordCtx::keep(std::shared_ptr<const void> thing) { target_.keep(std::move(thing)); }

}  // namespace reprise::inline REPRISE_ABI

namespace reprise::detail {

std::uint32_t ordinal_of(const DeviceStatus& device) noexcept {
  const std::size_t colon = device.selector.find(':');
  std::uint32_t ordinal = 0;
  if (colon != std::string::npos) {
    static_cast<void>(std::from_chars(device.selector.data() + colon + 1,
                                      device.selector.data() + device.selector.size(), ordinal));
  }
  return ordinal;
}

void record_op(const Recording& recording, std::uint32_t command, OpTarget& target) {
  GraphRecordCtx ctx = HandleAccess::make<GraphRecordCtx>(recording, command, target);
  op_of(recording, command).op->record(ctx);
}

namespace {

struct WorkspaceCore final : BufferCore {};

}  // namespace

std::shared_ptr<BufferCore> make_workspace(const std::shared_ptr<DeviceStatus>& device,
                                           std::string name, std::uint64_t bytes,
                                           std::uint32_t alignment) {
  static std::atomic<std::uint32_t> next_slot{0};
  auto core = std::make_shared<WorkspaceCore>();
  // Version 0: versions of pool buffers start at 1.
  core->id = {next_slot.fetch_add(1, std::memory_order_relaxed), 0};
  core->kind = BufferKind::Transient;
  core->bytes = bytes;
  core->alignment = alignment;
  core->name = std::move(name);
  core->device = device;
  core->generation = device->generation.load(std::memory_order_acquire);
  return core;
}

std::shared_ptr<BufferCore> recreate_workspace(const BufferCore& old) {
  if (dynamic_cast<const WorkspaceCore*>(&old) == nullptr) return nullptr;
  return make_workspace(old.device, old.name, old.bytes, old.alignment);
}

}  // namespace reprise::detail

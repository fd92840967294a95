// RecorderCore::dispatch, the performance-critical recording call.
#include <cstring>

#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "record/kernel_arguments.hpp"
#include "record/recorder_core.hpp"

namespace reprise::detail {

namespace {

constexpr std::size_t kBlockAlignment = 16;
constexpr std::size_t kPayloadBytes =
    (sizeof(DispatchPayload) + kBlockAlignment - 1) & ~(kBlockAlignment - 1);
static_assert(alignof(DispatchPayload) <= kBlockAlignment &&
              alignof(BufferArgument) <= kBlockAlignment);

[[gnu::noinline]] const SlotArgument* copy_slots(Arena& arena, const KernelCore& kernel,
                                                 std::span<const Argument> args,
                                                 std::uint32_t count) {
  SlotArgument* const slots = arena.make_array<SlotArgument>(count);
  SlotArgument* next = slots;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (args[i].view == nullptr && args[i].slot != nullptr)
      *next++ = {kernel.parameters[i].offset, args[i].type, arena.copy_text(*args[i].slot)};
  }
  return slots;
}

// By buffer argument.
[[gnu::noinline]] const BlockSlice* make_slices(Arena& arena, std::span<const Argument> args,
                                                std::size_t count) {
  BlockSlice* const slices = arena.make_array<BlockSlice>(count);
  BlockSlice* next = slices;
  for (const Argument& arg : args) {
    if (arg.view == nullptr) continue;
    const std::uint64_t element = arg.type != nullptr ? arg.type->size : 1;
    *next++ = {element * arg.block_elements, element * arg.elements_around, arg.view->bytes()};
  }
  return slices;
}

}  // namespace

CommandRef RecorderCore::dispatch(const CalledKernel& called, const DispatchDesc& desc,
                                  std::span<const Argument> args, std::uint32_t op) {
  const Verb verb{op == kNone ? "dispatch" : "add",
                  desc.where.line != 0 ? desc.where : called.where};
  require_recording(verb);
  const KernelCore* const core = core_of(called.kernel).get();
  const std::uint32_t generation = device_->generation.load(std::memory_order_acquire);
  if (core == nullptr || core->device.get() != device_ || core->generation != generation ||
      device_->shut_down.load(std::memory_order_acquire)) [[unlikely]]
    fail_kernel(verb, core);
  const float cost = desc.cost ? desc.cost->count() : 0;
  if (desc.launch > DispatchDesc::Launch::Cooperative ||
      desc.start > DispatchDesc::Start::Programmatic || !(cost >= 0)) [[unlikely]]
    check_dispatch(verb, *core, desc);
  const auto count = static_cast<std::uint32_t>(args.size());
  if (count != core->parameters.size()) [[unlikely]]
    fail_argument(verb, *core, args);

  Arena& arena = *lists_.arena;
  static_cast<void>(lists_.commands.reserve(arena, 1));
  BufferAccess* const accesses = count == 0 ? nullptr : lists_.accesses.reserve(arena, count);
  // One arena allocation: payload, parameter block, and buffer arguments, the last as if all
  // arguments were buffers.
  const std::size_t block_bytes =  // a multiple, so that it is cleared without a call
      (core->parameter_bytes + kBlockAlignment - 1) & ~(kBlockAlignment - 1);
  const std::size_t bytes = kPayloadBytes + block_bytes + count * sizeof(BufferArgument);
  auto* const memory = static_cast<std::byte*>(arena.allocate(bytes, kBlockAlignment));
  std::byte* const block = memory + kPayloadBytes;
  for (std::size_t at = 0; at < block_bytes; at += kBlockAlignment)
    std::memset(block + at, 0, kBlockAlignment);
  auto* const buffer_arguments = reinterpret_cast<BufferArgument*>(block + block_bytes);
  BufferArgument* next = buffer_arguments;
  BufferAccess* next_access = accesses;
  std::uint32_t slots = 0, slices = 0;
  const SlotArgument* slot_arguments = nullptr;
  const BlockSlice* block_slices = nullptr;
  std::uint32_t kernel_index = kNone;
  const std::size_t known_buffers = lists_.buffers.size();
  try {
    const KernelParameter* next_parameter = core->parameters.data();
    for (const Argument& arg : args) {
      const KernelParameter& parameter = *next_parameter++;
      if (!fits(parameter, arg)) [[unlikely]]
        fail_argument(verb, *core, args);
      if (arg.view == nullptr) {
        store_value(parameter, arg, block + parameter.offset);
        if (arg.slot != nullptr) ++slots;
        continue;
      }
      const std::shared_ptr<BufferCore>& buffer = core_of(*arg.view);
      if (buffer == nullptr || buffer->device.get() != device_ ||
          buffer->generation != generation || buffer->cleared.load(std::memory_order_acquire) ||
          (buffer->kind == BufferKind::Condition) != parameter.is_condition ||
          arg.access < Access::Read || arg.access > Access::ReadWrite) [[unlikely]]
        check_view_argument(verb, *core, args, &arg - args.data());
      if (arg.is_by_block) [[unlikely]] {
        if (arg.block_elements == 0)
          fail(verb, ErrorCode::InvalidArgument,
               concat("argument ", &arg - args.data(), " of ", core->name,
                      ": by_block() takes at least 1 element"));
        ++slices;
      }
      const std::uint32_t index = intern(buffer);
      const std::uint64_t begin = arg.view->offset();
      ::new (static_cast<void*>(next++)) BufferArgument{parameter.offset, index, begin};
      if (arg.view->bytes() == 0) continue;  // an address without bytes that could conflict
      ::new (static_cast<void*>(next_access++))
          BufferAccess{index, arg.access, 0, begin, begin + arg.view->bytes()};
    }
    arena.give_back(next, memory + bytes);
    if (slots != 0) slot_arguments = copy_slots(arena, *core, args, slots);
    if (slices != 0)
      block_slices = make_slices(arena, args, static_cast<std::size_t>(next - buffer_arguments));
    kernel_index = intern(core_of(called.kernel));
  } catch (...) {
    Mark before = mark();
    before.buffers = known_buffers;
    roll_back(before);
    arena.give_back(memory, memory + bytes);
    throw;
  }
  const auto* const payload = ::new (static_cast<void*>(memory))
      DispatchPayload{.kernel = kernel_index,
                      .grid = desc.grid,
                      .block = desc.block,
                      .cluster = desc.cluster,
                      .shared_bytes = desc.shared_bytes,
                      .launch = desc.launch,
                      .start = desc.start,
                      .op = op,
                      .cost = cost,
                      .parameter_bytes = core->parameter_bytes,
                      .buffer_argument_count = static_cast<std::uint32_t>(next - buffer_arguments),
                      .slot_argument_count = slots,
                      .parameters = block,
                      .buffer_arguments = buffer_arguments,
                      .slot_arguments = slot_arguments,
                      .block_slices = block_slices};
  return commit(CommandKind::Dispatch, payload, static_cast<std::uint32_t>(next_access - accesses),
                verb.where);
}

void RecorderCore::check_dispatch(const Verb& verb, const KernelCore& kernel,
                                  const DispatchDesc& desc) const {
  check_enumerator(verb, ".launch", desc.launch);
  check_enumerator(verb, ".start", desc.start);
  if (const float cost = desc.cost ? desc.cost->count() : 0; !(cost >= 0))
    fail(verb, ErrorCode::InvalidArgument,
         concat("the cost of kernel ", kernel.name, " is ", std::to_string(cost),
                " us; it must be at least 0"));
}

void RecorderCore::check_view_argument(const Verb& verb, const KernelCore& kernel,
                                       std::span<const Argument> args, std::size_t index) const {
  const Argument& arg = args[index];
  const KernelParameter& parameter = kernel.parameters[index];
  check_view(verb, *arg.view, concat("argument ", index, " of ", kernel.name));
  const bool is_condition = core_of(*arg.view)->kind == BufferKind::Condition;
  if (!parameter.may_be_pointer && is_condition != parameter.is_condition)
    fail_argument(verb, kernel, args);
  check_enumerator(verb, concat("the access of argument ", index), arg.access);
}

void RecorderCore::fail_kernel(const Verb& verb, const KernelCore* kernel) const {
  if (kernel == nullptr) {
    fail(verb, ErrorCode::NotInitialized,
         "the Kernel is empty; create one with Device::load_kernel");
  }
  if (kernel->device.get() != device_) {
    fail(verb, ErrorCode::WrongDevice,
         concat("kernel ", kernel->name, " was loaded on ", name_beside(*kernel->device, *device_),
                ", this command buffer is of ", family_->device->selector, "; load it there too"));
  }
  fail(verb, ErrorCode::StaleHandle,
       concat("kernel ", kernel->name,
              " is stale: its device was lost or shut down after it was loaded; load it again"));
}

void RecorderCore::fail_argument(const Verb& verb, const KernelCore& kernel,
                                 std::span<const Argument> args) const {
  const ArgumentFault fault = argument_fault(kernel, args);
  fail(verb, fault.code, fault.text);
}

}  // namespace reprise::detail

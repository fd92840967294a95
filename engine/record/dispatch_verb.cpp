// RecorderCore::dispatch, the performance-critical recording call.
#include <cstring>

#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "record/kernel_arguments.hpp"
#include "record/recorder_core.hpp"

namespace reprise::detail {

CommandRef RecorderCore::dispatch(const CalledKernel& called, const DispatchDesc& desc,
                                  std::span<const Argument> args) {
  const Verb verb{"dispatch", desc.where.line != 0 ? desc.where : called.where};
  require_recording(verb);
  const KernelCore* const core = core_of(called.kernel).get();
  if (core == nullptr || core->device.get() != device_ || core->is_stale()) [[unlikely]]
    fail_kernel(verb, core);
  if (desc.launch > DispatchDesc::Launch::Cooperative ||
      desc.start > DispatchDesc::Start::Programmatic) [[unlikely]] {
    check_enumerator(verb, ".launch", desc.launch);
    check_enumerator(verb, ".start", desc.start);
  }
  const float cost = desc.cost ? desc.cost->count() : 0;
  if (!(cost >= 0)) [[unlikely]]
    fail(verb, ErrorCode::InvalidArgument,
         concat("the cost of kernel ", core->name, " is ", std::to_string(cost),
                " us; it must be at least 0"));
  const auto count = static_cast<std::uint32_t>(args.size());
  const KernelParameter* const parameters = core->parameters.data();
  if (count != core->parameters.size()) [[unlikely]]
    fail_argument(verb, *core, args);
  std::uint32_t pointers = 0, slots = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Argument& arg = args[i];
    const KernelParameter& parameter = parameters[i];
    if (!fits(parameter, arg)) [[unlikely]]
      fail_argument(verb, *core, args);
    if (arg.view == nullptr) {
      if (arg.slot != nullptr) ++slots;
      continue;
    }
    const BufferCore* const buffer = core_of(*arg.view).get();
    if (buffer == nullptr || buffer->device.get() != device_ || buffer->is_stale()) [[unlikely]]
      fail_view(verb, *arg.view, concat("argument ", i, " of ", core->name));
    if (!parameter.may_be_pointer &&
        (buffer->kind == BufferKind::Condition) != parameter.is_condition) [[unlikely]]
      fail_argument(verb, *core, args);
    if (arg.access < Access::Read || arg.access > Access::ReadWrite) [[unlikely]]
      check_enumerator(verb, concat("the access of argument ", i), arg.access);
    ++pointers;
  }

  // One arena allocation: payload, buffer arguments, parameter block.
  static_assert(alignof(DispatchPayload) <= 16 &&
                alignof(BufferArgument) <= alignof(DispatchPayload));
  constexpr std::size_t kBlockAlignment = 16;
  const std::size_t arguments_offset = sizeof(DispatchPayload);
  const std::size_t block_offset =
      (arguments_offset + pointers * sizeof(BufferArgument) + kBlockAlignment - 1) &
      ~(kBlockAlignment - 1);
  const std::size_t block_bytes =  // a multiple, so that it is cleared without a call
      (core->parameter_bytes + kBlockAlignment - 1) & ~(kBlockAlignment - 1);
  std::byte* memory = nullptr;
  BufferAccess* accesses = nullptr;
  DispatchPayload* payload = nullptr;
  BufferArgument* buffer_arguments = nullptr;
  std::uint32_t access_count = 0;
  transact([&] {
    Arena& arena = *lists_.arena;
    memory = static_cast<std::byte*>(arena.allocate(block_offset + block_bytes, kBlockAlignment));
    static_cast<void>(lists_.commands.reserve(arena, 1));
    if (pointers != 0) accesses = lists_.accesses.reserve(arena, pointers);
    SlotArgument* const slot_arguments =
        slots == 0 ? nullptr : arena.make_array<SlotArgument>(slots);
    SlotArgument* next_slot = slot_arguments;
    std::byte* const block = memory + block_offset;
    for (std::size_t at = 0; at < block_bytes; at += kBlockAlignment)
      std::memset(block + at, 0, kBlockAlignment);
    buffer_arguments = reinterpret_cast<BufferArgument*>(memory + arguments_offset);
    BufferArgument* next = buffer_arguments;
    const std::uint32_t kernel_index = intern(core_of(called.kernel));
    for (std::uint32_t i = 0; i < count; ++i) {
      const Argument& arg = args[i];
      if (arg.view == nullptr) {
        store_value(parameters[i], arg, block + parameters[i].offset);
        if (arg.slot != nullptr)
          *next_slot++ = {parameters[i].offset, arg.type, arena.copy_text(*arg.slot)};
        continue;
      }
      const std::uint32_t buffer = intern(core_of(*arg.view));
      const std::uint64_t begin = arg.view->offset();
      ::new (static_cast<void*>(next++)) BufferArgument{parameters[i].offset, buffer, begin};
      if (arg.view->bytes() == 0) continue;  // an address without bytes that could conflict
      ::new (static_cast<void*>(accesses + access_count++))
          BufferAccess{buffer, arg.access, 0, begin, begin + arg.view->bytes()};
    }
    payload = ::new (static_cast<void*>(memory)) DispatchPayload{kernel_index,
                                                                 desc.grid,
                                                                 desc.block,
                                                                 desc.cluster,
                                                                 desc.shared_bytes,
                                                                 desc.launch,
                                                                 core->parameter_bytes,
                                                                 pointers,
                                                                 block,
                                                                 buffer_arguments,
                                                                 slots,
                                                                 slot_arguments,
                                                                 desc.start,
                                                                 cost};
  });
  return commit(CommandKind::Dispatch, payload, access_count, verb.where);
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

// RecordFixture: a DeviceStatus with manually created buffers, kernels and command buffers. Needs
// no device. Threads: one thread at a time.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <functional>
#include <initializer_list>
#include <reprise/command_buffer.hpp>
#include <reprise/error.hpp>
#include <string>
#include <vector>

#include "base/handle_access.hpp"
#include "record/command_buffer_core.hpp"
#include "support/thrown_by.hpp"

namespace reprise::test {

struct RecordFixture {
  std::shared_ptr<detail::DeviceStatus> status = make_status("host");
  std::uint32_t next_slot = 0;

  static std::shared_ptr<detail::DeviceStatus> make_status(const std::string& selector) {
    auto device = std::make_shared<detail::DeviceStatus>();
    device->selector = selector;
    return device;
  }

  template <class T>
  GpuRef<T> buffer(std::uint64_t count, const std::string& name,
                   BufferKind kind = BufferKind::Device) {
    auto core = std::make_shared<detail::BufferCore>();
    core->id = {next_slot++, 1};
    core->kind = kind;
    core->bytes = count * sizeof(T);
    core->alignment = alignof(T);
    core->name = name;
    core->device = status;
    core->generation = status->generation;
    return GpuRef<T>(detail::make_handle<BufferView>(core, 0u, core->bytes));
  }

  // A kernel whose parameters are pointers ('p'), conditions ('c') and 4-byte values ('v').
  Kernel kernel(const std::string& name, const std::string& parameters) {
    auto core = std::make_shared<detail::KernelCore>();
    core->name = name;
    for (const char kind : parameters) {
      const std::uint32_t size = kind == 'v' ? 4 : 8;
      const std::uint32_t offset = (core->parameter_bytes + size - 1) / size * size;
      core->parameters.push_back(
          {.offset = offset, .size = size, .is_pointer = kind == 'p', .is_condition = kind == 'c'});
      core->parameter_bytes = offset + size;
    }
    core->device = status;
    core->generation = status->generation;
    return detail::make_handle<Kernel>(std::shared_ptr<const detail::KernelCore>(std::move(core)));
  }

  // A kernel whose parameters have these types.
  template <class... Parameters>
  Kernel typed_kernel(const std::string& name) {
    const auto parameters = detail::parameter_table<void, Parameters...>();
    auto core = std::make_shared<detail::KernelCore>();
    core->name = name;
    core->parameters.assign(parameters.begin(), parameters.end());
    if (!parameters.empty())
      core->parameter_bytes = parameters.back().offset + parameters.back().size;
    core->device = status;
    core->generation = status->generation;
    return detail::make_handle<Kernel>(std::shared_ptr<const detail::KernelCore>(std::move(core)));
  }

  CommandBuffer commands(const CommandBufferDesc& desc = {}) {
    return detail::make_handle<CommandBuffer>(detail::make_command_buffer(status, desc));
  }
  CommandBuffer recording(const CommandBufferDesc& desc = {}) {
    CommandBuffer buffer = commands(desc);
    buffer.begin();
    return buffer;
  }
};

// Checks that `call` throws `code`, that the text contains all `parts`, and that nothing is
// recorded.
inline void check_refused(const CommandBuffer& commands, ErrorCode code,
                          std::initializer_list<std::string_view> parts,
                          const std::function<void()>& call) {
  const std::uint32_t before = commands.command_count();
  const Error error = thrown_by(call);
  CHECK(to_string(error.code()) == to_string(code));
  CHECK(error.stage() == Stage::Record);
  const std::string text = error.what();
  for (const std::string_view part : parts) {
    INFO("text: ", text);
    INFO("part: ", std::string(part));
    CHECK(text.find(part) != std::string::npos);
  }
  CHECK(commands.command_count() == before);
}

// Ends the recording and returns it.
inline std::shared_ptr<const detail::Recording> frozen(CommandBuffer& commands) {
  commands.end();
  auto recording = detail::core_of(commands)->recording();
  REQUIRE(recording);
  return recording;
}

}  // namespace reprise::test

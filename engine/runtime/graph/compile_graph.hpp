// Compiles recordings to graphs: checks that need a device, the stages of compile/stages.hpp in
// their order, and the replicas. Threads: any thread.
#pragma once

#include <memory>
#include <vector>

#include <reprise/captured_graph.hpp>
#include <reprise/command_buffer.hpp>

namespace reprise::detail {

class CompiledGraph;
class DeviceCore;
struct Recording;

// The recording of `commands`. Throws InvalidState if it is not executable, InvalidArgument for a
// secondary command buffer, WrongDevice if it or `pool`, which may be null, is of another device.
[[nodiscard]] std::shared_ptr<const Recording> recording_to_compile(const DeviceCore& device,
                                                                    const CommandBuffer& commands,
                                                                    const CapturePool* pool);

// Validates the recording at the instance's level and reports the findings to the instance and the
// trace. Returns those that are not errors; throws the first error.
[[nodiscard]] std::vector<Message> check(const DeviceCore& device, const Recording& recording);

// See Device::compile.
[[nodiscard]] std::shared_ptr<CompiledGraph> compile(const std::shared_ptr<DeviceCore>& device,
                                                     const CommandBuffer& commands,
                                                     const CompileDesc& desc);

// Compiles a recording that the engine made or that check() accepted.
[[nodiscard]] std::shared_ptr<CompiledGraph> compile_checked(
    const std::shared_ptr<DeviceCore>& device, std::shared_ptr<const Recording> recording,
    const CompileDesc& desc);

}  // namespace reprise::detail

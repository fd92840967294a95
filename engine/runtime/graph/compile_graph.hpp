// compile: from a command buffer to a graph that can be launched. The only place that calls the
// stages, in their order. Threads: any thread.
#pragma once

#include <memory>

#include <reprise/captured_graph.hpp>
#include <reprise/command_buffer.hpp>

namespace reprise::detail {

class DeviceCore;
class GraphCore;
struct Recording;

// See Device::compile.
[[nodiscard]] std::shared_ptr<GraphCore> compile(const std::shared_ptr<DeviceCore>& device,
                                                 const CommandBuffer& commands,
                                                 const CompileDesc& desc);

// The same of a recording that no command buffer has any more, and that was checked or made by the
// engine.
[[nodiscard]] std::shared_ptr<GraphCore> compile_checked(const std::shared_ptr<DeviceCore>& device,
                                                         std::shared_ptr<const Recording> recording,
                                                         const CompileDesc& desc);

}  // namespace reprise::detail

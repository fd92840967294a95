// Records a small op as a GPU does, as one kernel, also on the host device, where ops call
// libraries. Threads: one.
#pragma once

#include <doctest/doctest.h>

#include <functional>

#include <reprise/reprise.hpp>

namespace reprise::test {

using AddOp = std::function<void(CommandBuffer&, const GraphOp&)>;

// Calls check(add) once with Recorder::add, and on the host device once more with the op's kernel
// if it is small.
inline void check_both_ways(const Device& device, bool is_small,
                            const std::function<void(const AddOp&)>& check) {
  check([](CommandBuffer& commands, const GraphOp& op) {
    // The caller's op outlives the graph.
    commands.add(std::shared_ptr<const GraphOp>(std::shared_ptr<void>(), &op));
  });
  if (device.info().kind != DeviceKind::Host || !is_small) return;
  check([&](CommandBuffer& commands, const GraphOp& op) {
    const detail::KernelLoader load = [&](const KernelDesc& desc) {
      return device.load_kernel(desc);
    };
    GraphOpDeclaration declaration(DeviceKind::Cuda, 0, &load);
    op.declare(declaration);
    REQUIRE(declaration.dispatched());
    const GraphOpDeclaration::Dispatch& is = *declaration.dispatched();
    commands.dispatch(is.kernel, is.desc, is.arguments);
  });
}

}  // namespace reprise::test

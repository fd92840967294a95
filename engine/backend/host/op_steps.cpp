#include "backend/host/op_steps.hpp"

#include "backend/host/host_kernel.hpp"

namespace reprise::detail {

void OpSteps::dispatch(const KernelCore& kernel, const DispatchDesc& desc,
                       std::span<const std::byte> parameters) {
  parameters_.emplace_back(parameters.begin(), parameters.end());
  HostBlock block;
  block.grid = desc.grid;
  block.block = desc.block;
  block.shared_bytes = desc.shared_bytes;
  block.parameters = parameters_.back().data();
  nodes_.emplace_back(static_cast<const HostKernel&>(*kernel.backend).function, block);
}

void OpSteps::host(std::function<void(std::uint32_t)> step, std::uint32_t pieces) {
  functions_.push_back({std::move(step)});
  HostBlock block;
  block.grid = {pieces};
  block.block = {1};
  block.parameters = reinterpret_cast<const std::byte*>(&functions_.back());
  nodes_.emplace_back(&OpSteps::run_piece, block);
}

void OpSteps::run_piece(const HostBlock& block) {
  const auto& function = *reinterpret_cast<const Function*>(block.parameters);
  try {
    function.call(block.block_index.x);
  } catch (...) {
    function.errors->add(function.replay, std::current_exception());
  }
}

void OpSteps::run(WorkerArena& workers, std::uint64_t replay, CallbackErrors& errors) noexcept {
  for (Function& function : functions_) {
    function.errors = &errors;
    function.replay = replay;
  }
  for (DispatchNode& node : nodes_) node.run(workers);
}

}  // namespace reprise::detail

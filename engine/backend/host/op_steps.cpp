#include "backend/host/op_steps.hpp"

#include <exception>
#include <semaphore>
#include <utility>

#include "backend/host/checked_dispatch.hpp"
#include "backend/host/host_kernel.hpp"
#include "base/failure.hpp"

namespace reprise::detail {

void OpSteps::dispatch(const KernelCore& kernel, const DispatchDesc& desc,
                       std::span<const std::byte> parameters) {
  parameters_.emplace_back(parameters.begin(), parameters.end());
  HostBlock block;
  block.grid = desc.grid;
  block.block = desc.block;
  block.shared_bytes = desc.shared_bytes;
  block.parameters = parameters_.back().data();
  block.parameter_bytes = static_cast<std::uint32_t>(parameters.size());
  block.kernel = kernel.name.c_str();
  const auto& host = static_cast<const HostKernel&>(*kernel.backend);
  nodes_.emplace_back(host.function, block);
  has_checked_kernels_ = has_checked_kernels_ || host.is_checked;
}

void OpSteps::host(std::function<void(std::uint32_t)> step, std::uint32_t pieces) {
  functions_.push_back({std::move(step)});
  HostBlock block;
  block.grid = {pieces};
  block.block = {1};
  block.parameters = reinterpret_cast<const std::byte*>(&functions_.back());
  nodes_.emplace_back(&OpSteps::run_piece, block);
}

void OpSteps::set_checks(const std::shared_ptr<CheckedDispatch>& checks) {
  checks_ = checks;
  for (DispatchNode& node : nodes_) {
    std::shared_ptr<CheckedDispatch> of_node = checks;
    node.swap_checks(of_node);
  }
}

void OpSteps::run_piece(const HostBlock& block) {
  const auto& function = *reinterpret_cast<const Function*>(block.parameters);
  function.errors->run([&] { function.call(block.block_index.x); }, function.replay, 0);
}

void OpSteps::start(std::uint64_t replay, CallbackErrors& errors,
                    std::function<void()> done) noexcept {
  const auto end = [&errors, replay, done = std::move(done)](const std::exception_ptr& error) {
    if (error) errors.run([&] { std::rethrow_exception(error); }, replay, 0);
    done();
  };
  if (const std::exception_ptr error = exception_of([&] { async_(end); })) end(error);
}

void OpSteps::run(WorkerArena& workers, std::uint64_t replay, CallbackErrors& errors) noexcept {
  if (is_async()) {
    std::binary_semaphore ended(0);
    start(replay, errors, [&ended] { ended.release(); });
    return ended.acquire();
  }
  for (Function& function : functions_) {
    function.errors = &errors;
    function.replay = replay;
  }
  for (DispatchNode& node : nodes_) node.run(workers);
  if (checks_) errors.run([&] { checks_->throw_fault(); }, replay, 0);
}

}  // namespace reprise::detail

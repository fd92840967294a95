#include <algorithm>
#include <string>

#include "base/text.hpp"
#include "validate/check_commands.hpp"

namespace reprise::detail {

namespace {

std::string text_of(const Dim3& size) { return concat(size.x, " x ", size.y, " x ", size.z); }
bool has_zero(const Dim3& size) { return size.x == 0 || size.y == 0 || size.z == 0; }
bool exceeds(const Dim3& size, const Dim3& max) {
  return size.x > max.x || size.y > max.y || size.z > max.z;
}

void check_grid(const DispatchPayload& dispatch, std::uint32_t command, const DeviceLimits& limits,
                Findings& findings) {
  if (has_zero(dispatch.grid)) {
    findings.add(Rule::DispatchGridZero, command,
                 concat("the grid of ", text_of(dispatch.grid),
                        " has no blocks. Omit the empty dispatch, or use at least 1 block in each "
                        "direction"));
  } else if (exceeds(dispatch.grid, limits.max_grid)) {
    findings.add(Rule::DispatchGridTooLarge, command,
                 concat("the grid of ", text_of(dispatch.grid),
                        " blocks is larger than the device's ", text_of(limits.max_grid),
                        ". Increase the work per thread, or use several dispatches"));
  }
}

void check_block(const DispatchPayload& dispatch, const KernelCore& kernel, std::uint32_t command,
                 const DeviceLimits& limits, Findings& findings) {
  if (has_zero(dispatch.block)) {
    findings.add(Rule::DispatchBlockZero, command,
                 concat("the block of ", text_of(dispatch.block),
                        " has no threads. Use at least 1 in each direction"));
    return;
  }
  if (exceeds(dispatch.block, limits.max_block)) {
    findings.add(
        Rule::DispatchBlockTooLarge, command,
        concat("the block of ", text_of(dispatch.block), " threads is larger than the device's ",
               text_of(limits.max_block), ". Use smaller blocks and a larger grid"));
    return;
  }
  const bool kernel_decides =
      kernel.max_block_threads != 0 && kernel.max_block_threads < limits.max_block_threads;
  const std::uint32_t max = kernel_decides ? kernel.max_block_threads : limits.max_block_threads;
  if (dispatch.block.volume() > max) {
    findings.add(Rule::DispatchBlockTooLarge, command,
                 concat("the block of ", text_of(dispatch.block), " has ", dispatch.block.volume(),
                        " threads; ",
                        kernel_decides ? concat("kernel ", kernel.name) : std::string("the device"),
                        " allows ", max, ". Use smaller blocks and a larger grid"));
  }
}

void check_shared(const DispatchPayload& dispatch, const KernelCore& kernel, std::uint32_t command,
                  const DeviceLimits& limits, Findings& findings) {
  const std::uint32_t max = std::min(kernel.max_dynamic_shared_bytes, limits.max_shared_bytes);
  if (dispatch.shared_bytes <= max) return;
  findings.add(Rule::DispatchSharedTooLarge, command,
               concat(dispatch.shared_bytes, " bytes of dynamic shared memory are requested; ", max,
                      " are available beside the kernel's static ", kernel.static_shared_bytes,
                      ". Use smaller tiles"));
}

void check_cluster(const DispatchPayload& dispatch, std::uint32_t command,
                   const DeviceLimits& limits, Findings& findings) {
  if (!dispatch.cluster) return;
  const Dim3& cluster = *dispatch.cluster;
  if (limits.max_cluster_blocks == 0) {
    findings.add(Rule::DispatchClusterUnsupported, command,
                 "the device supports no clusters. Omit .cluster");
  } else if (has_zero(cluster)) {
    findings.add(Rule::DispatchClusterZero, command,
                 concat("the cluster of ", text_of(cluster),
                        " has no blocks. Use at least 1 in each direction, or omit .cluster"));
  } else if (cluster.volume() > limits.max_cluster_blocks) {
    findings.add(Rule::DispatchClusterTooLarge, command,
                 concat("the cluster of ", text_of(cluster), " has ", cluster.volume(),
                        " blocks; the device allows ", limits.max_cluster_blocks));
  } else if (dispatch.grid.x % cluster.x != 0 || dispatch.grid.y % cluster.y != 0 ||
             dispatch.grid.z % cluster.z != 0) {
    findings.add(Rule::DispatchClusterIndivisible, command,
                 concat("the grid of ", text_of(dispatch.grid),
                        " blocks is not a multiple of the cluster of ", text_of(cluster),
                        ". Round the grid up"));
  }
}

void check_cooperative(const DispatchPayload& dispatch, std::uint32_t command,
                       const DeviceLimits& limits, Findings& findings) {
  if (dispatch.launch != DispatchDesc::Launch::Cooperative) return;
  if (limits.max_cooperative_blocks == 0) {
    findings.add(Rule::DispatchCooperativeUnsupported, command,
                 "the device supports no cooperative launches. Split the kernel at its grid-wide "
                 "synchronization");
  } else if (dispatch.grid.volume() > limits.max_cooperative_blocks) {
    findings.add(Rule::DispatchCooperativeTooLarge, command,
                 concat("the cooperative grid of ", text_of(dispatch.grid), " has ",
                        dispatch.grid.volume(), " blocks; at most ", limits.max_cooperative_blocks,
                        " can run at once. Increase the work per block"));
  }
}

}  // namespace

void check_dispatch(const Recording& recording, std::uint32_t command, const DeviceLimits& limits,
                    Findings& findings) {
  const auto& dispatch = recording.payload<DispatchPayload>(command);
  const KernelCore& kernel = *recording.kernels[dispatch.kernel];
  bool matches = dispatch.parameter_bytes == kernel.parameter_bytes;
  for (std::uint32_t i = 0; i < dispatch.buffer_argument_count && matches; ++i) {
    matches = std::uint64_t{dispatch.buffer_arguments[i].parameter_offset} + sizeof(void*) <=
              dispatch.parameter_bytes;
  }
  if (!matches) {
    findings.add(
        Rule::DispatchParametersMismatch, command,
        concat("its block of ", dispatch.parameter_bytes, " bytes of arguments is not the ",
               kernel.parameter_bytes, " bytes that kernel ", kernel.name,
               " takes. Record it again with the current kernel"));
  }
  if (!findings.checks(Validation::Basic)) return;
  if (dispatch.parameter_bytes > limits.max_parameter_bytes) {
    findings.add(Rule::DispatchParametersTooLarge, command,
                 concat(dispatch.parameter_bytes, " bytes of arguments are more than the device's ",
                        limits.max_parameter_bytes, ". Pass a buffer instead"));
  }
  check_grid(dispatch, command, limits, findings);
  check_block(dispatch, kernel, command, limits, findings);
  check_shared(dispatch, kernel, command, limits, findings);
  check_cluster(dispatch, command, limits, findings);
  check_cooperative(dispatch, command, limits, findings);
}

}  // namespace reprise::detail

#include "runtime/memory/transient_memory.hpp"

#include <utility>

#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "profile/nvtx.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/core/instance_core.hpp"
#include "runtime/memory/memory_reclaimer.hpp"
#include "runtime/memory/pool_core.hpp"

namespace reprise::detail {
namespace {

// Returns allocate(), retried after reclaiming idle memory of the whole device.
template <class Allocate>
TransientMemory retry(DeviceCore& device, const PoolCore* pool, const Plan& plan,
                      Allocate&& allocate) {
  return MemoryReclaimer(device).retry(
      plan.label,
      concat("for the ", plan.placement.slab_bytes, " bytes of graph ", plan.label,
             "'s transient buffers"),
      allocate, [pool](const Error& error) {
        return MemoryReclaimer::Scope{
            .holders = error.code() == ErrorCode::SlabExhausted ? pool : nullptr};
      });
}

TransientMemory own_slab(const std::shared_ptr<DeviceCore>& device, const PoolCore* pool,
                         const Plan& plan) {
  TransientMemory memory;
  memory.own = std::make_unique<Slab>(device, pool == nullptr ? nullptr : pool->memory(),
                                      SlabExtent{plan.placement.slab_bytes}, plan.label);
  memory.address = memory.own->address();
  memory.bytes = plan.placement.slab_bytes;
  if (device->info().kind != DeviceKind::Host)
    nvtx_name_memory(memory.address, plan.label, "transient buffers");
  return memory;
}

TransientMemory leased_memory(std::shared_ptr<PoolBuffer> proxy, std::unique_ptr<SlabLease> lease) {
  TransientMemory memory;
  memory.proxy = std::move(proxy);
  memory.address = lease->slab().address();
  memory.bytes = lease->bytes();
  memory.lease = std::move(lease);
  return memory;
}

void report_new_slab(const DeviceCore& device, const PoolCore& pool, const Plan& plan,
                     std::uint64_t too_small) {
  Message message;
  message.severity = Severity::Info;
  message.id = "another-shared-slab";
  message.text =
      concat("graph ", plan.label, " needs ", plan.placement.slab_bytes,
             " bytes for its transient buffers, and the slab that graphs of pool ", pool.label(),
             " share can grow to ", too_small, ": this graph and later ones share a new slab");
  device.instance().report(message);
  if (device.trace() != nullptr) device.trace()->report(trace::kNone, message);
}

}  // namespace

TransientMemory allocate_transients(const std::shared_ptr<DeviceCore>& device,
                                    const std::shared_ptr<CapturePool>& pool, const Plan& plan,
                                    std::uint32_t replica) {
  if (plan.placement.slab_bytes == 0) return {};
  PoolCore* const core = pool ? core_of(*pool).get() : nullptr;
  if (core == nullptr || core->slabs().sharing() == SlabSharing::None)
    return retry(*device, core, plan, [&] { return own_slab(device, core, plan); });
  std::uint64_t too_small = 0;
  TransientMemory memory = retry(*device, core, plan, [&] {
    PoolSlabs::Leased leased =
        core->slabs().lease(core_of(*pool), plan.placement.slab_bytes, replica, plan.label);
    too_small = leased.too_small;
    return leased_memory(std::move(leased.proxy), std::move(leased.lease));
  });
  if (too_small != 0) report_new_slab(*device, *core, plan, too_small);
  return memory;
}

TransientMemory allocate_candidate_transients(const TransientMemory& current,
                                              const std::shared_ptr<DeviceCore>& device,
                                              const std::shared_ptr<CapturePool>& pool,
                                              const Plan& plan) {
  const std::uint64_t bytes = plan.placement.slab_bytes;
  PoolCore* const core = pool ? core_of(*pool).get() : nullptr;
  const std::uint64_t max_bytes =
      current.lease ? current.lease->slab().max_bytes() : ~std::uint64_t{0};
  if (bytes > max_bytes) {
    fail(ErrorCode::SlabExhausted, Stage::Memory, plan.label,
         concat("it needs ", bytes,
                " bytes of transients, and the slab that it shares can grow to ", max_bytes));
  }
  if (current.lease && bytes != 0) {
    return retry(*device, core, plan, [&] {
      return leased_memory(current.proxy, current.lease->slab().lease(bytes, plan.label));
    });
  }
  if (bytes <= current.bytes) {
    TransientMemory memory;
    memory.proxy = current.proxy;
    memory.address = current.address;
    memory.bytes = current.bytes;
    return memory;
  }
  return retry(*device, core, plan, [&] { return own_slab(device, core, plan); });
}

}  // namespace reprise::detail

#include "runtime/memory/transient_memory.hpp"

#include <utility>

#include "base/failure.hpp"
#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "profile/nvtx.hpp"
#include "runtime/core/device_core.hpp"
#include "runtime/core/instance_core.hpp"
#include "runtime/memory/pool_core.hpp"
#include "runtime/memory/retry_after_reclaim.hpp"

namespace reprise::detail {
namespace {

// What `make` gives, tried once more where there was too little memory.
template <class Make>
TransientMemory with_room(DeviceCore& device, const PoolCore* pool, const Plan& plan, Make&& make) {
  return retry_after_reclaim(device, pool, plan.label,
                             concat("for the ", plan.placement.slab_bytes, " bytes of graph ",
                                    plan.label, "'s transient buffers"),
                             make);
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

TransientMemory shared_memory(std::shared_ptr<PoolBuffer> shared,
                              std::unique_ptr<PoolSlab::Share> share) {
  TransientMemory memory;
  memory.shared = std::move(shared);
  memory.address = share->slab().address();
  memory.bytes = share->bytes();
  memory.share = std::move(share);
  return memory;
}

void say_another(const DeviceCore& device, const PoolCore& pool, const Plan& plan,
                 std::uint64_t too_small) {
  Message message;
  message.severity = Severity::Info;
  message.id = "another-shared-slab";
  message.text =
      concat("graph ", plan.label, " needs ", plan.placement.slab_bytes,
             " bytes for its transient buffers, and the slab that graphs of pool ", pool.label(),
             " share can have ", too_small, " at most: it and graphs after it share another one");
  device.instance().report(message);
  if (device.trace() != nullptr) device.trace()->report(trace::kNone, message);
}

}  // namespace

TransientMemory allocate_transients(const std::shared_ptr<DeviceCore>& device,
                                    const std::shared_ptr<CapturePool>& pool, const Plan& plan,
                                    std::uint32_t instance) {
  if (plan.placement.slab_bytes == 0) return {};
  PoolCore* const of = pool ? core_of(*pool).get() : nullptr;
  if (of == nullptr || of->slabs().sharing() == SlabSharing::None)
    return with_room(*device, of, plan, [&] { return own_slab(device, of, plan); });
  std::uint64_t too_small = 0;
  TransientMemory memory = with_room(*device, of, plan, [&] {
    PoolSlabs::Room room =
        of->slabs().room(core_of(*pool), plan.placement.slab_bytes, instance, plan.label);
    too_small = room.too_small;
    return shared_memory(std::move(room.buffer), std::move(room.share));
  });
  if (too_small != 0) say_another(*device, *of, plan, too_small);
  return memory;
}

TransientMemory allocate_beside(const TransientMemory& now,
                                const std::shared_ptr<DeviceCore>& device,
                                const std::shared_ptr<CapturePool>& pool, const Plan& plan) {
  const std::uint64_t bytes = plan.placement.slab_bytes;
  PoolCore* const of = pool ? core_of(*pool).get() : nullptr;
  const std::uint64_t most = now.share ? now.share->slab().most_bytes() : ~std::uint64_t{0};
  if (bytes > most) {
    fail(ErrorCode::SlabExhausted, Stage::Memory, plan.label,
         concat("it needs ", bytes, " bytes of transients, and the slab that it shares can have ",
                most, " at most"));
  }
  if (now.share && bytes != 0) {
    return with_room(*device, of, plan, [&] {
      return shared_memory(now.shared, now.share->slab().share(bytes, plan.label));
    });
  }
  if (bytes <= now.bytes) {
    TransientMemory memory;
    memory.shared = now.shared;
    memory.address = now.address;
    memory.bytes = now.bytes;
    return memory;
  }
  return with_room(*device, of, plan, [&] { return own_slab(device, of, plan); });
}

}  // namespace reprise::detail

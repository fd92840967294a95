#include "runtime/memory/slab.hpp"

#include <algorithm>
#include <utility>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "runtime/core/device_core.hpp"

namespace reprise::detail {

Slab::Slab(std::shared_ptr<DeviceCore> device, std::shared_ptr<MemoryBudget> pool,
           const SlabExtent& extent, std::string_view graph)
    : device_(std::move(device)),
      pool_(std::move(pool)),
      grows_(extent.reserve != 0),
      bytes_(extent.bytes) {
  charge(bytes_, graph);  // before any allocation
  try {
    if (grows_) {
      pages_ = device_->backend().reserve_pages(std::max(extent.reserve, bytes_));
      if (pages_) pages_->resize(bytes_);
    } else {
      pages_ = device_->backend().allocate_pages(bytes_);
    }
    address_ = pages_ ? pages_->address() : device_->backend().allocate(BufferKind::Device, bytes_);
  } catch (...) {
    discharge(bytes_);
    throw;
  }
  if (footprint_bytes() > bytes_) {
    try {
      charge(footprint_bytes() - bytes_, graph);
    } catch (...) {
      discharge(bytes_);
      throw;
    }
  }
  device_->memory().add_slab(footprint_bytes());
  if (pool_) pool_->add_slab(footprint_bytes());
}

Slab::~Slab() {
  const std::uint64_t bytes = footprint_bytes();
  if (!pages_) device_->backend().free(BufferKind::Device, address_);
  pages_.reset();
  if (!unmapped_) discharge(bytes);
  device_->memory().remove_slab(bytes);
  if (pool_) pool_->remove_slab(bytes);
}

void Slab::charge(std::uint64_t bytes, std::string_view graph) {
  const auto refuse = [&](const MemoryBudget& budget) {
    fail(ErrorCode::SlabExhausted, Stage::Memory, graph,
         concat(grows_ ? "the slab that graph " : "graph ", graph,
                grows_ ? " shares needs " : " needs ", bytes,
                grows_ ? " bytes more for its transient buffers, and "
                       : " bytes for its transient buffers, and ",
                budget.describe()));
  };
  if (pool_ && !pool_->reserve(MemoryBudget::Part::Slab, bytes)) refuse(*pool_);
  if (device_->memory().reserve(MemoryBudget::Part::Slab, bytes)) return;
  if (pool_) pool_->release(MemoryBudget::Part::Slab, bytes);
  refuse(device_->memory());
}

void Slab::discharge(std::uint64_t bytes) noexcept {
  device_->memory().release(MemoryBudget::Part::Slab, bytes);
  if (pool_) pool_->release(MemoryBudget::Part::Slab, bytes);
}

void Slab::unmap() {
  const std::uint64_t bytes = footprint_bytes();
  pages_->unmap();
  unmapped_ = true;
  discharge(bytes);
  pages_->resize(bytes_);  // the size that map() maps
  record_resize(bytes);
  device_->memory().record_trim();
  if (pool_) pool_->record_trim();
}

void Slab::map(std::string_view graph) {
  charge(footprint_bytes(), graph);
  try {
    pages_->map_pages();
  } catch (...) {
    discharge(footprint_bytes());
    throw;
  }
  unmapped_ = false;
  device_->memory().record_remap();
  if (pool_) pool_->record_remap();
}

void Slab::record_resize(std::uint64_t before) noexcept {
  if (footprint_bytes() == before) return;
  device_->memory().resize_slab(before, footprint_bytes());
  if (pool_) pool_->resize_slab(before, footprint_bytes());
}

void Slab::resize(std::uint64_t bytes, std::string_view graph) {
  const std::uint64_t before = footprint_bytes();
  if (!pages_ || bytes == bytes_) return;
  std::uint64_t charged = 0;
  const auto charge_up_to = [&](std::uint64_t wanted) {
    if (unmapped_ || wanted <= before + charged) return;
    const std::uint64_t more = wanted - before - charged;
    charge(more, graph);
    charged += more;
  };
  try {
    charge_up_to(bytes);
    pages_->resize(bytes);
    charge_up_to(footprint_bytes());  // whole pages
  } catch (...) {
    discharge(charged);
    if (footprint_bytes() > before) pages_->resize(before);
    throw;
  }
  bytes_ = bytes;
  if (!unmapped_ && footprint_bytes() < before) discharge(before - footprint_bytes());
  record_resize(before);
}

}  // namespace reprise::detail

#include "runtime/memory/slab.hpp"

#include <algorithm>
#include <utility>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "runtime/core/device_core.hpp"

namespace reprise::detail {

Slab::Slab(std::shared_ptr<DeviceCore> device, std::shared_ptr<MemoryBudget> pool,
           const SlabExtent& room, std::string_view graph)
    : device_(std::move(device)),
      pool_(std::move(pool)),
      grows_(room.reserve != 0),
      bytes_(room.bytes) {
  charge(bytes_, graph);  // before any memory is asked for
  try {
    if (grows_) {
      pages_ = device_->backend().reserve_pages(std::max(room.reserve, bytes_));
      if (pages_) pages_->resize(bytes_);
    } else {
      pages_ = device_->backend().allocate_pages(bytes_);
    }
    address_ = pages_ ? pages_->address() : device_->backend().allocate(BufferKind::Device, bytes_);
  } catch (...) {
    discharge(bytes_);
    throw;
  }
  if (taken_bytes() > bytes_) {
    try {
      charge(taken_bytes() - bytes_, graph);
    } catch (...) {
      discharge(bytes_);
      throw;
    }
  }
  device_->memory().add_slab(taken_bytes());
  if (pool_) pool_->add_slab(taken_bytes());
}

Slab::~Slab() {
  const std::uint64_t taken = taken_bytes();
  if (!pages_) device_->backend().free(BufferKind::Device, address_);
  pages_.reset();
  if (!given_back_) discharge(taken);
  device_->memory().remove_slab(taken);
  if (pool_) pool_->remove_slab(taken);
}

void Slab::charge(std::uint64_t bytes, std::string_view graph) {
  const auto refuse = [&](const MemoryBudget& account) {
    fail(ErrorCode::SlabExhausted, Stage::Memory, graph,
         concat(grows_ ? "the slab that graph " : "graph ", graph,
                grows_ ? " shares needs " : " needs ", bytes,
                grows_ ? " bytes more for its transient buffers, and "
                       : " bytes for its transient buffers, and ",
                account.why_not()));
  };
  if (pool_ && !pool_->take(MemoryBudget::Part::Slab, bytes)) refuse(*pool_);
  if (device_->memory().take(MemoryBudget::Part::Slab, bytes)) return;
  if (pool_) pool_->give_back(MemoryBudget::Part::Slab, bytes);
  refuse(device_->memory());
}

void Slab::discharge(std::uint64_t bytes) noexcept {
  device_->memory().give_back(MemoryBudget::Part::Slab, bytes);
  if (pool_) pool_->give_back(MemoryBudget::Part::Slab, bytes);
}

void Slab::give_back() {
  const std::uint64_t taken = taken_bytes();
  pages_->give_back();
  given_back_ = true;
  discharge(taken);
  pages_->resize(bytes_);  // of those that are taken again
  note_room(taken);
  device_->memory().note_trim();
  if (pool_) pool_->note_trim();
}

void Slab::take(std::string_view graph) {
  charge(taken_bytes(), graph);
  try {
    pages_->take();
  } catch (...) {
    discharge(taken_bytes());
    throw;
  }
  given_back_ = false;
  device_->memory().note_remap();
  if (pool_) pool_->note_remap();
}

void Slab::note_room(std::uint64_t before) noexcept {
  if (taken_bytes() == before) return;
  device_->memory().resize_slab(before, taken_bytes());
  if (pool_) pool_->resize_slab(before, taken_bytes());
}

void Slab::resize(std::uint64_t bytes, std::string_view graph) {
  const std::uint64_t before = taken_bytes();
  if (!pages_ || bytes == bytes_) return;
  std::uint64_t charged = 0;
  const auto charge_up_to = [&](std::uint64_t wanted) {
    if (given_back_ || wanted <= before + charged) return;
    const std::uint64_t more = wanted - before - charged;
    charge(more, graph);
    charged += more;
  };
  try {
    charge_up_to(bytes);
    pages_->resize(bytes);
    charge_up_to(taken_bytes());  // whole pages
  } catch (...) {
    discharge(charged);
    if (taken_bytes() > before) pages_->resize(before);
    throw;
  }
  bytes_ = bytes;
  if (!given_back_ && taken_bytes() < before) discharge(before - taken_bytes());
  note_room(before);
}

}  // namespace reprise::detail

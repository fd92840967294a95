#include "run/slab.hpp"

#include <utility>

#include "base/text.hpp"
#include "run/device_core.hpp"
#include "run/failure.hpp"

namespace reprise::detail {

Slab::Slab(std::shared_ptr<DeviceCore> device, std::shared_ptr<MemoryAccount> pool, std::uint64_t bytes, std::string_view graph)
    : device_(std::move(device)), pool_(std::move(pool)), bytes_(bytes) {
  charge(bytes, graph);  // before any memory is asked for
  try {
    pages_ = device_->backend().allocate_pages(bytes);
    address_ = pages_ ? pages_->address() : device_->backend().allocate(BufferKind::Device, bytes);
  } catch (...) {
    discharge(bytes);
    throw;
  }
  if (taken_bytes() > bytes) {
    try {
      charge(taken_bytes() - bytes, graph);
    } catch (...) {
      discharge(bytes);
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
  const auto refuse = [&](const MemoryAccount& account) {
    fail(ErrorCode::SlabExhausted, Stage::Memory, graph,
         concat("graph ", graph, " needs ", bytes, " bytes for its transient buffers, and ", account.why_not()));
  };
  if (pool_ && !pool_->take(MemoryAccount::Part::Slab, bytes)) refuse(*pool_);
  if (device_->memory().take(MemoryAccount::Part::Slab, bytes)) return;
  if (pool_) pool_->give_back(MemoryAccount::Part::Slab, bytes);
  refuse(device_->memory());
}

void Slab::discharge(std::uint64_t bytes) noexcept {
  device_->memory().give_back(MemoryAccount::Part::Slab, bytes);
  if (pool_) pool_->give_back(MemoryAccount::Part::Slab, bytes);
}

void Slab::give_back() {
  pages_->give_back();
  given_back_ = true;
  discharge(taken_bytes());
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

}  // namespace reprise::detail

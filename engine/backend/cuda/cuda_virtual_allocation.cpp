#include "backend/cuda/cuda_virtual_allocation.hpp"

#include <algorithm>
#include <mutex>
#include <string>
#include <utility>

#include "base/aligned_up.hpp"
#include "base/text.hpp"

namespace reprise::detail {
namespace {

// Limit of the padding to whole pages: 1/8 of the requested bytes.
constexpr std::uint64_t kMaxWasteShare = 8;

CUmemAllocationProp allocation_properties(int ordinal) {
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = ordinal;
  return properties;
}

// Page size in bytes; 0 if the device does not support virtual memory management.
std::uint64_t page_bytes(const CudaContext& context) {
  const CallContext call = context.at(Stage::Allocate);
  CUdevice device = 0;
  int supported = 0;
  cuda_check(context.driver.cuDeviceGet(&device, context.ordinal), "cuDeviceGet", call);
  cuda_check(context.driver.cuDeviceGetAttribute(
                 &supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, device),
             "cuDeviceGetAttribute", call);
  if (supported == 0) return 0;
  const CUmemAllocationProp properties = allocation_properties(context.ordinal);
  std::size_t bytes = 0;
  cuda_check(context.driver.cuMemGetAllocationGranularity(&bytes, &properties,
                                                          CU_MEM_ALLOC_GRANULARITY_MINIMUM),
             "cuMemGetAllocationGranularity", call);
  return bytes;
}

}  // namespace

UnmappedRanges& UnmappedRanges::of_process() {
  // Never destroyed: slabs may be freed after the end of main.
  // Allocates nothing, because destructors may be the first to ask.
  alignas(UnmappedRanges) static std::byte storage[sizeof(UnmappedRanges)];
  static UnmappedRanges* const all = new (storage) UnmappedRanges;
  return *all;
}

bool UnmappedRanges::contains_any(std::span<std::byte* const> addresses) const {
  return !ranges_.empty() &&
         std::any_of(addresses.begin(), addresses.end(), [this](const std::byte* address) {
           const auto after = ranges_.upper_bound(const_cast<std::byte*>(address));
           if (after == ranges_.begin()) return false;
           const auto range = std::prev(after);
           return address < range->first + range->second;
         });
}

std::unique_ptr<CudaVirtualAllocation> CudaVirtualAllocation::make(
    std::shared_ptr<const CudaContext> context, std::uint64_t bytes) {
  const SetupScope scope(*context, Stage::Allocate);
  const std::uint64_t page = page_bytes(*context);
  if (page == 0 || bytes > ~std::uint64_t{0} - page) return nullptr;
  const std::uint64_t whole = aligned_up(bytes, page);
  if (whole - bytes > bytes / kMaxWasteShare) return nullptr;
  const std::string subject = concat(bytes, " bytes");
  CUdeviceptr address = 0;
  cuda_check(context->driver.cuMemAddressReserve(&address, whole, page, 0, 0),
             "cuMemAddressReserve", context->at(Stage::Allocate, subject));
  auto pages = std::make_unique<CudaVirtualAllocation>(std::move(context), address,
                                                       Layout{whole, page, whole});
  pages->resize(whole);
  return pages;
}

std::unique_ptr<CudaVirtualAllocation> CudaVirtualAllocation::reserve(
    std::shared_ptr<const CudaContext> context, std::uint64_t bytes) {
  const SetupScope scope(*context, Stage::Allocate);
  const std::uint64_t page = page_bytes(*context);
  if (page == 0 || bytes == 0 || bytes > ~std::uint64_t{0} - page) return nullptr;
  const std::uint64_t whole = aligned_up(bytes, page);
  CUdeviceptr address = 0;
  const CUresult reserved = context->driver.cuMemAddressReserve(&address, whole, page, 0, 0);
  if (reserved == CUDA_ERROR_OUT_OF_MEMORY || reserved == CUDA_ERROR_INVALID_VALUE)
    return nullptr;  // too few addresses
  cuda_check(reserved, "cuMemAddressReserve",
             context->at(Stage::Allocate, concat(bytes, " bytes")));
  return std::make_unique<CudaVirtualAllocation>(
      std::move(context), address, Layout{whole, page, std::max(page, kLargestPiece)});
}

CudaVirtualAllocation::CudaVirtualAllocation(std::shared_ptr<const CudaContext> context,
                                             CUdeviceptr address, const Layout& layout) noexcept
    : context_(std::move(context)), address_(address), layout_(layout) {}

CudaVirtualAllocation::~CudaVirtualAllocation() {
  const SetupScope scope(*context_, std::nothrow);
  {
    UnmappedRanges& unmapped_ranges = UnmappedRanges::of_process();
    const std::lock_guard lock(unmapped_ranges.mutex_);
    unmapped_ranges.ranges_.erase(address());
  }
  if (!scope) return;
  while (!pieces_.empty()) cuda_ignore(unmap_piece());
  cuda_ignore(context_->driver.cuMemAddressFree(address_, layout_.bytes));
}

void CudaVirtualAllocation::unmap() {
  const SetupScope scope(*context_, Stage::Allocate);
  UnmappedRanges& unmapped_ranges = UnmappedRanges::of_process();
  const std::lock_guard lock(unmapped_ranges.mutex_);
  const auto range = unmapped_ranges.ranges_.emplace(address(), layout_.bytes).first;
  while (!pieces_.empty()) {
    const std::uint64_t before = mapped();
    const CUresult unmapped = unmap_piece();
    if (unmapped == CUDA_SUCCESS) continue;
    pieces_.push_back(before);  // does not allocate
    if (before == bytes_) unmapped_ranges.ranges_.erase(range);
    cuda_check(unmapped, "cuMemUnmap", context_->at(Stage::Allocate));
  }
  is_unmapped_ = true;
}

void CudaVirtualAllocation::map_pages() {
  const SetupScope scope(*context_, Stage::Allocate);
  map(bytes_);
  is_unmapped_ = false;
  UnmappedRanges& unmapped_ranges = UnmappedRanges::of_process();
  const std::lock_guard lock(unmapped_ranges.mutex_);
  unmapped_ranges.ranges_.erase(address());
}

void CudaVirtualAllocation::resize(std::uint64_t bytes) {
  const SetupScope scope(*context_, Stage::Allocate);
  const std::uint64_t whole = (bytes + layout_.page - 1) / layout_.page * layout_.page;
  if (is_unmapped_) {
    bytes_ = whole;
    return;
  }
  if (whole > bytes_) {
    map(whole);
    bytes_ = whole;
  }
  while (pieces_.size() > 1 ? pieces_[pieces_.size() - 2] >= whole
                            : !pieces_.empty() && whole == 0) {
    cuda_check(unmap_piece(), "cuMemUnmap", context_->at(Stage::Allocate));
    bytes_ = mapped();
  }
}

void CudaVirtualAllocation::map(std::uint64_t to) {
  const std::size_t before = pieces_.size();
  try {
    while (mapped() < to) map_piece(std::min(to, mapped() + layout_.largest_piece));
  } catch (...) {
    while (pieces_.size() > before) cuda_ignore(unmap_piece());
    throw;
  }
}

void CudaVirtualAllocation::map_piece(std::uint64_t to) {
  pieces_.reserve(pieces_.size() + 1);
  const std::uint64_t bytes = to - mapped();
  const CUdeviceptr at = address_ + mapped();
  const std::string subject = concat(bytes, " bytes");
  const CallContext call = context_->at(Stage::Allocate, subject);
  const CudaDriver& driver = context_->driver;
  const CUmemAllocationProp properties = allocation_properties(context_->ordinal);
  CUmemGenericAllocationHandle memory = 0;
  cuda_check(driver.cuMemCreate(&memory, bytes, &properties, 0), "cuMemCreate", call);
  const CUresult result = driver.cuMemMap(at, bytes, 0, memory, 0);
  cuda_ignore(driver.cuMemRelease(memory));  // the mapping keeps the memory until it is unmapped
  cuda_check(result, "cuMemMap", call);
  CUmemAccessDesc access = {};
  access.location = properties.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  const CUresult allowed = driver.cuMemSetAccess(at, bytes, &access, 1);
  if (allowed != CUDA_SUCCESS) cuda_ignore(driver.cuMemUnmap(at, bytes));
  cuda_check(allowed, "cuMemSetAccess", call);
  pieces_.push_back(to);
}

// A failed unmap is not retried: its context is broken.
CUresult CudaVirtualAllocation::unmap_piece() noexcept {
  const std::uint64_t end = mapped();
  pieces_.pop_back();
  return context_->driver.cuMemUnmap(address_ + mapped(), end - mapped());
}

}  // namespace reprise::detail

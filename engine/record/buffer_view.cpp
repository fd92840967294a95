#include <reprise/buffer.hpp>
#include <reprise/error.hpp>

#include "base/text.hpp"
#include "record/buffer_core.hpp"

namespace reprise {

namespace {

[[noreturn]] void fail(ErrorCode code, const std::string& text) {
  throw Error({.code = code}, text);
}

const detail::BufferCore& checked(const std::shared_ptr<detail::BufferCore>& core,
                                  std::string_view call) {
  if (!core) {
    fail(
        ErrorCode::InvalidArgument,
        detail::concat(
            call,
            " of a view without a buffer; take one from CapturePool::allocate, host or transient"));
  }
  return *core;
}

}  // namespace

namespace detail {

void check_subrange(std::uint64_t whole, std::uint64_t offset, std::uint64_t size,
                    std::string_view name) {
  if (offset <= whole && size <= whole - offset) return;
  fail(ErrorCode::OutOfRange, concat("range of ", size, " bytes at ", offset, " leaves the ", whole,
                                     " bytes of ", name.empty() ? "an unnamed buffer" : name));
}

std::string display_name(const BufferCore& buffer) {
  return buffer.name.empty() ? concat("buffer #", buffer.id.slot) : buffer.name;
}

std::string_view why_stale(const BufferCore& buffer) noexcept {
  if (buffer.cleared.load(std::memory_order_acquire)) return "its pool was cleared";
  return buffer.device->shut_down.load(std::memory_order_acquire) ? "its device was shut down"
                                                                  : "its device was lost";
}

}  // namespace detail

BufferId BufferView::id() const noexcept { return core_ ? core_->id : BufferId(); }
BufferKind BufferView::kind() const { return checked(core_, "kind()").kind; }
std::string_view BufferView::name() const noexcept {
  return core_ ? std::string_view(core_->name) : std::string_view();
}
bool BufferView::is_stale() const noexcept { return core_ && core_->is_stale(); }
std::uint32_t BufferView::generation() const noexcept { return core_ ? core_->generation : 0; }

std::optional<std::uint32_t> BufferView::device_id() const noexcept {
  if (!core_ || core_->device->shut_down.load(std::memory_order_acquire)) return std::nullopt;
  return detail::ordinal_of(*core_->device);
}

std::uint64_t BufferView::raw_device_ptr() const {
  return reinterpret_cast<std::uintptr_t>(address());
}

std::shared_ptr<const void> BufferView::validate() const {
  const detail::BufferCore& core = checked(core_, "validate()");
  if (core.is_stale()) {
    fail(ErrorCode::StaleHandle, detail::concat("validate() of ", detail::display_name(core),
                                                ", which is stale: ", detail::why_stale(core)));
  }
  return core_;
}

void* BufferView::address() const {
  const detail::BufferCore& core = checked(core_, "address()");
  if (core.is_stale()) {
    fail(ErrorCode::StaleHandle, detail::concat("address() of ", detail::display_name(core),
                                                ", which is stale: ", detail::why_stale(core)));
  }
  if (core.kind == BufferKind::Transient) {
    fail(
        ErrorCode::Unsupported,
        detail::concat(
            "address() of ", detail::display_name(core),
            ", a transient: it has no address outside a replay; allocate() a buffer that has one"));
  }
  return core.address + offset_;
}

BufferView BufferView::subview(std::uint64_t offset, std::uint64_t bytes) const {
  const detail::BufferCore& core = checked(core_, "subview()");
  detail::check_subrange(bytes_, offset, bytes, core.name);
  return {core_, offset_ + offset, bytes};
}

BufferView BufferView::instance(std::uint32_t i) const {
  const detail::BufferCore& core = checked(core_, "instance()");
  if (i > core.copies.size()) {
    fail(ErrorCode::OutOfRange,
         detail::concat("instance(", i, ") of ", detail::display_name(core), ", of which there ",
                        core.copies.empty()
                            ? "is one copy"
                            : detail::concat("are ", core.copies.size() + 1, " copies")));
  }
  return i == 0 ? *this : BufferView(core.copies[i - 1], offset_, bytes_);
}

std::uint32_t BufferView::replicas() const noexcept {
  return core_ ? static_cast<std::uint32_t>(core_->copies.size()) + 1 : 0;
}

}  // namespace reprise

#include <reprise/ops/memcpy_op.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

#include "ops/copy_cuda.hpp"
#include "ops/failure.hpp"

namespace reprise::inline REPRISE_ABI {
namespace {

constexpr std::uint64_t kPiece = std::uint64_t{1} << 18;  // bytes

}  // namespace

MemcpyOp::MemcpyOp(MemcpyDesc desc) : desc_(std::move(desc)) {
  const BufferView &from = desc_.source, &to = desc_.destination;
  if (!from || !to)
    ops::refuse(ErrorCode::NotInitialized, "memcpy",
                from ? "the destination is an empty buffer" : "the source is an empty buffer");
  if (from.bytes() != to.bytes() || from.bytes() == 0) {
    ops::refuse(
        ErrorCode::InvalidArgument, "memcpy",
        ops::text("the source ", from.name(), " has ", from.bytes(), " bytes and the destination ",
                  to.name(), " ", to.bytes(), "; the sizes must be equal and not 0"));
  }
  if (from.overlaps(to)) {
    ops::refuse(
        ErrorCode::Overlap, "memcpy",
        ops::text("source and destination share bytes of ", from.name(), "; use disjoint ranges"));
  }
}

std::string MemcpyOp::parameters() const { return ops::text("bytes ", desc_.source.bytes()); }

void MemcpyOp::declare(GraphOpDeclaration& declaration) const {
  declaration.use(read(desc_.source));
  declaration.use(write(desc_.destination));
}

void MemcpyOp::record(GraphRecordCtx& ctx) const {
  auto* const from = static_cast<const std::byte*>(ctx.address(desc_.source));
  auto* const to = static_cast<std::byte*>(ctx.address(desc_.destination));
  const std::uint64_t bytes = desc_.source.bytes();
  if (ctx.device_kind() == DeviceKind::Cuda) return ops::copy_cuda(ctx, from, to, bytes);
  ctx.host(
      [=](std::uint32_t piece) {
        const std::uint64_t first = piece * kPiece;
        std::memcpy(to + first, from + first, std::min(kPiece, bytes - first));
      },
      static_cast<std::uint32_t>((bytes + kPiece - 1) / kPiece));
}

}  // namespace reprise::inline REPRISE_ABI

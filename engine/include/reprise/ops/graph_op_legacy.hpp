// GraphOpLegacy: a variant of four library ops, for code that was written before GraphOp could be
// derived from. Deprecated. Target reprise::ops. Threads: values.
#pragma once

#include <memory>
#include <variant>

#include <reprise/ops/fft_op.hpp>
#include <reprise/ops/gemm_op.hpp>
#include <reprise/ops/memcpy_op.hpp>
#include <reprise/ops/rng_op.hpp>

namespace reprise::inline REPRISE_ABI {

class [[deprecated("add the op itself: Recorder::add(SgemmOp({...}))")]] REPRISE_API GraphOpLegacy {
 public:
  using Sgemm = SgemmDesc;
  using Memcpy = MemcpyDesc;
  using RngFillUniform = RngFillUniformDesc;
  using FftR2C = FftR2CDesc;
  using Variant = std::variant<Sgemm, Memcpy, RngFillUniform, FftR2C>;

  template <class Desc>
    requires std::is_constructible_v<Variant, Desc> GraphOpLegacy(Desc desc)
        : desc_(std::move(desc)) {}

    [[nodiscard]] const Variant& desc() const noexcept { return desc_; }
    // The corresponding op. Throws what its constructor throws.
    [[nodiscard]] std::shared_ptr<const GraphOp> op() const {
      struct Maker {
        std::shared_ptr<const GraphOp> operator()(const Sgemm& d) const {
          return std::make_shared<const SgemmOp>(d);
        }
        std::shared_ptr<const GraphOp> operator()(const Memcpy& d) const {
          return std::make_shared<const MemcpyOp>(d);
        }
        std::shared_ptr<const GraphOp> operator()(const RngFillUniform& d) const {
          return std::make_shared<const RngFillUniformOp>(d);
        }
        std::shared_ptr<const GraphOp> operator()(const FftR2C& d) const {
          return std::make_shared<const FftR2COp>(d);
        }
      };
      return std::visit(Maker(), desc_);
    }

   private:
    Variant desc_;
};

}  // namespace reprise::inline REPRISE_ABI

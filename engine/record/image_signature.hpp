// ImageSignature: the parameters of a kernel as its image describes them
// (reprise::KernelSignature). Threads: immutable.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <reprise/kernel.hpp>
#include <reprise/kernel_signature.hpp>

namespace reprise::detail {

class ImageSignature {
 public:
  // Null if `bytes` are no signature of this version.
  [[nodiscard]] static std::unique_ptr<const ImageSignature> read(std::span<const std::byte> bytes);

  // Their types live as long as this object.
  [[nodiscard]] std::span<const KernelParameter> parameters() const noexcept { return parameters_; }

 private:
  ImageSignature() = default;

  std::vector<SignatureParameter> stored_;  // has the names
  std::vector<ValueType> types_;
  std::vector<KernelParameter> parameters_;
};

}  // namespace reprise::detail

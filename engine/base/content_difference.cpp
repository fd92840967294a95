#include "base/content_difference.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/content_values.hpp"

namespace reprise::detail {
namespace {

// |a - b|: of integers the exact difference, rounded once.
template <class Format>
double distance_of(typename Format::Bits a, typename Format::Bits b) {
  if constexpr (Format::kIsFloat) {
    return std::abs(Format::value(a) - Format::value(b));
  } else {
    using Value = typename Format::Value;
    const bool is_less = static_cast<Value>(a) < static_cast<Value>(b);
    return static_cast<double>(static_cast<typename Format::Bits>(is_less ? b - a : a - b));
  }
}

// `distance`: distance_of() the two, which are finite.
template <class Format>
bool is_tolerated(typename Format::Bits a, typename Format::Bits b, double distance,
                  const Tolerance& tolerance) {
  if constexpr (Format::kIsFloat) {
    const std::uint64_t left = Format::magnitude(a), right = Format::magnitude(b);
    const bool same_sign = ((a ^ b) & Format::kSign) == 0;
    const std::uint64_t apart =
        same_sign ? std::max(left, right) - std::min(left, right) : left + right;
    if (apart <= tolerance.ulps) return true;
  }
  const double larger = std::max(std::abs(Format::value(a)), std::abs(Format::value(b)));
  return distance <= tolerance.absolute || distance <= tolerance.relative * larger;
}

}  // namespace

std::optional<ContentDifference> first_difference(std::span<const std::byte> a,
                                                  std::span<const std::byte> b, ContentType type,
                                                  const Tolerance& tolerance) {
  if (std::ranges::equal(a, b)) return std::nullopt;
  ContentDifference found;
  with_format(type, [&](auto format) {
    using Format = decltype(format);
    using Bits = typename Format::Bits;
    for (std::uint64_t i = 0; i < a.size() / sizeof(Bits); ++i) {
      Bits left, right;
      std::memcpy(&left, a.data() + i * sizeof(Bits), sizeof(Bits));
      std::memcpy(&right, b.data() + i * sizeof(Bits), sizeof(Bits));
      if (left == right) continue;
      bool is_finite = true;
      if constexpr (Format::kIsFloat) {
        const Bits of_left = Format::magnitude(left), of_right = Format::magnitude(right);
        if (of_left > Format::kInfinity && of_right > Format::kInfinity) continue;
        is_finite = of_left < Format::kInfinity && of_right < Format::kInfinity;
      }
      const double distance =
          is_finite ? distance_of<Format>(left, right) : std::numeric_limits<double>::infinity();
      if (is_finite && is_tolerated<Format>(left, right, distance, tolerance)) continue;
      if (found.count++ == 0) found.index = i;
      found.largest = std::max(found.largest, distance);
    }
  });
  return found.count != 0 ? std::optional(found) : std::nullopt;
}

}  // namespace reprise::detail

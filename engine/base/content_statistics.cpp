#include "base/content_statistics.hpp"

#include <cstdio>
#include <cstring>

#include <algorithm>
#include <cmath>

#include "base/content_values.hpp"

namespace reprise::inline REPRISE_ABI {

std::string_view to_string(ContentType type) noexcept {
  switch (type) {
    case ContentType::Bytes: return "bytes";
    case ContentType::I8: return "i8";
    case ContentType::U8: return "u8";
    case ContentType::I16: return "i16";
    case ContentType::U16: return "u16";
    case ContentType::I32: return "i32";
    case ContentType::U32: return "u32";
    case ContentType::I64: return "i64";
    case ContentType::U64: return "u64";
    case ContentType::F16: return "f16";
    case ContentType::BF16: return "bf16";
    case ContentType::F32: return "f32";
    case ContentType::F64: return "f64";
  }
  return "unknown";
}

std::uint32_t bytes_of(ContentType type) noexcept {
  return detail::with_format(type, [](auto format) {
    return static_cast<std::uint32_t>(sizeof(typename decltype(format)::Bits));
  });
}

}  // namespace reprise::inline REPRISE_ABI

namespace reprise::detail {

ContentStatistics combine(std::span<const PartialStatistics> parts) {
  ValueSums sums = no_values();
  ContentStatistics all;
  for (const PartialStatistics& part : parts) {
    add(sums, part);
    for (std::size_t bin = 0; bin < ContentStatistics::kBins; ++bin)
      all.histogram[bin] += std::min(part.histogram[bin], ~all.histogram[bin]);
  }
  all.count = sums.count;
  all.zeros = sums.zeros;
  all.denormals = sums.denormals;
  all.infinities = sums.infinities;
  all.nans = sums.nans;
  all.first_nan = sums.first_nan;
  all.first_infinity = sums.first_infinity;
  all.min = sums.min;
  all.max = sums.max;
  if (sums.finite != 0) all.mean = sums.sum / static_cast<double>(sums.finite);
  all.norm = std::sqrt(sums.sum_of_squares);
  all.hash = sums.hash;
  return all;
}

ContentStatistics statistics_of(std::span<const std::byte> bytes, const ContentRows& rows,
                                ContentType type) {
  PartialStatistics all{no_values(), {}};
  with_format(type, [&](auto format) {
    using Format = decltype(format);
    const std::uint64_t per_row = values_per_row(rows, type);
    for (std::uint64_t slice = 0; slice < rows.depth; ++slice) {
      for (std::uint64_t row = 0; row < rows.height; ++row) {
        const std::byte* at = bytes.data() + slice * rows.slice_pitch + row * rows.row_pitch;
        for (std::uint64_t i = 0; i < per_row; ++i, at += sizeof(typename Format::Bits)) {
          typename Format::Bits bits;
          std::memcpy(&bits, at, sizeof bits);
          add_value<Format>(all, all.count, bits, [&](unsigned bin) { ++all.histogram[bin]; });
        }
      }
    }
  });
  return combine({&all, 1});
}

double value_at(const std::byte* at, ContentType type) noexcept {
  return with_format(type, [at](auto format) {
    typename decltype(format)::Bits bits;
    std::memcpy(&bits, at, sizeof bits);
    return format.value(bits);
  });
}

std::vector<std::byte> packed(std::span<const std::byte> bytes, const ContentRows& rows) {
  std::vector<std::byte> values;
  values.reserve(rows.width * rows.height * rows.depth);
  for (std::uint64_t slice = 0; slice < rows.depth; ++slice) {
    for (std::uint64_t row = 0; row < rows.height; ++row) {
      const auto one = bytes.subspan(slice * rows.slice_pitch + row * rows.row_pitch, rows.width);
      values.insert(values.end(), one.begin(), one.end());
    }
  }
  return values;
}

std::string value_text(const std::byte* at, ContentType type) {
  const auto integer = [&]<class T>(T value) {
    std::memcpy(&value, at, sizeof value);
    return std::to_string(value);
  };
  if (type == ContentType::I64) return integer(std::int64_t{});
  if (type == ContentType::U64) return integer(std::uint64_t{});
  const int digits = type == ContentType::F64    ? 17
                     : type == ContentType::F16  ? 5
                     : type == ContentType::BF16 ? 4
                     : type == ContentType::F32  ? 9
                                                 : 10;
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, value_at(at, type));
  return text;
}

}  // namespace reprise::detail

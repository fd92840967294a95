#include "trace/sample_columns.hpp"

#include <algorithm>

#include "trace/trace_error.hpp"

namespace reprise::trace {

namespace {

constexpr std::size_t kMaxVarint = 10;

std::uint8_t* put(std::uint8_t* out, std::uint64_t value) {
  while (value >= 0x80) {
    *out++ = static_cast<std::uint8_t>(value | 0x80);
    value >>= 7;
  }
  *out++ = static_cast<std::uint8_t>(value);
  return out;
}

std::uint64_t zigzag(std::int64_t v) {
  return (static_cast<std::uint64_t>(v) << 1) ^ static_cast<std::uint64_t>(v >> 63);
}
std::int64_t unzigzag(std::uint64_t v) {
  return static_cast<std::int64_t>(v >> 1) ^ -static_cast<std::int64_t>(v & 1);
}

// Deltas use unsigned arithmetic: arbitrary values must not overflow.
std::int64_t difference(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
std::int64_t sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

// Appends one column of unsigned values.
template <class ValueOf>
void put_column(std::span<const Sample> samples, std::vector<std::uint8_t>& out, ValueOf value_of) {
  const std::size_t offset = out.size();
  out.resize(offset + samples.size() * kMaxVarint);
  std::uint8_t* end = out.data() + offset;
  for (const Sample& s : samples) end = put(end, value_of(s));
  out.resize(static_cast<std::size_t>(end - out.data()));
}

// A mostly-zero column: a single 0 byte if all values are zero, otherwise a 1 byte and the values.
template <class ValueOf>
void put_sparse_column(std::span<const Sample> samples, std::vector<std::uint8_t>& out,
                       ValueOf value_of) {
  const bool any = std::any_of(samples.begin(), samples.end(),
                               [&](const Sample& s) { return value_of(s) != 0; });
  out.push_back(any ? 1 : 0);
  if (any) put_column(samples, out, value_of);
}

class ByteReader {
 public:
  explicit ByteReader(std::span<const std::uint8_t> bytes)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at_ == end_)
        throw TraceError(TraceErrorCode::Corrupt, "a column of samples is truncated");
      const std::uint8_t byte = *at_++;
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw TraceError(TraceErrorCode::Corrupt, "a number in a column of samples is too long");
  }
  std::uint32_t varint32() {
    const std::uint64_t v = varint();
    if (v > 0xffffffffu)
      throw TraceError(TraceErrorCode::Corrupt, "a number in a column of samples is too large");
    return static_cast<std::uint32_t>(v);
  }
  [[nodiscard]] bool at_end() const { return at_ == end_; }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

}  // namespace

void encode_samples(std::span<const Sample> samples, std::vector<std::uint8_t>& out) {
  std::int64_t previous_node = 0;
  put_column(samples, out, [&](const Sample& s) {
    const std::int64_t step = std::int64_t{s.node} - previous_node;
    previous_node = s.node;
    return zigzag(step);
  });
  Time previous_start = 0;
  put_column(samples, out, [&](const Sample& s) {
    const std::int64_t step = difference(s.started, previous_start);
    previous_start = s.started;
    return zigzag(step);
  });
  put_column(samples, out, [](const Sample& s) { return std::uint64_t{s.duration}; });
  put_sparse_column(samples, out, [](const Sample& s) { return std::uint64_t{s.worker}; });
  put_sparse_column(samples, out, [](const Sample& s) { return std::uint64_t{s.occurrence}; });
}

std::vector<Sample> decode_samples(std::span<const std::uint8_t> bytes, std::uint32_t count) {
  if (count > bytes.size() / kMinSampleBytes)
    throw TraceError(TraceErrorCode::Corrupt, "the sample count of a block exceeds its bytes");
  std::vector<Sample> samples(count);
  ByteReader in(bytes);
  std::int64_t node = 0;
  for (Sample& s : samples) {
    node = sum(node, unzigzag(in.varint()));
    if (node < 0 || node > 0xffffffffll)
      throw TraceError(TraceErrorCode::Corrupt, "the node of a sample is out of range");
    s.node = static_cast<std::uint32_t>(node);
  }
  Time start = 0;
  for (Sample& s : samples) s.started = start = sum(start, unzigzag(in.varint()));
  for (Sample& s : samples) s.duration = in.varint32();
  if (in.varint() != 0) {
    for (Sample& s : samples) s.worker = static_cast<std::uint16_t>(in.varint32());
  }
  if (in.varint() != 0) {
    for (Sample& s : samples) s.occurrence = in.varint32();
  }
  if (!in.at_end())
    throw TraceError(TraceErrorCode::Corrupt, "a block of samples has trailing bytes");
  return samples;
}

}  // namespace reprise::trace

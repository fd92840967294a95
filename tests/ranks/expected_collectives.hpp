// Inputs of collectives and their results in plain C++, for the tests of all transports. The values
// are small integers, so every order of a reduction gives the same bytes. Threads: values.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "collectives/host_transport.hpp"
#include "ops/half.hpp"

namespace reprise::test {

using detail::CollectiveCall;

inline constexpr ElementType kElementTypes[] = {
    ElementType::I8,  ElementType::U8,  ElementType::I32,  ElementType::U32, ElementType::I64,
    ElementType::U64, ElementType::F16, ElementType::BF16, ElementType::F32, ElementType::F64};
inline constexpr CollectiveKind kCollectives[] = {
    CollectiveKind::AllReduce, CollectiveKind::Reduce,        CollectiveKind::Broadcast,
    CollectiveKind::AllGather, CollectiveKind::ReduceScatter, CollectiveKind::AllToAll};
inline constexpr ReduceOperator kReduceOperators[] = {ReduceOperator::Sum, ReduceOperator::Product,
                                                      ReduceOperator::Min, ReduceOperator::Max,
                                                      ReduceOperator::Average};

// A collective without its buffers.
struct CollectiveCase {
  CollectiveKind kind = CollectiveKind::AllReduce;
  ElementType type = ElementType::F32;
  ReduceOperator reduce = ReduceOperator::Sum;
  std::uint32_t root = 0;
  std::uint64_t count = 0;
};

inline std::string name_of(const CollectiveCase& c) {
  return std::string(to_string(c.kind)) + " " + std::string(to_string(c.type)) + " " +
         std::string(to_string(c.reduce)) + ", root " + std::to_string(c.root) + ", count " +
         std::to_string(c.count);
}

// Every kind with every type, operator and root that exists for `size` ranks.
inline std::vector<CollectiveCase> all_cases(std::uint32_t size, std::uint64_t count) {
  std::vector<CollectiveCase> cases;
  for (const CollectiveKind kind : kCollectives) {
    const bool has_root = kind == CollectiveKind::Reduce || kind == CollectiveKind::Broadcast;
    const bool reduces = kind == CollectiveKind::AllReduce || kind == CollectiveKind::Reduce ||
                         kind == CollectiveKind::ReduceScatter;
    for (const ElementType type : kElementTypes) {
      for (const ReduceOperator reduce : kReduceOperators) {
        if (!reduces && reduce != ReduceOperator::Sum) continue;
        if (reduce == ReduceOperator::Average && type < ElementType::F16) continue;
        // Other averages are rounded, by each transport in its own way.
        if (reduce == ReduceOperator::Average && !std::has_single_bit(size)) continue;
        for (std::uint32_t root = 0; root < (has_root ? size : 1); ++root)
          cases.push_back({kind, type, reduce, root, count});
      }
    }
  }
  return cases;
}

// The element that `rank` sends at `index`: -3 to 3, or 0 to 3 for unsigned types.
inline int value_at(ElementType type, std::uint32_t rank, std::uint64_t index) {
  const int value = static_cast<int>((index * 5 + rank * 3 + index / 7) % 7) - 3;
  const bool is_unsigned =
      type == ElementType::U8 || type == ElementType::U32 || type == ElementType::U64;
  return is_unsigned && value < 0 ? -value : value;
}

template <class T>
void store(std::vector<std::byte>& bytes, std::uint64_t index, T value) {
  std::memcpy(bytes.data() + index * sizeof(T), &value, sizeof(T));
}

// An exact integer, or a quotient of one, as an element.
inline void store_element(std::vector<std::byte>& bytes, ElementType type, std::uint64_t index,
                          std::int64_t value, std::uint32_t divisor = 1) {
  const float quotient = static_cast<float>(value) / static_cast<float>(divisor);
  switch (type) {
    case ElementType::I8: return store(bytes, index, static_cast<std::int8_t>(value));
    case ElementType::U8: return store(bytes, index, static_cast<std::uint8_t>(value));
    case ElementType::I32: return store(bytes, index, static_cast<std::int32_t>(value));
    case ElementType::U32: return store(bytes, index, static_cast<std::uint32_t>(value));
    case ElementType::I64: return store(bytes, index, value);
    case ElementType::U64: return store(bytes, index, static_cast<std::uint64_t>(value));
    case ElementType::F16: return store(bytes, index, ops::f16_of_float(quotient));
    case ElementType::BF16: return store(bytes, index, ops::bf16_of_float(quotient));
    case ElementType::F32: return store(bytes, index, quotient);
    case ElementType::F64:
      return store(bytes, index, static_cast<double>(value) / static_cast<double>(divisor));
  }
}

inline std::uint64_t elements_sent(const CollectiveCase& c, std::uint32_t rank,
                                   std::uint32_t size) {
  switch (c.kind) {
    case CollectiveKind::ReduceScatter:
    case CollectiveKind::AllToAll: return c.count * size;
    case CollectiveKind::Broadcast: return rank == c.root ? c.count : 0;
    case CollectiveKind::Receive: return 0;
    default: return c.count;
  }
}
inline std::uint64_t elements_received(const CollectiveCase& c, std::uint32_t rank,
                                       std::uint32_t size) {
  switch (c.kind) {
    case CollectiveKind::AllGather:
    case CollectiveKind::AllToAll: return c.count * size;
    case CollectiveKind::Reduce: return rank == c.root ? c.count : 0;
    case CollectiveKind::Send: return 0;
    default: return c.count;
  }
}

inline std::vector<std::byte> input_of(const CollectiveCase& c, std::uint32_t rank,
                                       std::uint32_t size) {
  const std::uint64_t count = elements_sent(c, rank, size);
  std::vector<std::byte> bytes(count * size_of(c.type));
  for (std::uint64_t i = 0; i < count; ++i)
    store_element(bytes, c.type, i, value_at(c.type, rank, i));
  return bytes;
}

// The reduction of all ranks' elements at `index`. An average is not divided.
inline std::int64_t reduced_value(const CollectiveCase& c, std::uint32_t size,
                                  std::uint64_t index) {
  std::int64_t result = value_at(c.type, 0, index);
  for (std::uint32_t rank = 1; rank < size; ++rank) {
    const std::int64_t value = value_at(c.type, rank, index);
    switch (c.reduce) {
      case ReduceOperator::Sum:
      case ReduceOperator::Average: result += value; break;
      case ReduceOperator::Product: result *= value; break;
      case ReduceOperator::Min: result = value < result ? value : result; break;
      case ReduceOperator::Max: result = value > result ? value : result; break;
    }
  }
  return result;
}

// True if a product of floating-point elements is 0 with a sign that the integers do not have.
inline bool is_negative_zero(const CollectiveCase& c, std::uint32_t size, std::uint64_t index) {
  if (c.reduce != ReduceOperator::Product || c.type < ElementType::F16) return false;
  bool is_zero = false, is_negative = false;
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    const int value = value_at(c.type, rank, index);
    is_zero = is_zero || value == 0;
    is_negative = is_negative != (value < 0);
  }
  return is_zero && is_negative;
}

// The bytes that `rank` receives.
inline std::vector<std::byte> expected_of(const CollectiveCase& c, std::uint32_t rank,
                                          std::uint32_t size) {
  const std::uint64_t count = elements_received(c, rank, size);
  const std::uint32_t element_bytes = size_of(c.type);
  std::vector<std::byte> bytes(count * element_bytes);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t part = i / c.count, offset = i % c.count;
    switch (c.kind) {
      case CollectiveKind::Broadcast:
        store_element(bytes, c.type, i, value_at(c.type, c.root, i));
        break;
      case CollectiveKind::AllGather:
        store_element(bytes, c.type, i, value_at(c.type, static_cast<std::uint32_t>(part), offset));
        break;
      case CollectiveKind::AllToAll:
        store_element(bytes, c.type, i,
                      value_at(c.type, static_cast<std::uint32_t>(part), rank * c.count + offset));
        break;
      default: {  // a reduction
        const std::uint64_t index =
            c.kind == CollectiveKind::ReduceScatter ? rank * c.count + i : i;
        store_element(bytes, c.type, i, reduced_value(c, size, index),
                      c.reduce == ReduceOperator::Average ? size : 1);
        // The sign bit is the last one of the element.
        if (is_negative_zero(c, size, index)) bytes[(i + 1) * element_bytes - 1] |= std::byte{0x80};
      }
    }
  }
  return bytes;
}

enum class Placement { Separate, InPlace };

// One rank's buffers for a collective: its input, what it has to receive, and the call.
class RankCase {
 public:
  RankCase(const CollectiveCase& c, std::uint32_t rank, std::uint32_t size, Placement placement)
      : input_(input_of(c, rank, size)), expected_(expected_of(c, rank, size)) {
    call_ = {.kind = c.kind, .type = c.type, .reduce = c.reduce, .peer = c.root, .count = c.count};
    if (placement == Placement::Separate || input_.empty() || expected_.empty()) {
      send_ = input_;
      receive_.assign(expected_.size(), std::byte{0xa5});
      call_.send = input_.empty() ? nullptr : send_.data();
      call_.receive = expected_.empty() ? nullptr : receive_.data();
      return;
    }
    // One buffer for both; the smaller one is the part of this rank.
    is_in_place_ = true;
    const std::uint64_t part = c.count * size_of(c.type) * rank;
    const bool gathers = expected_.size() > input_.size();
    const bool scatters = expected_.size() < input_.size();
    receive_.assign(gathers ? expected_.size() : input_.size(), std::byte{0xa5});
    std::copy(input_.begin(), input_.end(),
              receive_.begin() + static_cast<std::ptrdiff_t>(gathers ? part : 0));
    offset_ = scatters ? part : 0;
    call_.send = receive_.data() + (gathers ? part : 0);
    call_.receive = receive_.data() + offset_;
  }

  [[nodiscard]] const CollectiveCall& call() const { return call_; }
  // The expected bytes were received, and a separate send buffer is unchanged.
  [[nodiscard]] bool is_as_expected() const {
    return std::equal(expected_.begin(), expected_.end(),
                      receive_.begin() + static_cast<std::ptrdiff_t>(offset_)) &&
           (is_in_place_ || send_ == input_);
  }

 private:
  std::vector<std::byte> input_, expected_, send_, receive_;
  std::uint64_t offset_ = 0;  // of the received bytes in receive_
  bool is_in_place_ = false;
  CollectiveCall call_;
};

inline CollectiveCall sum_of(std::span<float> values) {
  return {.count = values.size(), .send = values.data(), .receive = values.data()};
}
inline CollectiveCall send_to(std::uint32_t peer, std::span<const int> values) {
  return {.kind = CollectiveKind::Send,
          .type = ElementType::I32,
          .peer = peer,
          .count = values.size(),
          .send = values.data()};
}
inline CollectiveCall receive_from(std::uint32_t peer, std::span<int> values) {
  return {.kind = CollectiveKind::Receive,
          .type = ElementType::I32,
          .peer = peer,
          .count = values.size(),
          .receive = values.data()};
}
inline std::unique_ptr<detail::HostTransport::Operation> start(detail::HostTransport& transport,
                                                               const CollectiveCall& call) {
  return transport.start({&call, 1});
}

}  // namespace reprise::test

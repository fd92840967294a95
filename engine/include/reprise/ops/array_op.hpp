// Reductions, scans and sorts as commands: CUB on GPUs, plain C++ on the host device. Values are
// float, double, std::int32_t or std::uint32_t. Sums of floats are made in an order of the device's
// own; every replay on a device gives the same. Target reprise::ops. Threads: values.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include <reprise/graph_op.hpp>

namespace reprise {

enum class ReduceKind : std::uint8_t { Sum, Min, Max };
enum class ScanKind : std::uint8_t {
  Exclusive,
  Inclusive
};  // sums of all values before one, without and with itself
enum class SortOrder : std::uint8_t { Ascending, Descending };
enum class ArrayType : std::uint8_t { F32, F64, I32, U32 };

namespace detail {
template <class T>
[[nodiscard]] constexpr ArrayType array_type() {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double> ||
                    std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::uint32_t>,
                "values are float, double, std::int32_t or std::uint32_t");
  if constexpr (std::is_same_v<T, float>)
    return ArrayType::F32;
  else if constexpr (std::is_same_v<T, double>)
    return ArrayType::F64;
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return ArrayType::I32;
  else
    return ArrayType::U32;
}
}  // namespace detail

// output[0] = the sum, the least or the greatest of input.
class ReduceOp final : public GraphOp {
 public:
  template <class T>
  ReduceOp(const GpuRef<T>& input, const GpuRef<T>& output, ReduceKind kind = ReduceKind::Sum)
      : ReduceOp(input, output, detail::array_type<T>(), kind) {}
  ReduceOp(BufferView input, BufferView output, ArrayType type, ReduceKind kind);
  [[nodiscard]] std::string_view op_name() const noexcept override { return "reduce"; }
  [[nodiscard]] std::string parameters() const override;
  void declare(GraphOpDeclaration& declaration) const override;
  void record(GraphRecordCtx& ctx) const override;

 private:
  BufferView input_, output_;
  ArrayType type_;
  ReduceKind kind_;
};

// Running sums; output has as many values as input, and may be input.
class ScanOp final : public GraphOp {
 public:
  template <class T>
  ScanOp(const GpuRef<T>& input, const GpuRef<T>& output, ScanKind kind = ScanKind::Exclusive)
      : ScanOp(input, output, detail::array_type<T>(), kind) {}
  ScanOp(BufferView input, BufferView output, ArrayType type, ScanKind kind);
  [[nodiscard]] std::string_view op_name() const noexcept override { return "scan"; }
  [[nodiscard]] std::string parameters() const override;
  void declare(GraphOpDeclaration& declaration) const override;
  void record(GraphRecordCtx& ctx) const override;

 private:
  BufferView input_, output_;
  ArrayType type_;
  ScanKind kind_;
};

// The values of input in order, floats without NaN and -0 before 0; equal ones as they were. With
// indices: where in input each came from.
class SortOp final : public GraphOp {
 public:
  template <class T>
  SortOp(const GpuRef<T>& input, const GpuRef<T>& output, SortOrder order = SortOrder::Ascending)
      : SortOp(input, output, {}, detail::array_type<T>(), order) {}
  template <class T>
  SortOp(const GpuRef<T>& input, const GpuRef<T>& output, const GpuRef<std::uint32_t>& indices,
         SortOrder order = SortOrder::Ascending)
      : SortOp(input, output, indices, detail::array_type<T>(), order) {}
  SortOp(BufferView input, BufferView output, BufferView indices, ArrayType type, SortOrder order);
  [[nodiscard]] std::string_view op_name() const noexcept override { return "sort"; }
  [[nodiscard]] std::string parameters() const override;
  void declare(GraphOpDeclaration& declaration) const override;
  void record(GraphRecordCtx& ctx) const override;

 private:
  BufferView input_, output_, indices_;  // indices_ may be empty
  ArrayType type_;
  SortOrder order_;
};

}  // namespace reprise

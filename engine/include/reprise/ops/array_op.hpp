// Reductions, scans and sorts as ops: CUB on GPUs, C++ on the host device. On GPUs, a reduction or
// scan of at most 4,096 values is one kernel, which segments may contain. Elements are float,
// double, std::int32_t or std::uint32_t. The order of floating-point sums depends on the device;
// all replays on one device give the same result. Constructors throw NotInitialized for an empty
// buffer, InvalidArgument for no elements or elements that do not fit, OutOfRange for more than
// 2^31 - 1 elements or an output that is too small, Overlap. Target reprise::ops. Threads: values.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include <reprise/graph_op.hpp>

namespace reprise::inline REPRISE_ABI {

enum class ReduceKind : std::uint8_t { Sum, Min, Max };
// Element i of the result is the sum of the elements before i; Inclusive: and of element i.
enum class ScanKind : std::uint8_t { Exclusive, Inclusive };
enum class SortOrder : std::uint8_t { Ascending, Descending };
enum class ArrayType : std::uint8_t { F32, F64, I32, U32 };
[[nodiscard]] REPRISE_API std::string_view to_string(ReduceKind kind) noexcept;
[[nodiscard]] REPRISE_API std::string_view to_string(ScanKind kind) noexcept;
[[nodiscard]] REPRISE_API std::string_view to_string(SortOrder order) noexcept;
[[nodiscard]] REPRISE_API std::string_view to_string(ArrayType type) noexcept;

}  // namespace reprise::inline REPRISE_ABI

namespace reprise::detail {
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
}  // namespace reprise::detail

namespace reprise::inline REPRISE_ABI {

// output[0] = the sum, minimum or maximum of input; the last two are not defined if a value is NaN.
// `output` does not overlap `input`.
class REPRISE_API ReduceOp final : public GraphOp {
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

// Prefix sums. `output` has as many elements as `input`, and may be the same range.
class REPRISE_API ScanOp final : public GraphOp {
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

// A stable sort. Floating-point elements must not be NaN; -0 sorts before 0. `indices[i]` gets the
// position in `input` of output[i]. The ranges have the same number of elements and do not overlap.
class REPRISE_API SortOp final : public GraphOp {
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
  BufferView input_, output_, indices_;  // indices_ is empty without indices
  ArrayType type_;
  SortOrder order_;
};

}  // namespace reprise::inline REPRISE_ABI

#include <reprise/ops/array_op.hpp>

#include <limits>
#include <utility>

#include <array_small.shaders.hpp>

#include "ops/array_cuda.hpp"
#include "ops/array_host.hpp"
#include "ops/failure.hpp"

namespace reprise::inline REPRISE_ABI {
namespace {

using ops::ArrayAddresses;
using ops::ArrayElement;
using ops::ArrayVerb;
using ops::ArrayWork;
using ops::refuse;
using ops::text;

struct TypeRow {
  ArrayElement element;
  std::uint64_t bytes;
  std::string_view name;
  const KernelDesc* reduce;  // of few values, as the next
  const KernelDesc* scan;
};

TypeRow row_of(ArrayType type) {
  switch (type) {
    case ArrayType::F32:
      return {ArrayElement::F32, 4, "f32", &shaders::reprise_reduce_f32,
              &shaders::reprise_scan_f32};
    case ArrayType::F64:
      return {ArrayElement::F64, 8, "f64", &shaders::reprise_reduce_f64,
              &shaders::reprise_scan_f64};
    case ArrayType::I32:
      return {ArrayElement::I32, 4, "i32", &shaders::reprise_reduce_i32,
              &shaders::reprise_scan_i32};
    case ArrayType::U32:
      return {ArrayElement::U32, 4, "u32", &shaders::reprise_reduce_u32,
              &shaders::reprise_scan_u32};
  }
  return {};
}

std::uint64_t count_of(const BufferView& view, ArrayType type) {
  return view.bytes() / row_of(type).bytes;
}

ArrayWork work_of(ArrayVerb verb, ArrayType type, const BufferView& input) {
  return {verb, row_of(type).element, count_of(input, type)};
}

ArrayVerb verb_of(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::Sum: return ArrayVerb::Sum;
    case ReduceKind::Min: return ArrayVerb::Min;
    case ReduceKind::Max: return ArrayVerb::Max;
  }
  return ArrayVerb::Sum;
}

ArrayVerb verb_of(ScanKind kind) {
  return kind == ScanKind::Exclusive ? ArrayVerb::ExclusiveScan : ArrayVerb::InclusiveScan;
}

ArrayVerb verb_of(SortOrder order, const BufferView& indices) {
  if (order == SortOrder::Ascending)
    return indices ? ArrayVerb::SortPairsAscending : ArrayVerb::SortAscending;
  return indices ? ArrayVerb::SortPairsDescending : ArrayVerb::SortDescending;
}

std::string_view verb_name(ArrayVerb verb) {
  switch (verb) {
    case ArrayVerb::Sum: return "sum";
    case ArrayVerb::Min: return "min";
    case ArrayVerb::Max: return "max";
    case ArrayVerb::ExclusiveScan: return "exclusive";
    case ArrayVerb::InclusiveScan: return "inclusive";
    case ArrayVerb::SortAscending: return "ascending";
    case ArrayVerb::SortDescending: return "descending";
    case ArrayVerb::SortPairsAscending: return "ascending with indices";
    case ArrayVerb::SortPairsDescending: return "descending with indices";
  }
  return "?";
}

std::string describe(ArrayVerb verb, ArrayType type, const BufferView& input) {
  return text(verb_name(verb), ", ", row_of(type).name, ", values ", count_of(input, type));
}

void check_input(std::string_view name, const BufferView& input, const BufferView& output,
                 ArrayType type) {
  if (!input || !output)
    refuse(ErrorCode::NotInitialized, name,
           input ? "the output is an empty buffer" : "the input is an empty buffer");
  ops::require_enumerator(name, "the type", type);
  const std::uint64_t count = count_of(input, type);
  if (count == 0)
    refuse(ErrorCode::InvalidArgument, name,
           text("the input ", input.name(), " of ", input.bytes(), " bytes has no values"));
  constexpr std::uint64_t kMaxCount = std::numeric_limits<std::int32_t>::max();
  if (count > kMaxCount) {
    refuse(ErrorCode::OutOfRange, name,
           text(count, " values exceed the limit of ", kMaxCount, "; use several ops"));
  }
}

bool is_small(const ArrayWork& work, const GraphOpDeclaration& declaration) {
  return declaration.device_kind() != DeviceKind::Host && work.count <= ops::kSmallArray;
}

// One kernel for a reduction or scan of few values.
void declare_small(const ArrayWork& work, const KernelDesc& kernel, const BufferView& input,
                   const BufferView& output, GraphOpDeclaration& declaration) {
  declaration.dispatch(declaration.load_kernel(kernel),
                       {.grid = 1, .block = ops::kSmallArrayThreads}, read(input), write(output),
                       static_cast<std::uint32_t>(work.count), work.verb);
}

void declare_workspaces(const ArrayWork& work, std::uint64_t bytes,
                        GraphOpDeclaration& declaration) {
  if (declaration.device_kind() == DeviceKind::Host) return;
  static_cast<void>(
      declaration.workspace(ops::array_cuda_workspace(work, declaration.device_ordinal())));
  if (ops::is_sort(work.verb)) static_cast<void>(declaration.workspace(work.count * bytes));
  if (ops::has_indices(work.verb))
    static_cast<void>(declaration.workspace(work.count * sizeof(std::uint32_t)));
}

void record_work(const ArrayWork& work, const ArrayAddresses& at, GraphRecordCtx& ctx) {
  if (ctx.device_kind() == DeviceKind::Host) return ops::record_array_host(work, at, ctx);
  ops::record_array_cuda(work, at, ctx);
}

}  // namespace

ReduceOp::ReduceOp(BufferView input, BufferView output, ArrayType type, ReduceKind kind)
    : input_(std::move(input)), output_(std::move(output)), type_(type), kind_(kind) {
  check_input(op_name(), input_, output_, type_);
  ops::require_enumerator(op_name(), "the kind", kind_);
  if (count_of(output_, type_) != 1)
    refuse(ErrorCode::InvalidArgument, op_name(),
           text("the output has ", count_of(output_, type_), " values; it must have 1"));
  if (input_.overlaps(output_))
    refuse(ErrorCode::Overlap, op_name(),
           text("input and output share bytes of ", input_.name(), "; use another output"));
}

std::string ReduceOp::parameters() const { return describe(verb_of(kind_), type_, input_); }

void ReduceOp::declare(GraphOpDeclaration& declaration) const {
  const ArrayWork work = work_of(verb_of(kind_), type_, input_);
  if (is_small(work, declaration))
    return declare_small(work, *row_of(type_).reduce, input_, output_, declaration);
  declaration.use(read(input_));
  declaration.use(write(output_));
  declare_workspaces(work, row_of(type_).bytes, declaration);
}

void ReduceOp::record(GraphRecordCtx& ctx) const {
  record_work(work_of(verb_of(kind_), type_, input_),
              {.input = ctx.address(input_), .output = ctx.address(output_)}, ctx);
}

ScanOp::ScanOp(BufferView input, BufferView output, ArrayType type, ScanKind kind)
    : input_(std::move(input)), output_(std::move(output)), type_(type), kind_(kind) {
  check_input(op_name(), input_, output_, type_);
  ops::require_enumerator(op_name(), "the kind", kind_);
  if (output_.bytes() != input_.bytes()) {
    refuse(ErrorCode::InvalidArgument, op_name(),
           text("the output has ", count_of(output_, type_), " values and the input ",
                count_of(input_, type_)));
  }
  if (input_.offset() != output_.offset() && input_.overlaps(output_)) {
    refuse(ErrorCode::Overlap, op_name(),
           text("input and output overlap partially in ", input_.name(),
                "; they must be equal or disjoint"));
  }
}

std::string ScanOp::parameters() const { return describe(verb_of(kind_), type_, input_); }

void ScanOp::declare(GraphOpDeclaration& declaration) const {
  const ArrayWork work = work_of(verb_of(kind_), type_, input_);
  if (is_small(work, declaration))
    return declare_small(work, *row_of(type_).scan, input_, output_, declaration);
  declaration.use(read(input_));
  declaration.use(write(output_));
  declare_workspaces(work, row_of(type_).bytes, declaration);
}

void ScanOp::record(GraphRecordCtx& ctx) const {
  record_work(work_of(verb_of(kind_), type_, input_),
              {.input = ctx.address(input_), .output = ctx.address(output_)}, ctx);
}

SortOp::SortOp(BufferView input, BufferView output, BufferView indices, ArrayType type,
               SortOrder order)
    : input_(std::move(input)),
      output_(std::move(output)),
      indices_(std::move(indices)),
      type_(type),
      order_(order) {
  check_input(op_name(), input_, output_, type_);
  ops::require_enumerator(op_name(), "the order", order_);
  if (output_.bytes() != input_.bytes()) {
    refuse(ErrorCode::InvalidArgument, op_name(),
           text("the output has ", count_of(output_, type_), " values and the input ",
                count_of(input_, type_)));
  }
  if (indices_ && indices_.bytes() != count_of(input_, type_) * sizeof(std::uint32_t)) {
    refuse(ErrorCode::InvalidArgument, op_name(),
           text("there are ", indices_.bytes() / sizeof(std::uint32_t), " indices for ",
                count_of(input_, type_), " values; the numbers must be equal"));
  }
  if (input_.overlaps(output_) ||
      (indices_ && (indices_.overlaps(input_) || indices_.overlaps(output_)))) {
    refuse(ErrorCode::Overlap, op_name(),
           text("two of input, output and indices share bytes; use disjoint buffers"));
  }
}

std::string SortOp::parameters() const {
  return describe(verb_of(order_, indices_), type_, input_);
}

void SortOp::declare(GraphOpDeclaration& declaration) const {
  declaration.use(read(input_));
  declaration.use(write(output_));
  if (indices_) declaration.use(write(indices_));
  declare_workspaces(work_of(verb_of(order_, indices_), type_, input_), row_of(type_).bytes,
                     declaration);
}

void SortOp::record(GraphRecordCtx& ctx) const {
  ArrayAddresses at{.input = ctx.address(input_), .output = ctx.address(output_)};
  if (indices_) at.indices = static_cast<std::uint32_t*>(ctx.address(indices_));
  record_work(work_of(verb_of(order_, indices_), type_, input_), at, ctx);
}

}  // namespace reprise::inline REPRISE_ABI

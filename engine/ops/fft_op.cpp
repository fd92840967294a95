#include <reprise/ops/fft_op.hpp>

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include <fft_small.shaders.hpp>

#include "ops/failure.hpp"
#include "ops/fft_backend.hpp"

namespace reprise::inline REPRISE_ABI {
namespace {

using ops::FftKind;
using ops::FftPlanDesc;
using ops::refuse;
using ops::text;

FftPlanDesc plan_of(const FftR2CDesc& d) {
  return {FftKind::RealToComplex, d.size, d.batch, d.input_distance, d.output_distance};
}
FftPlanDesc plan_of(const FftC2RDesc& d) {
  return {FftKind::ComplexToReal, d.size, d.batch, d.size / 2 + 1, d.size};
}
FftPlanDesc plan_of(const FftC2CDesc& d) {
  const FftKind kind = d.direction == FftDirection::Forward ? FftKind::Forward : FftKind::Inverse;
  const bool in_place = d.input.id() == d.output.id() && d.input.offset() == d.output.offset();
  return {kind, d.size, d.batch, d.size, d.size, in_place};
}

void check_sizes(std::string_view name, std::uint64_t size, std::uint64_t batch) {
  if (size < 2 || batch == 0)
    refuse(ErrorCode::InvalidArgument, name,
           text("size ", size, " and batch ", batch, "; they must be at least 2 and 1"));
  constexpr std::uint64_t kMaxSize = std::numeric_limits<std::int32_t>::max();
  if (size > kMaxSize || batch > kMaxSize)
    refuse(ErrorCode::OutOfRange, name,
           text("size ", size, " and batch ", batch, "; the limit of each is ", kMaxSize));
}

template <class T>
void check_view(std::string_view name, std::string_view role, const GpuRef<T>& view,
                std::uint64_t length, std::uint64_t batch, std::uint64_t distance) {
  if (!view) refuse(ErrorCode::NotInitialized, name, text("the ", role, " is an empty buffer"));
  const std::uint64_t needed = ops::elements_of(batch, distance, length);
  if (needed > view.size()) {
    refuse(
        ErrorCode::OutOfRange, name,
        text("the ", role, " needs ", needed, " values and ", view.name(), " has ", view.size()));
  }
  if (view.offset() % sizeof(T) != 0)
    refuse(ErrorCode::InvalidArgument, name,
           text("the ", role, " starts at byte ", view.offset(), " of ", view.name(),
                ", which is not a multiple of ", sizeof(T)));
}

void check_apart(std::string_view name, const BufferView& input, const BufferView& output) {
  if (input.overlaps(output))
    refuse(ErrorCode::Overlap, name,
           text("input and output share bytes of ", input.name(), "; use another output"));
}

std::string describe(const FftPlanDesc& plan) {
  return text("size ", plan.size, ", batch ", plan.batch, ", distances ", plan.input_distance, ' ',
              plan.output_distance, plan.kind == FftKind::Inverse ? ", inverse" : "");
}

bool is_small(const FftPlanDesc& plan) {
  return std::has_single_bit(plan.size) && plan.size >= ops::kMinSmallFft &&
         plan.size <= ops::kMaxSmallFft && plan.batch <= ops::kSmallFftBatch;
}

void declare_small(const FftPlanDesc& plan, const BufferView& input, const AccessedView& output,
                   GraphOpDeclaration& declaration) {
  const auto size = static_cast<std::uint32_t>(plan.size);
  const float turn = 1.0f / static_cast<float>(size);
  // Without element types: std::complex<float> is float2 for the kernels.
  const AccessedView from = read(input), to{output.view, output.access};
  // Blocks transform `count` complex values each, and a thread combines eight at a time.
  const auto desc = [&](std::uint32_t count) -> DispatchDesc {
    return {.grid = static_cast<std::uint32_t>(plan.batch),
            .block = std::max<std::uint32_t>(count / 8, 32),
            .shared_bytes = 2 * size * std::uint32_t{sizeof(std::complex<float>)}};
  };
  switch (plan.kind) {
    case FftKind::RealToComplex:
      return declaration.dispatch(declaration.load_kernel(shaders::reprise_fft_r2c), desc(size / 2),
                                  from, to, size, turn, plan.input_distance, plan.output_distance);
    case FftKind::ComplexToReal:
      return declaration.dispatch(declaration.load_kernel(shaders::reprise_fft_c2r), desc(size / 2),
                                  from, to, size, turn);
    case FftKind::Forward:
    case FftKind::Inverse:
      return declaration.dispatch(declaration.load_kernel(shaders::reprise_fft_c2c), desc(size),
                                  from, to, size, plan.kind == FftKind::Forward ? 1.0f : -1.0f);
  }
}

void declare_plan(const FftPlanDesc& plan, const BufferView& input, const AccessedView& output,
                  GraphOpDeclaration& declaration) {
  const bool is_host = declaration.device_kind() == DeviceKind::Host;
  if (!is_host && is_small(plan)) return declare_small(plan, input, output, declaration);
  // The libraries use the input of a transform to real signals as scratch.
  declaration.use(plan.kind == FftKind::ComplexToReal ? read_write(input) : read(input));
  declaration.use(output);
  const std::uint64_t bytes = is_host ? ops::fft_host_workspace(plan)
                                      : ops::fft_cuda_workspace(plan, declaration.device_ordinal());
  if (bytes != 0) static_cast<void>(declaration.workspace(bytes));
}

void record_plan(const FftPlanDesc& plan, GraphRecordCtx& ctx, const BufferView& input,
                 const BufferView& output) {
  void *const from = ctx.address(input), *const to = ctx.address(output);
  if (ctx.device_kind() == DeviceKind::Host) return ops::record_fft_host(plan, ctx, from, to);
  ops::record_fft_cuda(plan, ctx, from, to);
}

}  // namespace

FftR2COp::FftR2COp(FftR2CDesc desc) : desc_(std::move(desc)) {
  FftR2CDesc& d = desc_;
  check_sizes(op_name(), d.size, d.batch);
  if (d.input_distance == 0) d.input_distance = d.size;
  if (d.output_distance == 0) d.output_distance = d.size / 2 + 1;
  if (d.output_distance < d.size / 2 + 1) {
    refuse(ErrorCode::Overlap, op_name(),
           text("the output distance ", d.output_distance, " is less than a spectrum of ",
                d.size / 2 + 1, " values"));
  }
  check_view(op_name(), "input", d.input, d.size, d.batch, d.input_distance);
  check_view(op_name(), "output", d.output, d.size / 2 + 1, d.batch, d.output_distance);
  check_apart(op_name(), d.input, d.output);
}

std::string FftR2COp::parameters() const { return describe(plan_of(desc_)); }

void FftR2COp::declare(GraphOpDeclaration& declaration) const {
  // Gaps between spectra keep their contents.
  declare_plan(
      plan_of(desc_), desc_.input,
      desc_.output_distance == desc_.size / 2 + 1 ? write(desc_.output) : read_write(desc_.output),
      declaration);
}

void FftR2COp::record(GraphRecordCtx& ctx) const {
  record_plan(plan_of(desc_), ctx, desc_.input, desc_.output);
}

FftC2ROp::FftC2ROp(FftC2RDesc desc) : desc_(std::move(desc)) {
  const FftC2RDesc& d = desc_;
  check_sizes(op_name(), d.size, d.batch);
  check_view(op_name(), "input", d.input, d.size / 2 + 1, d.batch, d.size / 2 + 1);
  check_view(op_name(), "output", d.output, d.size, d.batch, d.size);
  check_apart(op_name(), d.input, d.output);
}

std::string FftC2ROp::parameters() const { return describe(plan_of(desc_)); }

void FftC2ROp::declare(GraphOpDeclaration& declaration) const {
  declare_plan(plan_of(desc_), desc_.input, write(desc_.output), declaration);
}

void FftC2ROp::record(GraphRecordCtx& ctx) const {
  record_plan(plan_of(desc_), ctx, desc_.input, desc_.output);
}

FftC2COp::FftC2COp(FftC2CDesc desc) : desc_(std::move(desc)) {
  const FftC2CDesc& d = desc_;
  ops::require_enumerator(op_name(), ".direction", d.direction);
  check_sizes(op_name(), d.size, d.batch);
  check_view(op_name(), "input", d.input, d.size, d.batch, d.size);
  check_view(op_name(), "output", d.output, d.size, d.batch, d.size);
  if (d.input.id() != d.output.id() || d.input.offset() != d.output.offset())
    check_apart(op_name(), d.input, d.output);
}

std::string FftC2COp::parameters() const { return describe(plan_of(desc_)); }

void FftC2COp::declare(GraphOpDeclaration& declaration) const {
  declare_plan(plan_of(desc_), desc_.input, write(desc_.output), declaration);
}

void FftC2COp::record(GraphRecordCtx& ctx) const {
  record_plan(plan_of(desc_), ctx, desc_.input, desc_.output);
}

}  // namespace reprise::inline REPRISE_ABI

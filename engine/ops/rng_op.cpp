#include <reprise/ops/rng_op.hpp>

#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include <rng.shaders.hpp>

#include "ops/failure.hpp"
#include "ops/philox.hpp"

namespace reprise::inline REPRISE_ABI {
namespace {

constexpr std::uint32_t kThreads = 256;
constexpr std::uint64_t kSmallFill = 4096;  // values that one block fills

template <class Desc>
void check(const Desc& desc, std::string_view name) {
  if (!desc.stream)
    ops::refuse(ErrorCode::NotInitialized, name,
                "the RngStream is empty; create one for a device and a queue");
  if (desc.destination.size() == 0)
    ops::refuse(ErrorCode::InvalidArgument, name, "the destination has 0 values; omit the op");
  constexpr std::uint64_t kMaxValues =
      std::uint64_t{std::numeric_limits<std::int32_t>::max()} * 4 * kThreads - 1;
  if (desc.destination.size() > kMaxValues) {
    ops::refuse(ErrorCode::OutOfRange, name,
                ops::text(desc.destination.size(), " values exceed the limit of ", kMaxValues));
  }
}

// The kernel of a fill and its two arguments.
struct Fill {
  const Kernel& kernel;
  float first, second;
};
Fill fill_of(const RngFillUniformDesc& desc) {
  return {desc.stream.kernels().uniform, desc.low, desc.high - desc.low};
}
Fill fill_of(const RngFillNormalDesc& desc) {
  return {desc.stream.kernels().normal, desc.mean, desc.deviation};
}

template <class Desc>
void declare_fill(const Desc& desc, GraphOpDeclaration& declaration) {
  const std::uint64_t n = desc.destination.size();
  const auto& [kernel, first, second] = fill_of(desc);
  if (declaration.device_kind() != DeviceKind::Host && n <= kSmallFill)
    return declaration.dispatch(kernel, {.grid = 1, .block = kThreads},
                                read_write(desc.stream.state()), write(desc.destination), n, first,
                                second, true);
  declaration.use(write(desc.destination));
  declaration.use(read_write(desc.stream.state()));
}

template <class Desc>
void record_fill(const Desc& desc, GraphRecordCtx& ctx) {
  const std::uint64_t n = desc.destination.size();
  const auto& [kernel, first, second] = fill_of(desc);
  // One extra block of values: the fill may start in the middle of one.
  ctx.dispatch(kernel, {.grid = ceil_div(n / 4 + 2, kThreads), .block = kThreads},
               read_write(desc.stream.state()), write(desc.destination), n, first, second, false);
  ctx.dispatch(desc.stream.kernels().advance, {.grid = 1, .block = 1},
               read_write(desc.stream.state()), n);
}

// Launches the commands that `record` records, once.
template <class Record>
Fence launch_once(const Device& device, const Queue& queue, std::string_view label,
                  const Record& record) {
  CommandBuffer commands = device.create_command_buffer({.label = label});
  commands.begin();
  record(commands);
  commands.end();
  return device.compile(commands).launch(queue);
}

}  // namespace

RngStream::RngStream(const Device& device, const Queue& queue, const RngStreamDesc& desc)
    : device_(device),
      state_(device.create_pool({.label = desc.label})
                 ->allocate<std::uint64_t>(3, desc.label, PerReplica{desc.replicas})),
      kernels_{device.load_kernel(shaders::reprise_rng_uniform),
               device.load_kernel(shaders::reprise_rng_normal),
               device.load_kernel(shaders::reprise_rng_advance)} {
  static_cast<void>(launch_once(device_, queue, "rng start", [&](CommandBuffer& commands) {
    for (std::uint32_t i = 0; i < desc.replicas; ++i) {
      const std::uint64_t words[] = {desc.seed, desc.subsequence + i, desc.position};
      commands.update(state_.replica(i), std::as_bytes(std::span(words)));
    }
  }));
}

RngStream RngStream::replica(std::uint32_t i) const {
  RngStream one = *this;
  one.state_ = state_.replica(i);
  return one;
}

Fence RngStream::seek(const Queue& queue, std::uint64_t position) {
  return launch_once(device_, queue, "rng seek",
                     [&](CommandBuffer& commands) { static_cast<void>(seek(commands, position)); });
}

CommandRef RngStream::seek(Recorder& recorder, std::uint64_t position, SourceLocation where) {
  return recorder.update(state_.slice(2, 1), std::as_bytes(std::span(&position, 1)), where);
}

std::uint64_t RngStream::position(const Queue& queue) const {
  std::vector<std::uint64_t> words(3);
  launch_once(device_, queue, "rng position", [&](CommandBuffer& commands) {
    commands.copy(state_, borrowed(words));
  }).wait();
  return words[2];
}

RngFillUniformOp::RngFillUniformOp(RngFillUniformDesc desc) : desc_(std::move(desc)) {
  check(desc_, "rng_fill_uniform");
}

std::string RngFillUniformOp::parameters() const {
  return ops::text("values ", desc_.destination.size(), ", from ", desc_.low, " to ", desc_.high);
}

void RngFillUniformOp::declare(GraphOpDeclaration& declaration) const {
  declare_fill(desc_, declaration);
}

void RngFillUniformOp::record(GraphRecordCtx& ctx) const { record_fill(desc_, ctx); }

RngFillNormalOp::RngFillNormalOp(RngFillNormalDesc desc) : desc_(std::move(desc)) {
  check(desc_, "rng_fill_normal");
}

std::string RngFillNormalOp::parameters() const {
  return ops::text("values ", desc_.destination.size(), ", mean ", desc_.mean, ", deviation ",
                   desc_.deviation);
}

void RngFillNormalOp::declare(GraphOpDeclaration& declaration) const {
  declare_fill(desc_, declaration);
}

void RngFillNormalOp::record(GraphRecordCtx& ctx) const { record_fill(desc_, ctx); }

std::array<std::uint32_t, 4> philox4x32_10(const std::array<std::uint32_t, 4>& counter,
                                           const std::array<std::uint32_t, 2>& key) noexcept {
  const auto words =
      reprise_ops::philox({{counter[0], counter[1], counter[2], counter[3]}}, key[0], key[1]);
  return {words.w[0], words.w[1], words.w[2], words.w[3]};
}

}  // namespace reprise::inline REPRISE_ABI

#include "support/network_recordings.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace reprise::test {

namespace {

// Records forward operations immediately and stores the backward operations, which are recorded in
// reverse order.
class Network {
 public:
  explicit Network(Ordering ordering) : builder_({.label = "network", .ordering = ordering}) {}

  struct Tensor {
    std::uint32_t value = 0, gradient = 0;  // buffers
    std::uint64_t bytes = 0;
  };

  Tensor input(std::uint64_t bytes) {
    return {builder_.add_buffer("input", bytes), transient("d_input", bytes), bytes};
  }

  // output = operation(inputs, weights). The backward operation reads the output's gradient and the
  // inputs, and writes the gradients of the inputs and of the weights.
  Tensor apply(const std::string& name, const std::vector<Tensor>& inputs, std::uint64_t bytes,
               std::uint64_t weight_bytes, std::uint64_t scratch_bytes = 0) {
    const Tensor output = {transient(name, bytes), transient("d_" + name, bytes), bytes};
    std::vector<BufferAccess> accesses = {builder_.write(output.value)};
    for (const Tensor& input : inputs) accesses.push_back(builder_.read(input.value));
    const std::uint32_t weights =
        weight_bytes == 0 ? 0 : builder_.add_buffer("w_" + name, weight_bytes);
    const std::uint32_t weight_gradient =
        weight_bytes == 0 ? 0 : builder_.add_buffer("dw_" + name, weight_bytes);
    if (weight_bytes != 0) accesses.push_back(builder_.read(weights));
    if (scratch_bytes != 0)
      accesses.push_back(builder_.write(transient("scratch_" + name, scratch_bytes)));
    builder_.dispatch(name, accesses);
    backward_.push_back([=, this] {
      if (weight_bytes != 0) {
        std::vector<BufferAccess> uses = {builder_.read(output.gradient),
                                          builder_.write(weight_gradient)};
        for (const Tensor& input : inputs) uses.push_back(builder_.read(input.value));
        builder_.dispatch("weights_" + name, uses);
      }
      std::vector<BufferAccess> uses = {builder_.read(output.gradient)};
      for (const Tensor& input : inputs) uses.push_back(builder_.read_write(input.gradient));
      if (weight_bytes != 0) uses.push_back(builder_.read(weights));
      if (scratch_bytes != 0)
        uses.push_back(builder_.write(transient("scratch_d_" + name, scratch_bytes)));
      builder_.dispatch("inputs_" + name, uses);
    });
    return output;
  }

  RecordingPtr finish(const Tensor& last) {
    builder_.dispatch("loss", {builder_.read(last.value), builder_.write(last.gradient)});
    for (auto step = backward_.rbegin(); step != backward_.rend(); ++step) (*step)();
    return builder_.finish();
  }

 private:
  std::uint32_t transient(const std::string& name, std::uint64_t bytes) {
    return builder_.add_buffer(name, bytes, BufferKind::Transient);
  }
  RecordingBuilder builder_;
  std::vector<std::function<void()>> backward_;
};

constexpr std::uint64_t kKiB = 1024;

}  // namespace

RecordingPtr mlp_step(const NetworkDesc& desc) {
  Network net(desc.ordering);
  auto x = net.input(256 * kKiB);
  for (std::uint32_t i = 0; i < desc.blocks; ++i) {
    const std::uint64_t bytes = (64 + i * 37 % 5 * 48) * kKiB;
    x = net.apply("linear", {x}, bytes, 2 * bytes);
    x = net.apply("relu", {x}, bytes, 0);
  }
  return net.finish(x);
}

RecordingPtr resnet_step(const NetworkDesc& desc) {
  Network net(desc.ordering);
  auto x = net.input(1024 * kKiB);
  for (std::uint32_t i = 0; i < desc.blocks; ++i) {
    const std::uint64_t bytes = (1024 >> std::min(i / 4, 6u)) * kKiB;
    const auto first = net.apply("conv1", {x}, bytes, 36 * kKiB, bytes / 2);
    const auto active = net.apply("relu1", {first}, bytes, 0);
    const auto second = net.apply("conv2", {active}, bytes, 36 * kKiB, bytes / 2);
    const auto skip = x.bytes == bytes ? x : net.apply("project", {x}, bytes, 4 * kKiB);
    x = net.apply("sum", {second, skip}, bytes, 0);
  }
  return net.finish(x);
}

RecordingPtr transformer_step(const NetworkDesc& desc) {
  Network net(desc.ordering);
  const std::uint64_t width = 512 * kKiB;
  auto x = net.input(width);
  for (std::uint32_t i = 0; i < desc.blocks; ++i) {
    const auto normal = net.apply("norm1", {x}, width, 2 * kKiB);
    const auto q = net.apply("q", {normal}, width, 64 * kKiB),
               k = net.apply("k", {normal}, width, 64 * kKiB),
               v = net.apply("v", {normal}, width, 64 * kKiB);
    const auto scores = net.apply("scores", {q, k}, 4 * width, 0),
               soft = net.apply("softmax", {scores}, 4 * width, 0, 16 * kKiB);
    const auto mixed = net.apply("mix", {soft, v}, width, 0),
               out = net.apply("out", {mixed}, width, 64 * kKiB);
    const auto middle = net.apply("sum1", {out, x}, width, 0),
               normal2 = net.apply("norm2", {middle}, width, 2 * kKiB);
    const auto up = net.apply("up", {normal2}, 4 * width, 256 * kKiB),
               active = net.apply("gelu", {up}, 4 * width, 0);
    x = net.apply("sum2", {net.apply("down", {active}, width, 256 * kKiB), middle}, width, 0);
  }
  return net.finish(x);
}

RecordingPtr unet_step(const NetworkDesc& desc) {
  Network net(desc.ordering);
  std::uint64_t bytes = std::uint64_t{4096} * kKiB;
  auto x = net.input(bytes);
  std::vector<Network::Tensor> skip_tensors;
  for (std::uint32_t i = 0; i < desc.blocks; ++i) {
    skip_tensors.push_back(net.apply("down_conv", {net.apply("down_relu", {x}, bytes, 0)}, bytes,
                                     36 * kKiB, bytes / 4));
    bytes = std::max<std::uint64_t>(bytes / 2, 4 * kKiB);
    x = net.apply("pool", {skip_tensors.back()}, bytes, 0);
  }
  for (std::uint32_t i = desc.blocks; i-- > 0;) {
    bytes = skip_tensors[i].bytes;
    const auto up = net.apply("up", {x}, bytes, 16 * kKiB);
    const auto both = net.apply("concat", {up, skip_tensors[i]}, 2 * bytes, 0);
    x = net.apply("up_conv", {both}, bytes, 36 * kKiB, bytes / 4);
  }
  return net.finish(x);
}

}  // namespace reprise::test

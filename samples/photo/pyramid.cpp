#include "pyramid.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "pyramid.shaders.hpp"

namespace photo {

using reprise::ceil_div;
using reprise::CommandBuffer;
using reprise::read;
using reprise::read_write;
using reprise::write;

namespace {

constexpr reprise::Dim3 kTile = {16, 16};       // threads per block for a plane
constexpr std::uint32_t kThreads = 256;         // per block for a list of pixels
constexpr std::uint32_t kHistogramBlocks = 32;  // maximum; each block strides over the image

reprise::Dim3 tiles(Size size) {
  return {ceil_div(size.width, kTile.x), ceil_div(size.height, kTile.y)};
}

std::uint32_t pixels(Size size) { return static_cast<std::uint32_t>(size.pixels()); }

constexpr std::array<const char*, kChannels> kChannelNames = {"red", "green", "blue"};

}  // namespace

Pyramid::Pyramid(const reprise::Device& device, Size size)
    : sizes_(level_sizes(size)),
      kernels_{.split_channel = device.load_kernel(shaders::split_channel),
               .halve_width = device.load_kernel(shaders::halve_width),
               .halve_height = device.load_kernel(shaders::halve_height),
               .add_expanded = device.load_kernel(shaders::add_expanded),
               .merge_channels = device.load_kernel(shaders::merge_channels),
               .gradient_edges = device.load_kernel(shaders::gradient_edges),
               .channel_histogram = device.load_kernel(shaders::channel_histogram)},
      pool_(device.create_pool({.label = "photo"})),
      queue_(device.create_queue({.label = "photo"})),
      input_(pool_->host<std::uint8_t>(size.pixels() * kChannels, "input")) {
  CommandBuffer commands = device.create_command_buffer({.label = "pyramid"});
  commands.begin();
  record(commands);
  commands.end();
  graph_ = device.compile(commands, {.pool = pool_});
}

void Pyramid::record(CommandBuffer& commands) {
  const auto rgb = pool_->transient<std::uint8_t>(input_.size(), "picture");
  commands.copy(input_, rgb);
  histograms(commands, rgb);

  const std::size_t last = sizes_.size() - 1;
  std::vector<Planes> gaussian = {split(commands, rgb)};
  std::vector<Planes> laplacian;
  edges_.push_back(edges(commands, gaussian[0], sizes_[0]));
  for (std::size_t l = 0; l < last; ++l) {
    const auto scope = commands.label("down to level " + std::to_string(l + 1));
    gaussian.push_back(halve(commands, gaussian[l], sizes_[l]));
    laplacian.push_back(add_expanded(commands, gaussian[l], sizes_[l], gaussian[l + 1], -1.0f));
    gaussian_.push_back(merge(commands, gaussian[l + 1], sizes_[l + 1], 0.0f));
    laplacian_.push_back(merge(commands, laplacian[l], sizes_[l], 128.0f));
    edges_.push_back(edges(commands, gaussian[l + 1], sizes_[l + 1]));
  }
  Planes sum = gaussian[last];
  for (std::size_t l = last; l-- > 0;) {
    const auto scope = commands.label("up to level " + std::to_string(l));
    sum = add_expanded(commands, laplacian[l], sizes_[l], sum, 1.0f);
  }
  const auto scope = commands.label("reconstruction");
  reconstruction_ = merge(commands, sum, sizes_[0], 0.0f);
}

Pyramid::Planes Pyramid::split(CommandBuffer& commands, const Bytes& rgb) {
  const auto scope = commands.label("split");
  Planes planes;
  for (std::uint32_t c = 0; c < kChannels; ++c) {
    planes[c] = pool_->transient<float>(sizes_[0].pixels(), kChannelNames[c]);
    commands.dispatch(kernels_.split_channel,
                      {.grid = ceil_div(sizes_[0].pixels(), kThreads), .block = kThreads},
                      read(rgb), write(planes[c]), pixels(sizes_[0]), c);
  }
  return planes;
}

Pyramid::Planes Pyramid::halve(CommandBuffer& commands, const Planes& fine, Size size) {
  const Size narrow = {size.halved().width, size.height};
  Planes coarse;
  for (std::uint32_t c = 0; c < kChannels; ++c) {
    const auto scope = commands.label(kChannelNames[c]);
    const auto between = pool_->transient<float>(narrow.pixels(), "half width");
    coarse[c] = pool_->transient<float>(size.halved().pixels(), kChannelNames[c]);
    commands.dispatch(kernels_.halve_width, {.grid = tiles(narrow), .block = kTile}, read(fine[c]),
                      write(between), size.width, size.height, narrow.width);
    commands.dispatch(kernels_.halve_height, {.grid = tiles(size.halved()), .block = kTile},
                      read(between), write(coarse[c]), narrow.width, narrow.height,
                      size.halved().height);
  }
  return coarse;
}

Pyramid::Planes Pyramid::add_expanded(CommandBuffer& commands, const Planes& fine, Size size,
                                      const Planes& coarse, float sign) {
  const auto scope = commands.label(sign < 0 ? "difference" : "sum");
  Planes result;
  for (std::uint32_t c = 0; c < kChannels; ++c) {
    result[c] = pool_->transient<float>(size.pixels(), kChannelNames[c]);
    commands.dispatch(kernels_.add_expanded, {.grid = tiles(size), .block = kTile}, read(fine[c]),
                      read(coarse[c]), write(result[c]), size.width, size.height,
                      size.halved().width, size.halved().height, sign);
  }
  return result;
}

Pyramid::HostBytes Pyramid::merge(CommandBuffer& commands, const Planes& planes, Size size,
                                  float offset) {
  const auto scope = commands.label("picture");
  const auto rgb = pool_->transient<std::uint8_t>(size.pixels() * kChannels, "rgb");
  auto result = pool_->host<std::uint8_t>(rgb.size(), "result");
  commands.dispatch(kernels_.merge_channels,
                    {.grid = ceil_div(size.pixels(), kThreads), .block = kThreads}, read(planes[0]),
                    read(planes[1]), read(planes[2]), write(rgb), pixels(size), 1.0f, offset);
  commands.copy(rgb, result);
  return result;
}

Pyramid::HostBytes Pyramid::edges(CommandBuffer& commands, const Planes& planes, Size size) {
  const auto scope = commands.label("edges");
  const auto bytes = pool_->transient<std::uint8_t>(size.pixels(), "edges");
  auto result = pool_->host<std::uint8_t>(bytes.size(), "edges result");
  commands.dispatch(kernels_.gradient_edges, {.grid = tiles(size), .block = kTile}, read(planes[0]),
                    read(planes[1]), read(planes[2]), write(bytes), size.width, size.height);
  commands.copy(bytes, result);
  return result;
}

void Pyramid::histograms(CommandBuffer& commands, const Bytes& rgb) {
  const auto scope = commands.label("histograms");
  const auto bins = pool_->transient<std::uint32_t>(kChannels * kBins, "bins");
  histogram_ = pool_->host<std::uint32_t>(bins.size(), "histogram result");
  commands.fill(bins, 0u);
  const std::uint32_t grid = std::min(ceil_div(sizes_[0].pixels(), kBins), kHistogramBlocks);
  for (std::uint32_t c = 0; c < kChannels; ++c) {
    commands.dispatch(kernels_.channel_histogram, {.grid = grid, .block = kBins}, read(rgb),
                      read_write(bins.slice(c * kBins, kBins)), pixels(sizes_[0]), c);
  }
  commands.copy(bins, histogram_);
}

Results<std::uint8_t> Pyramid::run(const Image& image) {
  if (image.size != sizes_[0]) {
    throw std::logic_error("the pyramid was recorded for images of another size");
  }
  std::ranges::copy(image.rgb, input_.data());
  graph_.launch(queue_).wait();

  const auto bytes = [](const HostBytes& result) {
    return std::vector<std::uint8_t>(result.span().begin(), result.span().end());
  };
  Results<std::uint8_t> results;
  std::ranges::transform(gaussian_, std::back_inserter(results.gaussian), bytes);
  std::ranges::transform(laplacian_, std::back_inserter(results.laplacian), bytes);
  std::ranges::transform(edges_, std::back_inserter(results.edges), bytes);
  results.reconstruction = bytes(reconstruction_);
  for (std::uint32_t c = 0; c < kChannels; ++c) {
    const auto counts = histogram_.slice(c * kBins, kBins);
    results.histogram[c].assign(counts.span().begin(), counts.span().end());
  }
  return results;
}

void Pyramid::repeat(std::uint32_t times) {
  for (std::uint32_t i = 0; i < times; ++i) graph_.launch(queue_);
  queue_.wait_idle();
}

}  // namespace photo

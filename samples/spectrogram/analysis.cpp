#include "analysis.hpp"

#include <algorithm>
#include <cmath>

#include <reprise/ops/fft_op.hpp>

#include "spectrogram.shaders.hpp"

namespace spectrogram {

using reprise::ceil_div;
using reprise::read;
using reprise::write;

std::vector<float> window(std::uint32_t size) {
  std::vector<float> values(size);
  for (std::uint32_t i = 0; i < size; ++i)
    values[i] = static_cast<float>(0.5 - 0.5 * std::cos(2 * 3.14159265358979323846 * i / size));
  return values;
}

Analysis::Analysis(const reprise::Device& device, const Frames& frames)
    : device_(device),
      frames_(frames),
      pool_(device.create_pool({.label = "spectrogram"})),
      samples_(pool_->host<float>(std::uint64_t{kBatch - 1} * frames.hop + frames.size, "samples")),
      levels_(pool_->host<std::uint8_t>(std::uint64_t{kBatch} * frames.bins(), "levels")),
      queue_(device.create_queue({.label = "analysis"})),
      graph_(device.compile(record(device.load_kernel(shaders::cut_frames),
                                   device.load_kernel(shaders::power_levels)),
                            {.pool = pool_})) {
  graph_.upload(queue_);
}

reprise::CommandBuffer Analysis::record(const reprise::Kernel& cut, const reprise::Kernel& power) {
  const std::uint32_t size = frames_.size, bins = frames_.bins();
  const auto sound = pool_->transient<float>(samples_.size(), "sound");
  const auto fade = pool_->transient<float>(size, "window");
  const auto cut_frames = pool_->transient<float>(std::uint64_t{kBatch} * size, "frames");
  const auto spectra =
      pool_->transient<std::complex<float>>(std::uint64_t{kBatch} * bins, "spectra");
  const auto shown = pool_->transient<std::uint8_t>(std::uint64_t{kBatch} * bins, "shown");
  reprise::CommandBuffer commands = device_.create_command_buffer({.label = "stretch"});
  commands.begin();
  commands.copy(samples_, sound);
  commands.copy(reprise::snapshot(window(size)), fade);
  commands.dispatch(cut, {.grid = kBatch, .block = 256}, read(sound), read(fade), write(cut_frames),
                    size, frames_.hop);
  commands.add(
      reprise::FftR2COp({.input = cut_frames, .output = spectra, .size = size, .batch = kBatch}));
  // A full-scale tone is 0 dB: half of its amplitude is at its positive frequency, and the window
  // halves it again.
  commands.dispatch(power, {.grid = ceil_div(std::uint64_t{kBatch} * bins, 256), .block = 256},
                    read(spectra.as<float>()), write(shown), kBatch, bins,
                    4.0f / static_cast<float>(size), kFloor);
  commands.copy(shown, levels_);
  commands.end();
  return commands;
}

std::vector<std::uint8_t> Analysis::levels(const Sound& sound) {
  const std::uint64_t count = frames_.count(sound.samples.size());
  std::vector<std::uint8_t> picture(count * frames_.bins());
  for (std::uint64_t first = 0; first < count; first += kBatch) {
    const std::uint64_t from = first * frames_.hop;
    const std::uint64_t there =
        std::min<std::uint64_t>(samples_.size(), sound.samples.size() - from);
    const auto stretch = samples_.span();
    std::copy_n(sound.samples.begin() + static_cast<std::ptrdiff_t>(from), there, stretch.begin());
    std::fill(stretch.begin() + static_cast<std::ptrdiff_t>(there), stretch.end(), 0.0f);
    graph_.launch(queue_).wait();
    const std::uint64_t columns = std::min<std::uint64_t>(kBatch, count - first);
    for (std::uint64_t row = 0; row < frames_.bins(); ++row) {
      std::copy_n(levels_.span().begin() + static_cast<std::ptrdiff_t>(row * kBatch), columns,
                  picture.begin() + static_cast<std::ptrdiff_t>(row * count + first));
    }
  }
  return picture;
}

void Analysis::repeat(std::uint32_t times) {
  for (std::uint32_t i = 0; i < times; ++i) graph_.launch(queue_);
  queue_.wait_idle();
}

}  // namespace spectrogram

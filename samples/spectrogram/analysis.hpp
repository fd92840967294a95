// The analysis on a device: one graph, recorded and compiled once, that is replayed for each
// stretch of the sound. Threads: one at a time.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include <reprise/reprise.hpp>

#include "sound.hpp"

namespace spectrogram {

struct Frames {
  std::uint32_t size = 1024;  // samples that a transform takes
  std::uint32_t hop = 256;    // samples from frame to frame
  [[nodiscard]] std::uint32_t bins() const { return size / 2 + 1; }
  // How many are in a sound; 0: it is shorter than one.
  [[nodiscard]] std::uint64_t count(std::uint64_t samples) const {
    return samples < size ? 0 : (samples - size) / hop + 1;
  }
};

inline constexpr float kFloor = -100;  // decibels that are black

// Fades a frame in and out, so that its ends do not sound.
[[nodiscard]] std::vector<float> window(std::uint32_t size);

class Analysis {
 public:
  static constexpr std::uint32_t kBatch = 256;  // frames that one replay takes

  Analysis(const reprise::Device& device, const Frames& frames);

  // A byte a value: frames.bins() rows from the highest frequency on, a column a frame.
  [[nodiscard]] std::vector<std::uint8_t> levels(const Sound& sound);
  [[nodiscard]] const reprise::CapturedGraph& graph() const noexcept { return graph_; }

 private:
  [[nodiscard]] reprise::CommandBuffer record(const reprise::Kernel& cut,
                                              const reprise::Kernel& power);

  reprise::Device device_;
  Frames frames_;
  std::shared_ptr<reprise::CapturePool> pool_;
  reprise::HostRef<float> samples_;
  reprise::HostRef<std::uint8_t> levels_;
  reprise::Queue queue_;
  reprise::CapturedGraph graph_;
};

}  // namespace spectrogram

// The analysis on a device: one graph, recorded and compiled once and replayed for each section of
// the sound. Threads: one at a time.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include <reprise/reprise.hpp>

#include "sound.hpp"

namespace spectrogram {

struct Frames {
  std::uint32_t size = 1024;  // samples per transform
  std::uint32_t hop = 256;    // samples between frames
  [[nodiscard]] std::uint32_t bins() const { return size / 2 + 1; }
  // Number of frames in a sound; 0: the sound is shorter than one frame.
  [[nodiscard]] std::uint64_t count(std::uint64_t samples) const {
    return samples < size ? 0 : (samples - size) / hop + 1;
  }
};

inline constexpr float kFloor = -100;  // decibels drawn as black

// The window that fades each frame in and out.
[[nodiscard]] std::vector<float> window(std::uint32_t size);

class Analysis {
 public:
  static constexpr std::uint32_t kBatch = 256;  // frames per replay

  Analysis(const reprise::Device& device, const Frames& frames);

  // One byte per value: frames.bins() rows, highest frequency first, one column per frame.
  [[nodiscard]] std::vector<std::uint8_t> levels(const Sound& sound);
  // Replays the last section `times` times in a row; waits for the last replay.
  void repeat(std::uint32_t times);
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

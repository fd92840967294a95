// spectrogram: draws the frequencies of a sound over time. One recorded batch of transforms is
// replayed along the sound.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>

#include "analysis.hpp"
#include "picture.hpp"
#include "reference.hpp"
#include "sound.hpp"
#include "support/program.hpp"
#include "support/timing.hpp"

namespace {

using namespace spectrogram;

constexpr std::uint64_t kCheckedFrames = 8;
// Largest allowed difference of a level (0.39 dB): levels are rounded to integers, and single
// precision matters near the floor.
constexpr double kTolerance = 1.5;

// Compares some frames of the image with plain C++.
bool check(const samples::Program& program, const Sound& sound, const Frames& frames,
           const std::vector<std::uint8_t>& levels) {
  const std::uint64_t count = frames.count(sound.samples.size());
  double largest = 0;
  for (std::uint64_t n = 0; n < kCheckedFrames; ++n) {
    const std::uint64_t frame = n * (count - 1) / (kCheckedFrames - 1);
    const std::vector<double> expected = reference_levels(sound, frames, frame);
    for (std::uint32_t bin = 0; bin < frames.bins(); ++bin) {
      largest = std::max(
          largest, std::abs(expected[bin] - levels[(frames.bins() - 1 - bin) * count + frame]));
    }
  }
  const bool good = largest <= kTolerance;
  std::printf(
      "levels of 256 differ from the double-precision reference by at most %.2f (allowed: "
      "%.1f)%s\n",
      largest, kTolerance, good ? "" : ": WRONG");
  if (!good) program.complain("the device's levels differ from the reference");
  return good;
}

bool draw(const samples::Program& program, const samples::Timing& timing, const std::string& file,
          const Frames& frames) {
  Sound sound;
  if (file.empty()) {
    sound = chirp_with_chords();
    const auto made = program.output("chirp.wav");
    write_wav(made, sound);
    std::printf("no file given: using a generated chirp with chords, written to %s\n",
                made.c_str());
  } else {
    sound = read_sound(file);
  }
  const std::uint64_t count = frames.count(sound.samples.size());
  if (count == 0) {
    program.complain("the sound has " + std::to_string(sound.samples.size()) +
                     " samples, less than the " + std::to_string(frames.size) + " of one frame");
    return false;
  }
  const reprise::Instance instance(
      {.application = "spectrogram", .cuda_graphs = reprise::CudaGraphs::Exclusive});
  const reprise::Device device = program.open_device(instance);
  Analysis analysis(device, frames);
  std::printf("one stretch of %u frames: %s\n", Analysis::kBatch,
              samples::describe(analysis.graph().report()).c_str());
  const auto dot = program.output("spectrogram.dot");
  analysis.graph().export_dot(dot);
  std::printf("wrote %s\n", dot.c_str());

  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  const std::vector<std::uint8_t> levels = analysis.levels(sound);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const double length = static_cast<double>(sound.samples.size()) / sound.rate;
  std::printf(
      "%.1f s of sound at %u Hz, %llu frames of %u samples, in %.3f s: %.0f times as fast as it "
      "sounds\n",
      length, sound.rate, static_cast<unsigned long long>(count), frames.size, seconds,
      length / std::max(seconds, 1e-9));
  const auto picture = program.output("spectrogram.png");
  write_picture(picture, static_cast<std::uint32_t>(count), frames.bins(), levels);
  std::printf("wrote %s, %llu x %u pixels, 0 to %u Hz from the bottom, %.0f dB to 0 dB\n",
              picture.c_str(), static_cast<unsigned long long>(count), frames.bins(),
              sound.rate / 2, static_cast<double>(kFloor));
  if (!check(program, sound, frames, levels)) return false;
  timing.measure("stretch", "one graph", 1,
                 [&](std::uint32_t launches) { analysis.repeat(launches); });
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  samples::Program program("spectrogram", "Draws the frequencies of a sound over time.");
  std::string file;
  Frames frames;
  program.options.add_option("sound", file,
                             "a WAV, FLAC or Ogg file (default: a chirp with chords)");
  program.options.add_option("--size", frames.size, "samples per frame")
      ->capture_default_str()
      ->check(CLI::Range(16, 16384));
  program.options.add_option("--hop", frames.hop, "samples between frames")
      ->capture_default_str()
      ->check(CLI::Range(1, 16384));
  samples::Timing timing(program);
  return program.run(argc, argv, [&] { return draw(program, timing, file, frames); });
}

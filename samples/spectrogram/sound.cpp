#include "sound.hpp"

#include <sndfile.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>

namespace spectrogram {
namespace {

constexpr double kTurn = 2 * 3.14159265358979323846;
constexpr sf_count_t kMaxFrames = sf_count_t{1} << 28;  // an hour and a half at 48 kHz

struct Close {
  void operator()(SNDFILE* file) const { sf_close(file); }
};
using File = std::unique_ptr<SNDFILE, Close>;

[[noreturn]] void fail(const char* what, const std::filesystem::path& file,
                       const std::string& why) {
  throw std::runtime_error(std::string("cannot ") + what + ' ' + file.string() + ": " + why);
}

}  // namespace

Sound read_sound(const std::filesystem::path& file) {
  SF_INFO info{};
  const File in(sf_open(file.c_str(), SFM_READ, &info));
  if (!in) fail("read", file, sf_strerror(nullptr));
  if (info.frames <= 0) fail("read", file, "it holds no sound");
  if (info.frames > kMaxFrames) fail("read", file, "it is too long");
  const auto channels = static_cast<std::size_t>(info.channels);
  std::vector<float> all(static_cast<std::size_t>(info.frames) * channels);
  const sf_count_t frames = sf_readf_float(in.get(), all.data(), info.frames);
  if (frames != info.frames) fail("read", file, "it ends too early");
  Sound sound{.rate = static_cast<std::uint32_t>(info.samplerate),
              .samples = std::vector<float>(static_cast<std::size_t>(info.frames))};
  for (std::size_t i = 0; i < sound.samples.size(); ++i) {
    float sum = 0;
    for (std::size_t c = 0; c < channels; ++c) sum += all[i * channels + c];
    sound.samples[i] = sum / static_cast<float>(channels);
  }
  return sound;
}

void write_wav(const std::filesystem::path& file, const Sound& sound) {
  SF_INFO info{};
  info.samplerate = static_cast<int>(sound.rate);
  info.channels = 1;
  info.format = SF_FORMAT_WAV | SF_FORMAT_PCM_16;
  const File out(sf_open(file.c_str(), SFM_WRITE, &info));
  if (!out) fail("write", file, sf_strerror(nullptr));
  const auto count = static_cast<sf_count_t>(sound.samples.size());
  if (sf_writef_float(out.get(), sound.samples.data(), count) != count)
    fail("write", file, sf_strerror(out.get()));
}

Sound chirp_with_chords() {
  constexpr std::uint32_t kRate = 44100, kSeconds = 10;
  constexpr double kLow = 100, kHigh = 12000;
  // Roots of a progression, in hertz; a chord is root, major third, fifth and octave.
  constexpr std::array<double, 5> kRoots = {261.63, 349.23, 392.0, 220.0, 293.66};
  constexpr std::array<double, 4> kTones = {1.0, 1.259921, 1.498307, 2.0};
  Sound sound{.rate = kRate, .samples = std::vector<float>(kRate * kSeconds)};
  const double growth = std::log(kHigh / kLow) / kSeconds;
  for (std::size_t i = 0; i < sound.samples.size(); ++i) {
    const double t = static_cast<double>(i) / kRate;
    double value = 0.35 * std::sin(kTurn * kLow * (std::exp(growth * t) - 1) / growth);
    const double root = kRoots[static_cast<std::size_t>(t) % kRoots.size()],
                 since = t - std::floor(t);
    for (const double tone : kTones)
      value += 0.09 * std::exp(-2.5 * since) * std::sin(kTurn * root * tone * since);
    value += 0.12 * std::sin(kTurn * 55 * t);
    sound.samples[i] = static_cast<float>(std::clamp(value, -1.0, 1.0));
  }
  return sound;
}

}  // namespace spectrogram

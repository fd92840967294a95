// Sound in memory and in files: reads every format of libsndfile, writes WAV, and generates a test
// sound. Knows no device. Threads: values; the functions may be called from any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace spectrogram {

struct Sound {
  std::uint32_t rate = 0;      // samples per second
  std::vector<float> samples;  // one channel, -1 to 1
};

// Averages several channels. Throws std::runtime_error that names the file if it is missing, not a
// sound, empty or too long.
[[nodiscard]] Sound read_sound(const std::filesystem::path& file);
// 16 bits per sample. Throws std::runtime_error that names the file.
void write_wav(const std::filesystem::path& file, const Sound& sound);

// Ten seconds: a tone that rises from 100 Hz to 12 kHz, with a bass note and a chord each second.
[[nodiscard]] Sound chirp_with_chords();

}  // namespace spectrogram

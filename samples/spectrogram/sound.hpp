// Sound in memory and in files: anything that libsndfile reads in, WAV out, and a sound of our own
// making. Knows no device. Threads: values; the functions may be called from any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace spectrogram {

struct Sound {
  std::uint32_t rate = 0;      // samples a second
  std::vector<float> samples;  // one channel, -1 to 1
};

// Several channels become their mean. Throws std::runtime_error naming the file: missing, no sound,
// empty, too long.
[[nodiscard]] Sound read_sound(const std::filesystem::path& file);
// 16 bits a sample. Throws std::runtime_error naming the file.
void write_wav(const std::filesystem::path& file, const Sound& sound);

// Ten seconds: a tone that rises from 100 Hz to 12 kHz, and above a bass a chord each second.
[[nodiscard]] Sound chirp_with_chords();

}  // namespace spectrogram

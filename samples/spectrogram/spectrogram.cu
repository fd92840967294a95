// The kernels before and after the transforms.
#include <reprise_kernel.hpp>

// One block per frame: `size` windowed samples, starting at every `hop`-th sample.
REPRISE_KERNEL(cut_frames, (const float* samples, const float* window, float* frames, unsigned size,
                            unsigned hop)) {
  const float* from = samples + static_cast<unsigned long long>(blockIdx.x) * hop;
  float* to = frames + static_cast<unsigned long long>(blockIdx.x) * size;
  for (unsigned i = threadIdx.x; i < size; i += blockDim.x) to[i] = from[i] * window[i];
}

// One thread per value: its power in decibels as a level from 0 (`floor_db` and below) to 255 (0 dB
// and above). spectra: frames x bins, real and imaginary part each; levels: bins x frames, low
// frequencies at the bottom.
REPRISE_KERNEL(power_levels, (const float* spectra, unsigned char* levels, unsigned frames,
                              unsigned bins, float scale, float floor_db)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= frames * bins) return;
  const unsigned frame = i / bins, bin = i % bins;
  const float real = spectra[2 * i] * scale, imaginary = spectra[2 * i + 1] * scale;
  const float decibels = 10.0f * log10f(real * real + imaginary * imaginary + 1e-20f);
  const float level = 255.0f * (1.0f - decibels / floor_db);
  levels[(bins - 1 - bin) * frames + frame] =
      static_cast<unsigned char>(fminf(fmaxf(level, 0.0f), 255.0f) + 0.5f);
}

// The kernels of one training step and of the evaluation on held-out rows.
//
// Matrices are row-major; their products are library ops. The kernels use no floating-point
// atomics: every sum has a fixed order, and the same seed gives the same bits.
#include <reprise_kernel.hpp>

#define PIXELS 64
#define SIDE 8
#define CLASSES 10
#define ROWS 16  // of a microbatch, at most

__device__ inline unsigned mix(unsigned x) {
  x ^= x >> 16;
  x *= 0x7feb352dU;
  x ^= x >> 15;
  x *= 0x846ca68bU;
  return x ^ (x >> 16);
}

// The row at `position` of this epoch's order: a bijection of 0..mask, repeated until the value is
// a row.
__device__ inline unsigned shuffled_row(unsigned position, unsigned rows, unsigned epoch,
                                        unsigned seed) {
  unsigned mask = 1;
  while (mask < rows - 1) mask = 2 * mask + 1;
  unsigned row = position;
  do {
    unsigned key = mix(seed ^ mix(epoch));
    for (int round = 0; round < 4; ++round) {
      key = mix(key + 0x9e3779b9U);
      row = (row * (key | 1) + (key >> 16)) & mask;
      row ^= row >> 5;
    }
  } while (row >= rows);
  return row;
}

// Gathers the `count` rows of one microbatch and shifts half of the images by a pixel. One thread
// per row, then per value. x: count x (PIXELS + 1), the last column 1; labels: count. `first`: the
// microbatch's first row in the batch of `batch_rows`. moves: one random value per row, in [0, 1).
REPRISE_KERNEL(gather_rows,
               (const float* images, const unsigned* image_labels, unsigned rows,
                const unsigned* step, unsigned seed, unsigned batch_rows, unsigned first,
                unsigned count, const float* moves, float* x, unsigned* labels)) {
  __shared__ unsigned gathered[ROWS], ways[ROWS];
  if (threadIdx.x < count) {
    ways[threadIdx.x] = static_cast<unsigned>(8.0f * moves[threadIdx.x]);
    const unsigned per_epoch = rows / batch_rows, now = *step;
    const unsigned at = now % per_epoch * batch_rows + first + threadIdx.x;
    const unsigned row = shuffled_row(at, rows, now / per_epoch, seed);
    gathered[threadIdx.x] = row;
    labels[threadIdx.x] = image_labels[row];
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < count * (PIXELS + 1); i += blockDim.x) {
    const unsigned r = i / (PIXELS + 1), pixel = i % (PIXELS + 1), way = ways[r];
    const int right = way == 0 ? 1 : way == 1 ? -1 : 0;
    const int down = way == 2 ? 1 : way == 3 ? -1 : 0;
    const int from_x = static_cast<int>(pixel % SIDE) - right;
    const int from_y = static_cast<int>(pixel / SIDE) - down;
    const bool inside = from_x >= 0 && from_x < SIDE && from_y >= 0 && from_y < SIDE;
    x[i] = pixel == PIXELS ? 1.0f
           : inside        ? images[gathered[r] * PIXELS + from_y * SIDE + from_x]
                           : 0.0f;
  }
}

// h, rows x (units + 1): tanh of y, rows x units, and 1 in the last column.
REPRISE_KERNEL(activate, (const float* y, float* h, unsigned rows, unsigned units)) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < rows * (units + 1);
       i += gridDim.x * blockDim.x) {
    const unsigned row = i / (units + 1);
    h[i] = i % (units + 1) == units ? 1.0f : tanhf(y[i - row]);
  }
}

// Multiplies dx, rows x units, by the derivative of tanh at h, rows x (units + 1).
REPRISE_KERNEL(tanh_slope, (const float* h, float* dx, unsigned rows, unsigned units)) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < rows * units;
       i += gridDim.x * blockDim.x) {
    const float value = h[i + i / units];
    dx[i] *= 1.0f - value * value;
  }
}

// One thread per row: the cross-entropy of softmax(logits) in loss[row], its derivative times
// `scale` in slope.
REPRISE_KERNEL(softmax_cross_entropy, (const float* logits, const unsigned* labels, float* slope,
                                       float* loss, unsigned rows, float scale)) {
  const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const float* z = logits + row * CLASSES;
  float largest = z[0];
  for (unsigned c = 1; c < CLASSES; ++c) largest = fmaxf(largest, z[c]);
  float e[CLASSES];
  float sum = 0.0f;
  for (unsigned c = 0; c < CLASSES; ++c) {
    e[c] = expf(z[c] - largest);
    sum += e[c];
  }
  for (unsigned c = 0; c < CLASSES; ++c) {
    slope[row * CLASSES + c] = (e[c] / sum - (c == labels[row] ? 1.0f : 0.0f)) * scale;
  }
  loss[row] = logf(sum) + largest - z[labels[row]];
}

// One thread per weight: adds the gradients of the microbatches and updates the weight with
// momentum.
REPRISE_KERNEL(momentum_step, (float* w, float* velocity, const float* gradients, unsigned count,
                               unsigned microbatches, const float* rate, float momentum,
                               float decay)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float gradient = 0.0f;
  for (unsigned m = 0; m < microbatches; ++m) gradient += gradients[m * count + i];
  velocity[i] = momentum * velocity[i] + gradient + decay * w[i];
  w[i] -= *rate * velocity[i];
}

// One thread: adds the batch's mean loss to the running loss, counts the step and sets the rate of
// its update.
REPRISE_KERNEL(count_step, (const float* total_loss, unsigned rows, float* running_loss,
                            unsigned* step, unsigned total_steps, float first_rate, float* rate)) {
  *running_loss += *total_loss / static_cast<float>(rows);
  *rate = first_rate * (1.0f - static_cast<float>(*step) / static_cast<float>(total_steps));
  *step += 1;
}

// One thread per row: counts the rows whose largest logit is at their label.
REPRISE_KERNEL(count_correct,
               (const float* logits, const unsigned* labels, unsigned rows, unsigned* correct)) {
  const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  unsigned best = 0;
  for (unsigned c = 1; c < CLASSES; ++c) {
    if (logits[row * CLASSES + c] > logits[row * CLASSES + best]) best = c;
  }
  if (best == labels[row]) atomicAdd(correct, 1u);
}

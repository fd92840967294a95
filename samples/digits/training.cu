// The kernels of one training step and of the test on held-out rows.
//
// Matrices are row-major. Products work on tiles of 16 x 16 values in blocks of 16 x 4 threads, four values of a column
// a thread; two tiles of each side take turns, so that one __syncthreads a tile is enough. No floating-point atomics:
// every sum has a fixed order, and the same seed gives the same bits.
#include <reprise_kernel.hpp>

#define TILE 16
#define THREAD_ROWS 4  // rows of threads in a block
#define PIXELS 64
#define SIDE 8
#define CLASSES 10

__device__ inline unsigned mix(unsigned x) {
  x ^= x >> 16;
  x *= 0x7feb352dU;
  x ^= x >> 15;
  x *= 0x846ca68bU;
  return x ^ (x >> 16);
}

// What stands at `position` of this epoch's order: rounds of a bijection of 0..mask, walked on until the value is a row.
__device__ inline unsigned shuffled_row(unsigned position, unsigned rows, unsigned epoch, unsigned seed) {
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

// Picks the rows of one microbatch and moves half of the images by a pixel. A block is a row, a thread a pixel.
// x: gridDim.x x PIXELS; labels: gridDim.x. `first`: the microbatch's first row in the batch of `batch_rows`.
REPRISE_KERNEL(gather_rows, (const float* images, const unsigned* image_labels, unsigned rows, const unsigned* step, unsigned seed,
                             unsigned batch_rows, unsigned first, float* x, unsigned* labels)) {
  const unsigned per_epoch = rows / batch_rows;
  const unsigned in_batch = first + blockIdx.x;
  const unsigned row = shuffled_row(*step % per_epoch * batch_rows + in_batch, rows, *step / per_epoch, seed);
  const unsigned way = mix(seed ^ mix(*step * batch_rows + in_batch)) % 8;
  const int right = way == 0 ? 1 : way == 1 ? -1 : 0;
  const int down = way == 2 ? 1 : way == 3 ? -1 : 0;
  const int from_x = static_cast<int>(threadIdx.x % SIDE) - right;
  const int from_y = static_cast<int>(threadIdx.x / SIDE) - down;
  const bool inside = from_x >= 0 && from_x < SIDE && from_y >= 0 && from_y < SIDE;
  x[blockIdx.x * PIXELS + threadIdx.x] = inside ? images[row * PIXELS + from_y * SIDE + from_x] : 0.0f;
  if (threadIdx.x == 0) labels[blockIdx.x] = image_labels[row];
}

// y (rows x units) = x (rows x inputs) times w, plus the bias in w's last row; then tanh unless `linear`.
REPRISE_KERNEL(dense, (const float* x, const float* w, float* y, unsigned rows, unsigned inputs, unsigned units, unsigned linear)) {
  __shared__ float xs[2][TILE][TILE];
  __shared__ float ws[2][TILE][TILE];
  const unsigned tx = threadIdx.x;
  const unsigned ty = threadIdx.y;
  const unsigned unit = blockIdx.x * TILE + tx;
  const unsigned top = blockIdx.y * TILE;
  float sum[TILE / THREAD_ROWS] = {};
  for (unsigned k = 0, turn = 0; k < inputs; k += TILE, turn ^= 1) {
    for (unsigned r = ty; r < TILE; r += THREAD_ROWS) {
      xs[turn][r][tx] = top + r < rows && k + tx < inputs ? x[(top + r) * inputs + k + tx] : 0.0f;
      ws[turn][r][tx] = k + r < inputs && unit < units ? w[(k + r) * units + unit] : 0.0f;
    }
    __syncthreads();
    for (unsigned i = 0; i < TILE; ++i) {
      for (unsigned j = 0; j < TILE / THREAD_ROWS; ++j) {
        sum[j] += xs[turn][ty + j * THREAD_ROWS][i] * ws[turn][i][tx];
      }
    }
  }
  for (unsigned j = 0; j < TILE / THREAD_ROWS; ++j) {
    const unsigned row = top + ty + j * THREAD_ROWS;
    if (row < rows && unit < units) {
      const float value = sum[j] + w[inputs * units + unit];
      y[row * units + unit] = linear != 0 ? value : tanhf(value);
    }
  }
}

// dw ((inputs + 1) x units) = x with a column of ones, transposed, times dy (rows x units).
REPRISE_KERNEL(weight_gradient, (const float* x, const float* dy, float* dw, unsigned rows, unsigned inputs, unsigned units)) {
  __shared__ float xs[2][TILE][TILE];
  __shared__ float ds[2][TILE][TILE];
  const unsigned tx = threadIdx.x;
  const unsigned ty = threadIdx.y;
  const unsigned unit = blockIdx.x * TILE + tx;
  const unsigned top = blockIdx.y * TILE;  // first input of this tile
  float sum[TILE / THREAD_ROWS] = {};
  for (unsigned k = 0, turn = 0; k < rows; k += TILE, turn ^= 1) {
    for (unsigned r = ty; r < TILE; r += THREAD_ROWS) {
      const unsigned input = top + tx;
      const bool row_is_there = k + r < rows;
      xs[turn][r][tx] = !row_is_there || input > inputs ? 0.0f : input == inputs ? 1.0f : x[(k + r) * inputs + input];
      ds[turn][r][tx] = row_is_there && unit < units ? dy[(k + r) * units + unit] : 0.0f;
    }
    __syncthreads();
    for (unsigned i = 0; i < TILE; ++i) {
      for (unsigned j = 0; j < TILE / THREAD_ROWS; ++j) {
        sum[j] += xs[turn][i][ty + j * THREAD_ROWS] * ds[turn][i][tx];
      }
    }
  }
  for (unsigned j = 0; j < TILE / THREAD_ROWS; ++j) {
    const unsigned input = top + ty + j * THREAD_ROWS;
    if (input <= inputs && unit < units) dw[input * units + unit] = sum[j];
  }
}

// dx (rows x inputs) = dy (rows x units) times w transposed, without its bias row, times the derivative of tanh, whose values were h.
REPRISE_KERNEL(input_gradient, (const float* dy, const float* w, const float* h, float* dx, unsigned rows, unsigned inputs, unsigned units)) {
  __shared__ float ds[2][TILE][TILE];
  __shared__ float ws[2][TILE][TILE + 1];  // read down its columns: the odd row length spreads them over the banks
  const unsigned tx = threadIdx.x;
  const unsigned ty = threadIdx.y;
  const unsigned input = blockIdx.x * TILE + tx;
  const unsigned top = blockIdx.y * TILE;
  float sum[TILE / THREAD_ROWS] = {};
  for (unsigned k = 0, turn = 0; k < units; k += TILE, turn ^= 1) {
    for (unsigned r = ty; r < TILE; r += THREAD_ROWS) {
      const bool unit_is_there = k + tx < units;
      const unsigned from = blockIdx.x * TILE + r;
      ds[turn][r][tx] = top + r < rows && unit_is_there ? dy[(top + r) * units + k + tx] : 0.0f;
      ws[turn][r][tx] = from < inputs && unit_is_there ? w[from * units + k + tx] : 0.0f;
    }
    __syncthreads();
    for (unsigned i = 0; i < TILE; ++i) {
      for (unsigned j = 0; j < TILE / THREAD_ROWS; ++j) {
        sum[j] += ds[turn][ty + j * THREAD_ROWS][i] * ws[turn][tx][i];
      }
    }
  }
  for (unsigned j = 0; j < TILE / THREAD_ROWS; ++j) {
    const unsigned row = top + ty + j * THREAD_ROWS;
    if (row < rows && input < inputs) {
      dx[row * inputs + input] = sum[j] * (1.0f - h[row * inputs + input] * h[row * inputs + input]);
    }
  }
}

// A thread a row: the cross-entropy of softmax(logits) in loss[row], its derivative times `scale` in slope.
REPRISE_KERNEL(softmax_cross_entropy, (const float* logits, const unsigned* labels, float* slope, float* loss, unsigned rows, float scale)) {
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

// A thread a weight: adds the gradients of the microbatches, and moves the weight with momentum.
REPRISE_KERNEL(momentum_step, (float* w, float* velocity, const float* gradients, unsigned count, unsigned microbatches, const unsigned* step,
                               unsigned total_steps, float rate, float momentum, float decay)) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float gradient = 0.0f;
  for (unsigned m = 0; m < microbatches; ++m) gradient += gradients[m * count + i];
  const float now = rate * (1.0f - static_cast<float>(*step) / static_cast<float>(total_steps));
  velocity[i] = momentum * velocity[i] + gradient + decay * w[i];
  w[i] -= now * velocity[i];
}

// One thread: adds the batch's mean loss to the running one and counts the step.
REPRISE_KERNEL(finish_step, (const float* loss, unsigned rows, float* running_loss, unsigned* step)) {
  float sum = 0.0f;
  for (unsigned r = 0; r < rows; ++r) sum += loss[r];
  *running_loss += sum / static_cast<float>(rows);
  *step += 1;
}

// A thread a row: counts the rows whose largest logit is at their label.
REPRISE_KERNEL(count_correct, (const float* logits, const unsigned* labels, unsigned rows, unsigned* correct)) {
  const unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  unsigned best = 0;
  for (unsigned c = 1; c < CLASSES; ++c) {
    if (logits[row * CLASSES + c] > logits[row * CLASSES + best]) best = c;
  }
  if (best == labels[row]) atomicAdd(correct, 1u);
}

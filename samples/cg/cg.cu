// Conjugate gradients on a square grid, one kernel per step. The matrix is the five-point Laplacian
// with zero boundary values. `state` contains the squared norm of the residual, the step length
// alpha, the weight beta of the previous direction, and the squared norm at which the solve stops.
// Each block writes a partial sum and one block adds them, so every run computes the same sums.
#include <reprise_kernel.hpp>

static constexpr unsigned kThreads = 256, kRows = 16;

static __device__ double sum_of_block(double mine) {
  __shared__ double all[kThreads], rows[kRows];
  all[threadIdx.x] = mine;
  __syncthreads();
  if (threadIdx.x < kRows) {
    double sum = 0;
    for (unsigned i = 0; i < kThreads / kRows; ++i)
      sum += all[threadIdx.x * (kThreads / kRows) + i];
    rows[threadIdx.x] = sum;
  }
  __syncthreads();
  double sum = 0;
  for (unsigned i = 0; i < kRows; ++i) sum += rows[i];
  return sum;
}

static __device__ double sum_of(const double* parts, unsigned count) {
  double mine = 0;
  for (unsigned i = threadIdx.x; i < count; i += kThreads) mine += parts[i];
  return sum_of_block(mine);
}

REPRISE_KERNEL(cg_start,
               (const double* b, double* x, double* r, double* p, double* parts, unsigned n)) {
  double mine = 0;
  for (unsigned i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) {
    x[i] = 0;
    r[i] = p[i] = b[i];
    mine += b[i] * b[i];
  }
  const double sum = sum_of_block(mine);
  if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

REPRISE_KERNEL(cg_begin, (const double* parts, unsigned count, double tolerance, double* state)) {
  const double squared = sum_of(parts, count);
  if (threadIdx.x != 0) return;
  state[0] = squared;
  state[1] = state[2] = 0;
  state[3] = tolerance * tolerance * squared;
}

// q = A p at `n` points, and the partial sums of p * q. `p` has `all` points: the row above
// (`above` points), the n points and the row below; at the boundary there is no such row.
REPRISE_KERNEL(cg_apply, (const double* p, double* q, double* parts, unsigned size, unsigned n,
                          unsigned above, unsigned all)) {
  double mine = 0;
  for (unsigned i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) {
    const unsigned column = i % size, at = above + i;
    double value = 4 * p[at];
    if (column > 0) value -= p[at - 1];
    if (column + 1 < size) value -= p[at + 1];
    if (at >= size) value -= p[at - size];
    if (at + size < all) value -= p[at + size];
    q[i] = value;
    mine += p[at] * value;
  }
  const double sum = sum_of_block(mine);
  if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

REPRISE_KERNEL(cg_length, (const double* parts, unsigned count, double* state)) {
  const double sum = sum_of(parts, count);
  if (threadIdx.x == 0) state[1] = state[0] / sum;
}

REPRISE_KERNEL(cg_step, (const double* p, const double* q, double* x, double* r, double* parts,
                         const double* state, unsigned n)) {
  const double length = state[1];
  double mine = 0;
  for (unsigned i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) {
    x[i] += length * p[i];
    const double left = r[i] - length * q[i];
    r[i] = left;
    mine += left * left;
  }
  const double sum = sum_of_block(mine);
  if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

REPRISE_KERNEL(cg_residual, (const double* parts, unsigned count, double* state)) {
  const double squared = sum_of(parts, count);
  if (threadIdx.x != 0) return;
  state[2] = squared / state[0];
  state[0] = squared;
}

REPRISE_KERNEL(cg_direction, (const double* r, double* p, const double* state, unsigned n)) {
  const double counts = state[2];
  for (unsigned i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads)
    p[i] = r[i] + counts * p[i];
}

REPRISE_KERNEL(cg_decide, (const double* state, reprise_condition goes_on)) {
  reprise_set_condition(goes_on, state[0] > state[3] ? 1u : 0u);
}

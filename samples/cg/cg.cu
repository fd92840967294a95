// Conjugate gradients on a square grid, three kernels per iteration. The matrix is the five-point
// Laplacian with zero boundary values. Dot products need no kernel of their own: each block writes
// a partial sum, and every block of the next kernel adds all of them in the same order, so all
// blocks of every run have the same sums. state[0]: the squared norm of the residual at which the
// solve stops. state[1]: that at the start, and after each iteration that the host launches.
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

REPRISE_KERNEL(cg_start, (const double* b, double* x, double* r, double* p, double* residual_parts,
                          unsigned n)) {
  double mine = 0;
  for (unsigned i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) {
    x[i] = 0;
    r[i] = p[i] = b[i];
    mine += b[i] * b[i];
  }
  const double sum = sum_of_block(mine);
  if (threadIdx.x == 0) residual_parts[blockIdx.x] = sum;
}

REPRISE_KERNEL(cg_begin,
               (const double* residual_parts, unsigned count, double tolerance, double* state)) {
  const double squared = sum_of(residual_parts, count);
  if (threadIdx.x != 0) return;
  state[0] = tolerance * tolerance * squared;
  state[1] = squared;
}

// q = A p at `n` points, and the partial sums of p * q. `p` has `all` points: the row above
// (`above` points), the n points and the row below; at the boundary there is no such row. The
// sums of the residual become those of the iteration before.
REPRISE_KERNEL(cg_apply,
               (const double* p, double* q, double* parts, const double* residual_parts,
                double* parts_before, unsigned count, unsigned size, unsigned n, unsigned above,
                unsigned all)) {
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
  if (threadIdx.x != 0) return;
  parts[blockIdx.x] = sum;
  for (unsigned i = blockIdx.x; i < count; i += gridDim.x) parts_before[i] = residual_parts[i];
}

// One step along p, and the partial sums of the residual there.
REPRISE_KERNEL(cg_step,
               (const double* p, const double* q, double* x, double* r, const double* parts,
                const double* parts_before, double* residual_parts, unsigned count, unsigned n)) {
  const double squared = sum_of(parts_before, count), length = squared / sum_of(parts, count);
  double mine = 0;
  for (unsigned i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) {
    x[i] += length * p[i];
    const double left = r[i] - length * q[i];
    r[i] = left;
    mine += left * left;
  }
  const double sum = sum_of_block(mine);
  if (threadIdx.x == 0) residual_parts[blockIdx.x] = sum;
}

// The next direction. Returns the squared norm of the residual.
static __device__ double turn(const double* r, double* p, const double* residual_parts,
                              const double* parts_before, unsigned count, unsigned n) {
  const double squared = sum_of(residual_parts, count),
               weight = squared / sum_of(parts_before, count);
  for (unsigned i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads)
    p[i] = r[i] + weight * p[i];
  return squared;
}

REPRISE_KERNEL(cg_direction,
               (const double* r, double* p, const double* residual_parts,
                const double* parts_before, unsigned count, unsigned n, double* residual)) {
  const double squared = turn(r, p, residual_parts, parts_before, count, n);
  if (blockIdx.x == 0 && threadIdx.x == 0) *residual = squared;
}

// The same at the end of a loop, which goes on until the residual is small.
REPRISE_KERNEL(cg_direction_in_loop,
               (const double* r, double* p, const double* residual_parts,
                const double* parts_before, unsigned count, unsigned n, const double* state,
                reprise_condition goes_on)) {
  const double squared = turn(r, p, residual_parts, parts_before, count, n);
  if (blockIdx.x == 0 && threadIdx.x == 0)
    reprise_set_condition(goes_on, squared > state[0] ? 1u : 0u);
}

REPRISE_KERNEL(cg_decide, (const double* state, reprise_condition goes_on)) {
  reprise_set_condition(goes_on, state[1] > state[0] ? 1u : 0u);
}

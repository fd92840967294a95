// Conjugate gradients on a square grid, three kernels per iteration. The matrix is the five-point
// Laplacian with zero boundary values. Dot products need no kernel of their own: each block writes
// a partial sum, and every block of the next kernel adds all of them in the same order, so all
// blocks of every run have the same sums. state[0]: the squared norm of the residual at which the
// solve stops. state[1]: that at the start, and after each iteration that the host launches.
#include <reprise_kernel.hpp>

static constexpr unsigned kThreads = 256, kRows = 16, kColumns = kThreads / kRows;

// Two sums at once take as long as one.
struct Sums {
  double first, second;
};

static __device__ Sums operator+(Sums a, Sums b) {
  return {a.first + b.first, a.second + b.second};
}

// In four chains, as an addition waits for the one before it.
template <unsigned kCount, unsigned kDistance>
static __device__ Sums sums_of_array(const Sums* values) {
  Sums chains[4] = {values[0], values[kDistance], values[2 * kDistance], values[3 * kDistance]};
  for (unsigned i = 4; i < kCount; ++i) chains[i % 4] = chains[i % 4] + values[i * kDistance];
  return (chains[0] + chains[1]) + (chains[2] + chains[3]);
}

static __device__ Sums sums_of_block(Sums mine) {
  __shared__ Sums all[kThreads], rows[kRows];
  all[threadIdx.x] = mine;
  __syncthreads();
  if (threadIdx.x < kRows) rows[threadIdx.x] = sums_of_array<kColumns, kRows>(all + threadIdx.x);
  __syncthreads();
  return sums_of_array<kRows, 1>(rows);
}

static __device__ double sum_of_block(double mine) { return sums_of_block({mine, 0}).first; }

// The part of this thread.
static __device__ double part_of(const double* parts, unsigned count) {
  double mine = 0;
  for (unsigned i = threadIdx.x; i < count; i += kThreads) mine += parts[i];
  return mine;
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
  const double squared = sum_of_block(part_of(residual_parts, count));
  if (threadIdx.x != 0) return;
  state[0] = tolerance * tolerance * squared;
  state[1] = squared;
}

// q = A p at `n` points, and the partial sums of p * q. `p` has `all` points: the row above
// (`above` points), the n points and the row below; at the boundary there is no such row. The
// sums of the residual become those of the iteration before.
REPRISE_KERNEL(cg_apply, (const double* p, double* q, double* parts, const double* residual_parts,
                          double* parts_before, unsigned count, unsigned size, unsigned n,
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
  if (threadIdx.x != 0) return;
  parts[blockIdx.x] = sum;
  for (unsigned i = blockIdx.x; i < count; i += gridDim.x) parts_before[i] = residual_parts[i];
}

// One step along p, and the partial sums of the residual there. The first values are loaded before
// the sums are known.
REPRISE_KERNEL(cg_step,
               (const double* p, const double* q, double* x, double* r, const double* parts,
                const double* parts_before, double* residual_parts, unsigned count, unsigned n)) {
  unsigned i = blockIdx.x * kThreads + threadIdx.x;
  double p_i = 0, q_i = 0, x_i = 0, r_i = 0;
  if (i < n) p_i = p[i], q_i = q[i], x_i = x[i], r_i = r[i];
  const Sums sums = sums_of_block({part_of(parts_before, count), part_of(parts, count)});
  const double length = sums.first / sums.second;
  double mine = 0;
  while (i < n) {
    x[i] = x_i + length * p_i;
    r_i -= length * q_i;
    r[i] = r_i;
    mine += r_i * r_i;
    i += gridDim.x * kThreads;
    if (i < n) p_i = p[i], q_i = q[i], x_i = x[i], r_i = r[i];
  }
  const double sum = sum_of_block(mine);
  if (threadIdx.x == 0) residual_parts[blockIdx.x] = sum;
}

// The next direction. Returns the squared norm of the residual.
static __device__ double turn(const double* r, double* p, const double* residual_parts,
                              const double* parts_before, unsigned count, unsigned n) {
  unsigned i = blockIdx.x * kThreads + threadIdx.x;
  double p_i = 0, r_i = 0;
  if (i < n) p_i = p[i], r_i = r[i];
  const Sums sums = sums_of_block({part_of(residual_parts, count), part_of(parts_before, count)});
  const double weight = sums.first / sums.second;
  while (i < n) {
    p[i] = r_i + weight * p_i;
    i += gridDim.x * kThreads;
    if (i < n) p_i = p[i], r_i = r[i];
  }
  return sums.first;
}

REPRISE_KERNEL(cg_direction,
               (const double* r, double* p, const double* residual_parts,
                const double* parts_before, unsigned count, unsigned n, double* residual)) {
  const double squared = turn(r, p, residual_parts, parts_before, count, n);
  if (blockIdx.x == 0 && threadIdx.x == 0) *residual = squared;
}

// The same at the end of a loop, which goes on until the residual is small.
REPRISE_KERNEL(cg_direction_in_loop, (const double* r, double* p, const double* residual_parts,
                                      const double* parts_before, unsigned count, unsigned n,
                                      const double* state, reprise_condition goes_on)) {
  const double squared = turn(r, p, residual_parts, parts_before, count, n);
  if (blockIdx.x == 0 && threadIdx.x == 0)
    reprise_set_condition(goes_on, squared > state[0] ? 1u : 0u);
}

REPRISE_KERNEL(cg_decide, (const double* state, reprise_condition goes_on)) {
  reprise_set_condition(goes_on, state[1] > state[0] ? 1u : 0u);
}

// The project's own kernel: y[i] = p(x[i]) for a polynomial p, by Horner's rule.
#include <reprise_kernel.hpp>

REPRISE_KERNEL(horner, (const float* x, float* y, const float* coefficients, int degree, int n)) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  float value = coefficients[degree];
  for (int k = degree - 1; k >= 0; --k) value = fmaf(value, x[i], coefficients[k]);
  y[i] = value;
}

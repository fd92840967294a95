#include "ops/array_host.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>

namespace reprise::ops {
namespace {

// Pairwise summation keeps float errors small; integers wrap as on a GPU.
template <class T>
T sum(const T* values, std::uint64_t count) {
  using Sum = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                          std::type_identity<T>>::type;
  if (count > 128)
    return static_cast<T>(static_cast<Sum>(sum(values, count / 2)) +
                          static_cast<Sum>(sum(values + count / 2, count - count / 2)));
  Sum total = 0;
  for (std::uint64_t i = 0; i < count; ++i) total += static_cast<Sum>(values[i]);
  return static_cast<T>(total);
}

template <class T>
void scan(const T* in, T* out, std::uint64_t count, ArrayVerb verb) {
  using Sum = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                          std::type_identity<T>>::type;
  Sum total = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Sum before = total;
    total += static_cast<Sum>(in[i]);
    out[i] = static_cast<T>(verb == ArrayVerb::ExclusiveScan ? before : total);
  }
}

// -0 sorts before 0, as by bits.
template <class T>
bool is_before(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a < b || (a == b && std::signbit(a) && !std::signbit(b));
  return a < b;
}

template <class T, class Before>
void sort_keys(const T* in, T* out, std::uint64_t count, Before before) {
  std::copy(in, in + count, out);
  std::sort(out, out + count, before);
}

// Equal keys keep their order through their indices: std::stable_sort would allocate.
template <class T, class Before>
void sort_pairs(const T* in, T* out, std::uint32_t* indices, std::uint64_t count, Before before) {
  std::iota(indices, indices + count, 0u);
  std::sort(indices, indices + count, [&](std::uint32_t a, std::uint32_t b) {
    return before(in[a], in[b]) || (!before(in[b], in[a]) && a < b);
  });
  for (std::uint64_t i = 0; i < count; ++i) out[i] = in[indices[i]];
}

template <class T>
void run(const ArrayWork& work, const ArrayAddresses& at) {
  const T* const in = static_cast<const T*>(at.input);
  T* const out = static_cast<T*>(at.output);
  const std::uint64_t count = work.count;
  switch (work.verb) {
    case ArrayVerb::Sum: *out = sum(in, count); return;
    case ArrayVerb::Min: *out = *std::min_element(in, in + count); return;
    case ArrayVerb::Max: *out = *std::max_element(in, in + count); return;
    case ArrayVerb::ExclusiveScan:
    case ArrayVerb::InclusiveScan: return scan(in, out, count, work.verb);
    case ArrayVerb::SortAscending: return sort_keys(in, out, count, is_before<T>);
    case ArrayVerb::SortDescending:
      return sort_keys(in, out, count, [](T a, T b) { return is_before(b, a); });
    case ArrayVerb::SortPairsAscending: return sort_pairs(in, out, at.indices, count, is_before<T>);
    case ArrayVerb::SortPairsDescending:
      return sort_pairs(in, out, at.indices, count, [](T a, T b) { return is_before(b, a); });
  }
}

}  // namespace

void record_array_host(const ArrayWork& work, const ArrayAddresses& at, GraphRecordCtx& ctx) {
  ctx.host([=](std::uint32_t) {
    switch (work.element) {
      case ArrayElement::F32: return run<float>(work, at);
      case ArrayElement::F64: return run<double>(work, at);
      case ArrayElement::I32: return run<std::int32_t>(work, at);
      case ArrayElement::U32: return run<std::uint32_t>(work, at);
    }
  });
}

}  // namespace reprise::ops

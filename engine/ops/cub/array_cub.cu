// The instances of CUB's algorithms that the ops use. Compiled only by nvcc. Sorts have one
// instance per key width: keys are encoded as unsigned integers with the requested order and
// decoded afterwards.
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include "ops/array_work.hpp"

namespace reprise::ops {
namespace {

constexpr unsigned kThreads = 256;

enum class KeyKind : unsigned char { Float, Signed, Unsigned };

// A float's bits sort like an unsigned integer's after this encoding, which inverts negative
// values. `flip` reverses the order.
template <class Key>
__device__ Key encode(Key bits, KeyKind kind, Key flip) {
  constexpr Key kTop = Key{1} << (8 * sizeof(Key) - 1);
  if (kind == KeyKind::Float) bits = (bits & kTop) != 0 ? ~bits : bits | kTop;
  if (kind == KeyKind::Signed) bits ^= kTop;
  return bits ^ flip;
}

template <class Key>
__device__ Key decode(Key bits, KeyKind kind, Key flip) {
  constexpr Key kTop = Key{1} << (8 * sizeof(Key) - 1);
  bits ^= flip;
  if (kind == KeyKind::Float) bits = (bits & kTop) != 0 ? bits & ~kTop : ~bits;
  if (kind == KeyKind::Signed) bits ^= kTop;
  return bits;
}

// `numbers` may be null.
template <class Key>
__global__ void encode_keys(const Key* in, Key* keys, std::uint32_t* numbers, unsigned n,
                            KeyKind kind, Key flip) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  keys[i] = encode(in[i], kind, flip);
  if (numbers != nullptr) numbers[i] = i;
}

template <class Key>
__global__ void decode_keys(Key* keys, unsigned n, KeyKind kind, Key flip) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) keys[i] = decode(keys[i], kind, flip);
}

template <class Key>
cudaError_t sort(const ArrayWork& work, const ArrayAddresses& at, KeyKind kind, void* temporary,
                 std::size_t& bytes, cudaStream_t stream) {
  const auto n = static_cast<int>(work.count);
  const unsigned blocks = (static_cast<unsigned>(n) + kThreads - 1) / kThreads;
  const bool descends =
      work.verb == ArrayVerb::SortDescending || work.verb == ArrayVerb::SortPairsDescending;
  const Key flip = descends ? ~Key{0} : Key{0};
  Key *const keys = static_cast<Key*>(at.keys), *const out = static_cast<Key*>(at.output);
  constexpr int kBits = static_cast<int>(8 * sizeof(Key));
  if (temporary != nullptr)
    encode_keys<Key><<<blocks, kThreads, 0, stream>>>(static_cast<const Key*>(at.input), keys,
                                                      at.numbers, n, kind, flip);
  const cudaError_t result =
      has_indices(work.verb)
          ? cub::DeviceRadixSort::SortPairs(temporary, bytes, static_cast<const Key*>(keys), out,
                                            static_cast<const std::uint32_t*>(at.numbers),
                                            at.indices, n, 0, kBits, stream)
          : cub::DeviceRadixSort::SortKeys(temporary, bytes, static_cast<const Key*>(keys), out, n,
                                           0, kBits, stream);
  if (temporary == nullptr || result != cudaSuccess) return result;
  decode_keys<Key><<<blocks, kThreads, 0, stream>>>(out, n, kind, flip);
  return cudaGetLastError();
}

// `Added`: the type to add as. Signed numbers are added as unsigned ones, which gives the same
// bits.
template <class T, class Added = T>
cudaError_t run(const ArrayWork& work, const ArrayAddresses& at, void* temporary,
                std::size_t& bytes, cudaStream_t stream) {
  const T* const in = static_cast<const T*>(at.input);
  T* const out = static_cast<T*>(at.output);
  const Added* const terms = static_cast<const Added*>(at.input);
  Added* const sums = static_cast<Added*>(at.output);
  const auto n = static_cast<int>(work.count);
  switch (work.verb) {
    case ArrayVerb::Sum: return cub::DeviceReduce::Sum(temporary, bytes, terms, sums, n, stream);
    case ArrayVerb::Min: return cub::DeviceReduce::Min(temporary, bytes, in, out, n, stream);
    case ArrayVerb::Max: return cub::DeviceReduce::Max(temporary, bytes, in, out, n, stream);
    case ArrayVerb::ExclusiveScan:
      return cub::DeviceScan::ExclusiveSum(temporary, bytes, terms, sums, n, stream);
    case ArrayVerb::InclusiveScan:
      return cub::DeviceScan::InclusiveSum(temporary, bytes, terms, sums, n, stream);
    case ArrayVerb::SortAscending:
    case ArrayVerb::SortDescending:
    case ArrayVerb::SortPairsAscending:
    case ArrayVerb::SortPairsDescending: break;
  }
  return cudaErrorInvalidValue;
}

cudaError_t run_sort(const ArrayWork& work, const ArrayAddresses& at, void* temporary,
                     std::size_t& bytes, cudaStream_t stream) {
  switch (work.element) {
    case ArrayElement::F32:
      return sort<std::uint32_t>(work, at, KeyKind::Float, temporary, bytes, stream);
    case ArrayElement::F64:
      return sort<std::uint64_t>(work, at, KeyKind::Float, temporary, bytes, stream);
    case ArrayElement::I32:
      return sort<std::uint32_t>(work, at, KeyKind::Signed, temporary, bytes, stream);
    case ArrayElement::U32:
      return sort<std::uint32_t>(work, at, KeyKind::Unsigned, temporary, bytes, stream);
  }
  return cudaErrorInvalidValue;
}

}  // namespace

int run_cub(const ArrayWork& work, const ArrayAddresses& at, void* temporary, std::size_t& bytes,
            void* stream) {
  const auto native = static_cast<cudaStream_t>(stream);
  if (is_sort(work.verb)) return run_sort(work, at, temporary, bytes, native);
  switch (work.element) {
    case ArrayElement::F32: return run<float>(work, at, temporary, bytes, native);
    case ArrayElement::F64: return run<double>(work, at, temporary, bytes, native);
    case ArrayElement::I32:
      return run<std::int32_t, std::uint32_t>(work, at, temporary, bytes, native);
    case ArrayElement::U32: return run<std::uint32_t>(work, at, temporary, bytes, native);
  }
  return cudaErrorInvalidValue;
}

}  // namespace reprise::ops

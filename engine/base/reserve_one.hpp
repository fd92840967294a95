// reserve_one(): room for one more element, so that the next push_back() cannot fail. Unlike
// reserve(size() + 1), it does not copy all elements for each new one. Threads: those of the vector.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace reprise::detail {

template <class T>
void reserve_one(std::vector<T>& vector) {
  constexpr std::size_t kFirst = 4;
  if (vector.size() == vector.capacity()) vector.reserve(std::max(kFirst, 2 * vector.size()));
}

}  // namespace reprise::detail

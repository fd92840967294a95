// reserve_one(), reserve_more(): room for more elements, so that appending them cannot fail. Unlike
// reserve(size() + count), they do not copy all elements each time. Threads: those of the vector.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace reprise::detail {

template <class T>
void reserve_more(std::vector<T>& vector, std::size_t count) {
  constexpr std::size_t kFirst = 4;
  if (count > vector.capacity() - vector.size())
    vector.reserve(std::max({kFirst, vector.size() + count, 2 * vector.size()}));
}

template <class T>
void reserve_one(std::vector<T>& vector) {
  reserve_more(vector, 1);
}

}  // namespace reprise::detail

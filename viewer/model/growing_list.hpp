// GrowingList: an append-mostly list that hands out immutable views of its current contents.
// Elements live in blocks that never move, and views share the blocks. A new view copies no
// elements; after a block was added it copies the table of block pointers, one per kBlock elements.
// Threads: one thread at a time uses the list; views are values that any thread may read while the
// list grows.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace reprise::model {

template <class T>
class GrowingList;

template <class T>
class ListView {
 public:
  ListView() = default;

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] const T& operator[](std::size_t i) const {
    return (*blocks_)[i / GrowingList<T>::kBlock][i % GrowingList<T>::kBlock];
  }
  [[nodiscard]] const T& back() const { return (*this)[size_ - 1]; }
  // Binary search in a sorted list: the first index whose element does not precede `value`.
  template <class Value, class Before>
  [[nodiscard]] std::size_t lower_bound(const Value& value, Before before) const {
    std::size_t low = 0, high = size_;
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (before((*this)[middle], value)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  class Iterator {
   public:
    Iterator(const ListView* list, std::size_t at) : list_(list), at_(at) {}
    const T& operator*() const { return (*list_)[at_]; }
    Iterator& operator++() { return ++at_, *this; }
    bool operator==(const Iterator& other) const noexcept { return at_ == other.at_; }

   private:
    const ListView* list_;
    std::size_t at_;
  };
  [[nodiscard]] Iterator begin() const noexcept { return {this, 0}; }
  [[nodiscard]] Iterator end() const noexcept { return {this, size_}; }

 private:
  friend class GrowingList<T>;
  using Blocks = std::vector<std::shared_ptr<T[]>>;
  ListView(std::shared_ptr<const Blocks> blocks, std::size_t size)
      : blocks_(std::move(blocks)), size_(size) {}

  std::shared_ptr<const Blocks> blocks_;
  std::size_t size_ = 0;
};

template <class T>
class GrowingList {
 public:
  static constexpr std::size_t kBlock = 512;

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] const T& operator[](std::size_t i) const { return blocks_[i / kBlock][i % kBlock]; }

  void push_back(T value) {
    if (size_ == blocks_.size() * kBlock) {
      blocks_.push_back(std::make_shared<T[]>(kBlock));
      table_.reset();
    }
    blocks_[size_ / kBlock][size_ % kBlock] = std::move(value);
    ++size_;
  }

  // Keeps a sorted list sorted. A new element goes after equal ones. Inserting before an element
  // that a view can see copies the affected blocks.
  template <class Before>
  void insert_sorted(T value, Before before) {
    std::size_t at = size_;
    while (at > 0 && before(value, (*this)[at - 1])) --at;
    if (at == size_) return push_back(std::move(value));
    if (at < viewed_) {
      // Views share the old blocks, so modifications go into copies.
      const std::size_t first = at / kBlock;
      for (std::size_t b = first; b < blocks_.size(); ++b) {
        auto fresh = std::make_shared<T[]>(kBlock);
        for (std::size_t i = 0; i < kBlock && b * kBlock + i < size_; ++i) fresh[i] = blocks_[b][i];
        blocks_[b] = std::move(fresh);
      }
      viewed_ = first * kBlock;
      table_.reset();
    }
    push_back(value);
    for (std::size_t i = size_ - 1; i > at; --i) element(i) = std::move(element(i - 1));
    element(at) = std::move(value);
  }

  // Drops whole blocks from the front until at most `max_size` elements and one partial block
  // remain. Returns the number of dropped elements. Existing views keep them.
  std::size_t drop_front(std::size_t max_size) {
    const std::size_t blocks = size_ > max_size ? (size_ - max_size) / kBlock : 0;
    const std::size_t dropped = blocks * kBlock;
    if (blocks == 0) return 0;
    blocks_.erase(blocks_.begin(), blocks_.begin() + static_cast<std::ptrdiff_t>(blocks));
    table_.reset();
    size_ -= dropped;
    viewed_ = viewed_ > dropped ? viewed_ - dropped : 0;
    return dropped;
  }

  [[nodiscard]] ListView<T> view() {
    if (!table_) table_ = std::make_shared<const std::vector<std::shared_ptr<T[]>>>(blocks_);
    viewed_ = size_;
    return {table_, size_};
  }

 private:
  T& element(std::size_t i) { return blocks_[i / kBlock][i % kBlock]; }

  std::vector<std::shared_ptr<T[]>> blocks_;
  // the block table that views share; null: rebuilt by the next view()
  std::shared_ptr<const std::vector<std::shared_ptr<T[]>>> table_;
  std::size_t size_ = 0;
  std::size_t viewed_ = 0;  // elements that some view of the current blocks can see
};

}  // namespace reprise::model

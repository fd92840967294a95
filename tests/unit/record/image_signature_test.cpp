// The parameters of a kernel that its image stores. What nvcc would store is compiled here by the
// C++ compiler, from the same header.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "record/image_signature.hpp"

namespace reprise::test::image_signature_test {
namespace {

struct Condition {
  unsigned long long handle;
};
struct Tensor {  // begins as the name of the template's parameter
  float factor;
  short shift;
};
enum class Color : unsigned char { Red };
template <class T>
struct Pair {
  T first, second;
};
using Kernel = void(float, const float*, double*, Tensor, bool, const void*, Condition, long, Color,
                    const Tensor*, void (*)(int));

template <class... P>
constexpr auto table_of(void (*)(P...)) {
  return detail::parameter_table<Condition, P...>();
}

std::vector<std::byte> stored_bytes(void (*kernel)(float, const float*, double*, Tensor, bool,
                                                   const void*, Condition, long, Color,
                                                   const Tensor*, void (*)(int))) {
  const auto signature = detail::signature_of<Condition>(kernel);
  std::vector<std::byte> bytes(sizeof signature);
  std::memcpy(bytes.data(), &signature, sizeof signature);
  return bytes;
}

}  // namespace

TEST_CASE("image signature: equals the table of the C++ compiler") {
  const std::vector<std::byte> bytes = stored_bytes(nullptr);
  const auto signature = detail::ImageSignature::read(bytes);
  REQUIRE(signature);
  const auto expected = table_of(static_cast<Kernel*>(nullptr));
  REQUIRE(signature->parameters().size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    const KernelParameter& found = signature->parameters()[i];
    CHECK(found.offset == expected[i].offset);
    CHECK(found.size == expected[i].size);
    CHECK(found.is_pointer == expected[i].is_pointer);
    CHECK(found.is_const == expected[i].is_const);
    CHECK(found.is_condition == expected[i].is_condition);
    if (i + 1 == expected.size()) continue;  // a pointer to a function has no type here
    REQUIRE((found.type == nullptr) == (expected[i].type == nullptr));
    if (found.type == nullptr) continue;
    CHECK(*found.type == *expected[i].type);
    CHECK(found.type->name == expected[i].type->name);
    CHECK(found.type->alignment == expected[i].type->alignment);
  }
}

TEST_CASE("image signature: a type that compilers write differently is unknown") {
  const auto signature =
      detail::signature_of<Condition>(static_cast<void (*)(Pair<float>*)>(nullptr));
  const auto read = detail::ImageSignature::read(std::as_bytes(std::span(&signature, 1)));
  REQUIRE(read);
  REQUIRE(read->parameters().size() == 1);
  CHECK(read->parameters()[0].is_pointer);
  CHECK(read->parameters()[0].type == nullptr);
}

TEST_CASE("image signature: a kernel without parameters") {
  const auto signature = detail::signature_of<Condition>(static_cast<void (*)()>(nullptr));
  const auto read = detail::ImageSignature::read(std::as_bytes(std::span(&signature, 1)));
  REQUIRE(read);
  CHECK(read->parameters().empty());
}

TEST_CASE("image signature: other bytes are refused") {
  const std::vector<std::byte> good = stored_bytes(nullptr);
  const auto is_read = [](const std::vector<std::byte>& bytes) {
    return detail::ImageSignature::read(bytes) != nullptr;
  };
  CHECK(is_read(good));
  CHECK_FALSE(is_read({}));
  CHECK_FALSE(is_read({good.begin(), good.begin() + 8}));
  CHECK_FALSE(is_read({good.begin(), good.end() - 1}));
  for (const std::size_t word : {0, 4, 8}) {  // the version, the size of an entry, the count
    std::vector<std::byte> bytes = good;
    bytes[word] = std::byte{200};
    CHECK_FALSE(is_read(bytes));
  }
  const std::size_t first = sizeof(SignatureHeader);
  std::vector<std::byte> bytes = good;
  bytes[first + offsetof(SignatureParameter, number)] = std::byte{5};
  CHECK_FALSE(is_read(bytes));
  bytes = good;
  const auto name =
      bytes.begin() + static_cast<std::ptrdiff_t>(first + offsetof(SignatureParameter, name));
  std::fill_n(name, SignatureParameter::kNameBytes, std::byte{'x'});
  CHECK_FALSE(is_read(bytes));
}

}  // namespace reprise::test::image_signature_test

#include <type_traits>
#include <utility>

#include "trace/codec_generated.hpp"
#include "trace/sample_columns.hpp"

namespace reprise::trace {

namespace {

class Encoder {
 public:
  [[nodiscard]] flatbuffers::FlatBufferBuilder& builder() noexcept { return builder_; }
  [[nodiscard]] auto text(const std::string& text) { return builder_.CreateString(text); }
  [[nodiscard]] auto shared_text(const std::string& text) {
    return builder_.CreateSharedString(text);
  }
  template <class Bytes>
  [[nodiscard]] auto bytes(const Bytes& bytes) {
    return builder_.CreateVector(bytes.data(), bytes.size());
  }
  template <class T>
  [[nodiscard]] auto structs(const std::vector<T>& values) {
    using Wire = decltype(to_wire(*this, values.front()));
    std::vector<Wire> out;
    out.reserve(values.size());
    for (const T& value : values) out.push_back(to_wire(*this, value));
    return builder_.CreateVectorOfStructs(out);
  }
  template <class T>
  [[nodiscard]] auto tables(const std::vector<T>& values) {
    std::vector<decltype(to_wire(*this, values.front()))> out;
    out.reserve(values.size());
    for (const T& value : values) out.push_back(to_wire(*this, value));
    return builder_.CreateVector(out);
  }
  [[nodiscard]] auto tables(const std::vector<std::string>& texts) {
    return builder_.CreateVectorOfStrings(texts);
  }

 private:
  flatbuffers::FlatBufferBuilder builder_{std::size_t{64} << 10};
};

flatbuffers::Offset<wire::SampleBlock> to_wire(Encoder& out, const SampleBlock& r) {
  std::vector<std::uint8_t> columns;
  encode_samples(r.samples, columns);
  return wire::CreateSampleBlock(out.builder(), r.graph, r.version, r.exec, r.replay,
                                 static_cast<std::uint8_t>(r.source),
                                 static_cast<std::uint32_t>(r.samples.size()), out.bytes(columns));
}
std::size_t content_bytes(const SampleBlock& block) { return content_bytes(block.samples); }

}  // namespace

void Records::add(Record record) {
  std::visit(
      [this](auto&& r) {
        each([&]<class R>(std::vector<R> RecordsByKind::*kind) {
          if constexpr (std::is_same_v<R, std::decay_t<decltype(r)>>)
            (this->*kind).push_back(std::move(r));
        });
      },
      std::move(record));
}

std::size_t Records::count() const noexcept {
  std::size_t sum = 0;
  each([&](auto kind) { sum += (this->*kind).size(); });
  return sum;
}

void Records::clear() noexcept {
  each([this](auto kind) { (this->*kind).clear(); });
}

std::size_t memory_bytes(const Record& record) {
  return sizeof(Record) + std::visit([](const auto& r) { return content_bytes(r); }, record);
}

std::vector<std::uint8_t> encode(const Records& records) {
  Encoder out;
  wire::FinishChunkBuffer(out.builder(), to_wire(out, records));
  const std::uint8_t* const bytes = out.builder().GetBufferPointer();
  return {bytes, bytes + out.builder().GetSize()};
}

}  // namespace reprise::trace

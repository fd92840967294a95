#include "collectives/control/control_handshake.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <utility>

#include "base/failure.hpp"

namespace reprise::detail {

namespace {

constexpr std::size_t kNonceBytes = 32, kProofBytes = 32;

enum class Prover : std::uint32_t { Hub = 1, Rank = 2 };

std::string random_nonce() {
  unsigned char bytes[kNonceBytes];
  if (RAND_bytes(bytes, sizeof(bytes)) != 1)
    fail(ErrorCode::NativeFailure, Stage::Open, {}, "RAND_bytes of libcrypto failed");
  return {reinterpret_cast<const char*>(bytes), sizeof(bytes)};
}

std::string proof_of(Prover prover, std::string_view secret, std::uint32_t port, std::uint32_t rank,
                     std::uint32_t size, std::string_view rank_nonce, std::string_view hub_nonce) {
  const Frame proved = FrameWriter(FrameType::Proof)
                           .u64(kControlMagic)
                           .u32(kControlVersion)
                           .u32(static_cast<std::uint32_t>(prover))
                           .u32(port)
                           .u32(rank)
                           .u32(size)
                           .text(rank_nonce)
                           .text(hub_nonce)
                           .finish();
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  if (HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
           reinterpret_cast<const unsigned char*>(proved->data()), proved->size(), bytes,
           &length) == nullptr)
    fail(ErrorCode::NativeFailure, Stage::Open, {}, "HMAC of libcrypto failed with SHA-256");
  return {reinterpret_cast<const char*>(bytes), length};
}

void require_same(std::string_view expected, std::string_view given) {
  if (given.size() != kProofBytes || expected.size() != kProofBytes ||
      CRYPTO_memcmp(expected.data(), given.data(), kProofBytes) != 0)
    throw MalformedFrame{};
}

std::string nonce_in(FrameReader& reader) {
  std::string nonce = reader.text();
  if (nonce.size() != kNonceBytes) throw MalformedFrame{};
  return nonce;
}

void require_protocol(FrameReader& reader) {
  if (reader.u64() != kControlMagic || reader.u32() != kControlVersion) throw MalformedFrame{};
}

}  // namespace

RankHandshake::RankHandshake(std::string secret, std::uint16_t port, std::uint32_t rank,
                             std::uint32_t size)
    : secret_(std::move(secret)), nonce_(random_nonce()), port_(port), rank_(rank), size_(size) {}

Frame RankHandshake::hello() const {
  return FrameWriter(FrameType::Hello)
      .u64(kControlMagic)
      .u32(kControlVersion)
      .u32(rank_)
      .u32(size_)
      .text(nonce_)
      .finish();
}

Frame RankHandshake::prove(std::string_view challenge, std::string_view name) {
  FrameReader reader(challenge);
  require_protocol(reader);
  const std::string hub_nonce = nonce_in(reader);
  require_same(proof_of(Prover::Hub, secret_, port_, rank_, size_, nonce_, hub_nonce),
               reader.text());
  reader.expect_end();
  is_proved_ = true;
  return FrameWriter(FrameType::Proof)
      .text(proof_of(Prover::Rank, secret_, port_, rank_, size_, nonce_, hub_nonce))
      .text(name)
      .finish();
}

HubHandshake::HubHandshake(std::string secret, std::uint16_t port, std::uint32_t size)
    : secret_(std::move(secret)), port_(port), size_(size) {}

Frame HubHandshake::challenge(std::string_view hello) {
  FrameReader reader(hello);
  require_protocol(reader);
  const std::uint32_t rank = reader.u32();
  if (reader.u32() != size_ || rank == 0 || rank >= size_ || rank_ != 0) throw MalformedFrame{};
  rank_nonce_ = nonce_in(reader);
  reader.expect_end();
  rank_ = rank;
  nonce_ = random_nonce();
  return FrameWriter(FrameType::Challenge)
      .u64(kControlMagic)
      .u32(kControlVersion)
      .text(nonce_)
      .text(proof_of(Prover::Hub, secret_, port_, rank_, size_, rank_nonce_, nonce_))
      .finish();
}

std::string HubHandshake::verify(std::string_view proof) const {
  FrameReader reader(proof);
  if (rank_ == 0) throw MalformedFrame{};
  require_same(proof_of(Prover::Rank, secret_, port_, rank_, size_, rank_nonce_, nonce_),
               reader.text());
  std::string name = reader.text();
  reader.expect_end();
  return name;
}

}  // namespace reprise::detail

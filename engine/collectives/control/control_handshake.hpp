// The first frames of a connection between rank 0 and another rank, with which each proves to the
// other that it knows the job's secret. The secret itself is not sent. Knows no sockets.
//
//   another rank                        rank 0
//   Hello: rank, size, nonce    ->
//                               <-      Challenge: nonce, proof
//   Proof: proof, name          ->
//                               <-      Welcome, or Refused with the reason
//
// A proof is the HMAC-SHA256 (RFC 2104), with the secret as its key, of: who proves, the version of
// the protocol, the port of rank 0, the other rank, the size of the job, and both nonces, 32 random
// bytes each. With the port, a program that listens on another port cannot pass the frames on.
// Threads: values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "collectives/control/control_frame.hpp"

namespace reprise::detail {

// The side of a rank other than 0.
class RankHandshake {
 public:
  // `port`: the port of rank 0 that this rank is connected to. Throws Error (NativeFailure) without
  // random numbers.
  RankHandshake(std::string secret, std::uint16_t port, std::uint32_t rank, std::uint32_t size);
  [[nodiscard]] Frame hello() const;
  // The answer to the body of a Challenge. Throws MalformedFrame if the sender does not know the
  // secret.
  [[nodiscard]] Frame prove(std::string_view challenge, std::string_view name);
  // Whether the other side has proved that it is rank 0.
  [[nodiscard]] bool is_proved() const noexcept { return is_proved_; }

 private:
  std::string secret_, nonce_;
  std::uint32_t port_, rank_, size_;
  bool is_proved_ = false;
};

// The side of rank 0, for one connection.
class HubHandshake {
 public:
  HubHandshake(std::string secret, std::uint16_t port, std::uint32_t size);
  // The answer to the body of a Hello. Throws MalformedFrame for another protocol or size, or a
  // rank that the job does not have, and Error (NativeFailure) without random numbers.
  [[nodiscard]] Frame challenge(std::string_view hello);
  // Takes the body of a Proof, and returns the name in it. Throws MalformedFrame if the sender does
  // not know the secret.
  [[nodiscard]] std::string verify(std::string_view proof) const;
  [[nodiscard]] std::uint32_t rank() const noexcept { return rank_; }  // 0 before challenge()

 private:
  std::string secret_, rank_nonce_, nonce_;
  std::uint32_t port_, size_, rank_ = 0;
};

}  // namespace reprise::detail

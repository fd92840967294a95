#include <doctest/doctest.h>

#include <map>

#include <reprise/error.hpp>

#include "base/rank_environment.hpp"
#include "collectives/control/control_channel.hpp"

using namespace reprise;
using namespace reprise::detail;

namespace {

using Values = std::map<std::string, std::string>;

GetVariable from(const Values& values) {
  return [values](const char* name) -> std::optional<std::string> {
    const auto at = values.find(name);
    return at == values.end() ? std::nullopt : std::optional(at->second);
  };
}

RankEnvironment read(const Values& values) {
  const auto environment = read_rank_environment(from(values));
  REQUIRE(environment.has_value());
  return *environment;
}

// `base` with `changes`.
Values with(Values base, const Values& changes) {
  for (const auto& [name, value] : changes) base[name] = value;
  return base;
}
Values without(Values base, const std::string& name) {
  base.erase(name);
  return base;
}

// The text of the error; empty: none.
std::string error_of(const Values& values) {
  try {
    static_cast<void>(read_rank_environment(from(values)));
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::InvalidArgument);
    CHECK(error.stage() == Stage::Open);
    return error.what();
  }
  return {};
}

bool names(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const Values kTorchrun = {{"RANK", "5"},
                          {"WORLD_SIZE", "8"},
                          {"LOCAL_RANK", "1"},
                          {"LOCAL_WORLD_SIZE", "4"},
                          {"MASTER_ADDR", "node0"},
                          {"MASTER_PORT", "29500"}};
const Values kOpenMpi = {{"OMPI_COMM_WORLD_RANK", "3"},
                         {"OMPI_COMM_WORLD_SIZE", "4"},
                         {"OMPI_COMM_WORLD_LOCAL_RANK", "3"},
                         {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                         {"PMIX_NAMESPACE", "prterun-node0-77@1"}};
const Values kSlurm = {{"SLURM_PROCID", "9"},
                       {"SLURM_NTASKS", "16"},
                       {"SLURM_LOCALID", "1"},
                       {"SLURM_JOB_ID", "1234"},
                       {"SLURM_STEP_ID", "0"},
                       {"SLURM_STEP_TASKS_PER_NODE", "8(x2)"},
                       {"SLURM_STEP_NODELIST", "node[03-07,9]"},
                       {"SLURM_LAUNCH_NODE_IPADDR", "10.0.0.1"}};
const Values kPmi = {{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "1"}};

}  // namespace

TEST_CASE("rank environment: without variables of a launcher there is none") {
  CHECK(!read_rank_environment(from({})).has_value());
  CHECK(!read_rank_environment(from({{"RANK", "1"}, {"HOME", "/root"}})).has_value());
  // A batch script has these variables, but is not a step.
  CHECK(!read_rank_environment(from(without(kSlurm, "SLURM_STEP_ID"))).has_value());
}

TEST_CASE("rank environment: torchrun") {
  const RankEnvironment environment = read(kTorchrun);
  CHECK(environment.rank == 5);
  CHECK(environment.size == 8);
  CHECK(environment.local_rank == 1);
  CHECK(environment.master_address == "node0");
  CHECK(environment.master_port == 29500);
  CHECK(environment.source == "torchrun");
  for (const char* name : {"LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"}) {
    CAPTURE(name);
    CHECK(names(error_of(without(kTorchrun, name)), name));
  }
}

TEST_CASE("rank environment: Open MPI, on one host and on several") {
  const RankEnvironment environment = read(kOpenMpi);
  CHECK(environment.rank == 3);
  CHECK(environment.size == 4);
  CHECK(environment.local_rank == 3);
  CHECK(environment.master_address == "127.0.0.1");
  CHECK(environment.source == "Open MPI");
  CHECK(read(with(kOpenMpi, {{"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}})).master_address.empty());
  CHECK(read(without(kOpenMpi, "OMPI_COMM_WORLD_LOCAL_SIZE")).master_address.empty());
  CHECK(read(with(kOpenMpi, {{"MASTER_ADDR", "::1"}})).master_address == "::1");
  CHECK(read(with(kOpenMpi, {{"MASTER_PORT", "77"}})).master_port == 77);
}

TEST_CASE("rank environment: SLURM takes the first host of the step") {
  const RankEnvironment environment = read(kSlurm);
  CHECK(environment.rank == 9);
  CHECK(environment.size == 16);
  CHECK(environment.local_rank == 1);
  CHECK(environment.master_address == "node03");
  CHECK(environment.source == "SLURM");
  const auto host_of = [](const char* list) {
    return read(with(kSlurm, {{"SLURM_STEP_NODELIST", list}})).master_address;
  };
  CHECK(host_of("node3,node4") == "node3");
  CHECK(host_of("gpu-01") == "gpu-01");
  CHECK(host_of("node[9],other") == "node9");
  CHECK(host_of("node[7,9-12]") == "node7");
  CHECK(host_of("rack[1-2]n[05-6].cluster,x") == "rack1n05.cluster");
  CHECK(read(without(kSlurm, "SLURM_STEP_NODELIST")).master_address == "10.0.0.1");
  CHECK(read(with(kSlurm, {{"SLURM_STEP_TASKS_PER_NODE", "16"}})).master_address == "127.0.0.1");
  CHECK(names(error_of(with(kSlurm, {{"SLURM_STEP_NODELIST", "node[3"}})), "node[3"));
}

TEST_CASE("rank environment: PMI") {
  const RankEnvironment environment = read(kPmi);
  CHECK(environment.rank == 1);
  CHECK(environment.size == 2);
  CHECK(environment.local_rank == 1);
  CHECK(environment.master_address.empty());
  CHECK(environment.source == "PMI");
}

TEST_CASE("rank environment: launchers are recognised in a fixed order") {
  Values all = with(kPmi, kSlurm);
  CHECK(read(all).source == "SLURM");
  all = with(all, kOpenMpi);
  CHECK(read(all).source == "Open MPI");
  all = with(all, kTorchrun);
  CHECK(read(all).source == "torchrun");
}

TEST_CASE("rank environment: malformed numbers are rejected with their variable and value") {
  const std::pair<const char*, const char*> bad[] = {
      {"RANK", "8"},           {"RANK", "-1"},
      {"RANK", "x"},           {"RANK", ""},
      {"RANK", "5 "},          {"WORLD_SIZE", "0"},
      {"WORLD_SIZE", "8x"},    {"WORLD_SIZE", "4294967296"},
      {"LOCAL_RANK", "8"},     {"MASTER_PORT", "0"},
      {"MASTER_PORT", "65536"}};
  for (const auto& [name, value] : bad) {
    CAPTURE(name);
    CAPTURE(value);
    CHECK(names(error_of(with(kTorchrun, {{name, value}})), std::string(name) + "=" + value));
  }
  CHECK(names(error_of(with(kOpenMpi, {{"OMPI_COMM_WORLD_RANK", "4"}})), "OMPI_COMM_WORLD_RANK=4"));
}

TEST_CASE("rank environment: the default port is that of the job on all ranks") {
  const std::uint16_t port = read(kSlurm).master_port;
  CHECK(port >= 20000);
  CHECK(port <= 29999);
  CHECK(read(with(kSlurm, {{"SLURM_PROCID", "0"}, {"SLURM_LOCALID", "0"}})).master_port == port);
  CHECK(read(with(kSlurm, {{"SLURM_JOB_ID", "1235"}})).master_port != port);
  CHECK(read(with(kSlurm, {{"SLURM_STEP_ID", "1"}})).master_port != port);
  CHECK(read(kOpenMpi).master_port !=
        read(with(kOpenMpi, {{"PMIX_NAMESPACE", "prterun-node0-78@1"}})).master_port);
}

TEST_CASE("rank environment: the secret is the same on all ranks and differs between jobs") {
  const auto secret_of = [](const Values& values) {
    return job_secret(from(values), read(values));
  };
  const Values first = with(kTorchrun, {{"TORCHELASTIC_RUN_ID", "run7"}});
  const std::string secret = secret_of(first);
  CHECK(!secret.empty());
  CHECK(secret_of(with(first, {{"RANK", "0"}, {"LOCAL_RANK", "0"}})) == secret);
  // torchrun's agents can be steps of different ids.
  CHECK(secret_of(with(first, {{"SLURM_STEP_ID", "3"}, {"SLURM_JOB_ID", "1"}})) == secret);
  CHECK(secret_of(with(first, {{"TORCHELASTIC_RUN_ID", "run8"}})) != secret);
  CHECK(secret_of(with(first, {{"MASTER_PORT", "29501"}})) != secret);
  CHECK(secret_of(with(first, {{"REPRISE_JOB_SECRET", "abc"}})) == "abc");
  CHECK(secret_of(kSlurm) != secret_of(with(kSlurm, {{"SLURM_JOB_ID", "9"}})));
}

TEST_CASE("rank environment: the channel never uses the port of the launcher") {
  for (const int port : {1, 29500, 65518, 65519, 65520, 65535}) {
    CAPTURE(port);
    const ControlChannelDesc desc = control_channel_desc(
        read(with(kTorchrun, {{"MASTER_PORT", std::to_string(port)}})), "secret");
    CHECK((port < desc.port || port >= desc.port + desc.port_count));
    CHECK(desc.port + desc.port_count <= 65536);
    CHECK(desc.rank == 5);
    CHECK(desc.size == 8);
    CHECK(desc.address == "node0");
    CHECK(desc.secret == "secret");
  }
}

#include "base/rank_environment.hpp"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <string_view>

#include "base/failure.hpp"
#include "base/text.hpp"

namespace reprise::detail {

namespace {

[[noreturn]] void reject(std::string_view name, std::string_view value, std::string_view expected) {
  fail(ErrorCode::InvalidArgument, Stage::Open, {},
       concat("environment variable ", name, "=", value, ": expected ", expected));
}

class Variables {
 public:
  explicit Variables(const GetVariable& get) : get_(get) {}

  [[nodiscard]] bool has(const char* name) const { return get_(name).has_value(); }
  // The first of `names` with a text; empty: none.
  [[nodiscard]] std::string text(std::initializer_list<const char*> names) const {
    for (const char* name : names)
      if (std::optional<std::string> value = get_(name); value && !value->empty()) return *value;
    return {};
  }
  [[nodiscard]] std::uint32_t number(
      const char* name, std::uint32_t min = 0,
      std::uint32_t max = std::numeric_limits<std::uint32_t>::max()) const {
    const std::optional<std::string> value = get_(name);
    if (!value) {
      fail(ErrorCode::InvalidArgument, Stage::Open, {},
           concat("environment variable ", name, " is not set, but others of its launcher are"));
    }
    std::uint32_t number = 0;
    const char* const end = value->data() + value->size();
    const auto [stop, error] = std::from_chars(value->data(), end, number);
    if (error != std::errc() || stop != end || number < min || number > max)
      reject(name, *value, concat("an integer from ", min, " to ", max));
    return number;
  }

 private:
  const GetVariable& get_;
};

// The first host of a list such as "node[03-07,9],other".
std::string first_host(const char* variable, const std::string& list) {
  std::string host;
  for (std::size_t i = 0; i < list.size() && list[i] != ','; ++i) {
    if (list[i] != '[') {
      host += list[i];
      continue;
    }
    const std::size_t end = list.find(']', i);
    if (end == std::string::npos) reject(variable, list, "a list of hosts");
    host.append(list, i + 1, list.find_first_of("-,]", i) - i - 1);
    i = end;
  }
  return host;
}

// FNV-1a.
std::uint64_t hash(std::string_view text) {
  std::uint64_t value = 0xcbf29ce484222325U;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return value;
}

// Identifies the job among those of the launcher; the same on all ranks. Variables of other
// launchers are not used: they can differ between the ranks.
std::string job_id(const Variables& variables, std::string_view source) {
  if (source == "torchrun") return variables.text({"TORCHELASTIC_RUN_ID"});
  std::string id;
  if (source == "Open MPI") id = variables.text({"OMPI_MCA_ess_base_jobid", "PMIX_NAMESPACE"});
  if (source == "SLURM")
    return concat(variables.text({"SLURM_JOB_ID"}), ".", variables.text({"SLURM_STEP_ID"}));
  return id.empty() ? variables.text({"SLURM_JOB_ID", "PMI_JOBID"}) : id;
}

// The variables of one launcher.
struct Launcher {
  const char* source;
  const char* rank;
  const char* size;
  const char* local_rank;
  // Number of ranks on this host, or for SLURM a list with a number for each host.
  std::initializer_list<const char*> local_size;
};

RankEnvironment read(const Variables& variables, const Launcher& launcher) {
  RankEnvironment out;
  out.source = launcher.source;
  out.size = variables.number(launcher.size, 1);
  out.rank = variables.number(launcher.rank, 0, out.size - 1);
  out.local_rank = variables.number(launcher.local_rank, 0, out.size - 1);
  out.master_address = variables.text({"MASTER_ADDR"});
  const bool is_torchrun = out.source == "torchrun";
  if (is_torchrun && out.master_address.empty()) reject("MASTER_ADDR", "", "the address of rank 0");
  if (is_torchrun || variables.has("MASTER_PORT")) {
    out.master_port = static_cast<std::uint16_t>(variables.number("MASTER_PORT", 1, 65535));
  } else {
    std::string id = job_id(variables, out.source);
    if (id.empty() || id == ".") id = concat("user ", ::getuid());
    out.master_port = static_cast<std::uint16_t>(20000 + hash(id) % 10000);
  }
  if (!out.master_address.empty()) return out;
  const std::string local_size = variables.text(launcher.local_size);
  if (out.size == 1 || local_size == std::to_string(out.size)) {
    out.master_address = "127.0.0.1";
  } else if (out.source == "SLURM") {
    // Rank 0 runs on the first host of its step. srun itself may run on another one.
    out.master_address = first_host("SLURM_STEP_NODELIST", variables.text({"SLURM_STEP_NODELIST"}));
    if (out.master_address.empty())
      out.master_address = variables.text({"SLURM_LAUNCH_NODE_IPADDR"});
  }
  return out;
}

}  // namespace

std::optional<std::string> process_variable(const char* name) {
  const char* const value = ::secure_getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::optional<RankEnvironment> read_rank_environment(const GetVariable& get) {
  const Variables variables(get);
  if (variables.has("RANK") && variables.has("WORLD_SIZE"))
    return read(variables, {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", {"LOCAL_WORLD_SIZE"}});
  if (variables.has("OMPI_COMM_WORLD_RANK") && variables.has("OMPI_COMM_WORLD_SIZE"))
    return read(variables, {"Open MPI",
                            "OMPI_COMM_WORLD_RANK",
                            "OMPI_COMM_WORLD_SIZE",
                            "OMPI_COMM_WORLD_LOCAL_RANK",
                            {"OMPI_COMM_WORLD_LOCAL_SIZE"}});
  // Without a step, these variables describe a batch script, which is no rank.
  if (variables.has("SLURM_NTASKS") && variables.has("SLURM_STEP_ID"))
    return read(variables, {"SLURM",
                            "SLURM_PROCID",
                            "SLURM_NTASKS",
                            "SLURM_LOCALID",
                            {"SLURM_STEP_TASKS_PER_NODE", "SLURM_NTASKS_PER_NODE"}});
  if (variables.has("PMI_RANK") && variables.has("PMI_SIZE"))
    return read(variables, {"PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", {"MPI_LOCALNRANKS"}});
  return std::nullopt;
}

std::string job_name(const GetVariable& get, const RankEnvironment& environment) {
  return concat(environment.source, " ", job_id(Variables(get), environment.source), " ",
                environment.master_address, ":", environment.master_port);
}

std::string job_secret(const GetVariable& get, const RankEnvironment& environment) {
  const Variables variables(get);
  std::string secret = variables.text({"REPRISE_JOB_SECRET"});
  if (!secret.empty()) return secret;
  return concat(job_name(get, environment), " user ", ::getuid());
}

}  // namespace reprise::detail

// PartVariables: the locations of the variables and the parameters that the body of a part names.
// Knows no instruction. Threads: one at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "ptx/persistent_part.hpp"
#include "ptx/ptx_module.hpp"

namespace reprise::detail {

// A variable starts `offset` bytes after the address in `base`.
struct VariableLocation {
  // Constants are in Global; Const and Other do not occur.
  PtxVariable::Space space = PtxVariable::Space::Other;
  // Shared: %rp_base. Local: rp_depot. Param: %rp_rec, the record in shared memory, or %rp_par,
  // global memory. Global: empty, and `offset` is the address.
  std::string_view base = {};
  std::uint64_t offset = 0;
};

// The memory that a part needs, in bytes.
struct PartMemory {
  std::uint64_t parameter_bytes = 0;
  bool has_inline_parameters = true;  // in the record
  std::uint64_t static_shared_bytes = 0;
  bool uses_shared = false;  // static or dynamic shared memory
  std::uint64_t local_bytes = 0;
  std::uint32_t local_alignment = 16;
};

class PartVariables {
 public:
  // Places the parameters, the shared and the local variables of an entry, and the shared variables
  // of the module that it names. A function that is not an entry keeps its local variables, and has
  // no shared ones. Does not distinguish scopes: a name that means a variable in one scope and
  // something else in another is a problem. The arguments must outlive the object. Complexity:
  // linear in the body.
  PartVariables(const PtxModule& module, const PtxFunction& function,
                const VariableAddress& address_of);

  // Why the variables cannot be placed; empty: they are.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] const PartMemory& memory() const { return memory_; }

  struct Lookup {
    const VariableLocation* location = nullptr;  // null: the name is not of a variable
    std::string problem = {};                    // why a part cannot use the name; empty: it can
  };
  // Asks `address_of` for the address of a variable of the module once. A location is valid as long
  // as the object.
  [[nodiscard]] Lookup find(std::string_view name);
  // As what else than a variable the scopes of the body declare a name.
  struct Declaration {
    bool is_register = false;
    bool is_narrow = false;  // a register of 32 bits
    bool is_other = false;   // a label or a parameter of a call; a local variable of a function

    [[nodiscard]] bool exists() const { return is_register || is_other; }
  };
  [[nodiscard]] Declaration find_declaration(std::string_view name) const;

 private:
  void exclude(std::string reason);
  void place_parameters();
  void place(std::string_view name, VariableLocation location);
  void declare(std::string_view directive);
  void declare_names(std::string_view directive);
  void check_names();
  void place_shared(const PtxVariable& variable);
  void place_module_shared();
  [[nodiscard]] VariableLocation end_of_shared() const;

  const PtxFunction& function_;
  const VariableAddress& address_of_;
  std::string problem_;
  PartMemory memory_;
  std::unordered_map<std::string_view, const PtxVariable*> module_variables_;
  std::unordered_map<std::string_view, VariableLocation> locations_;
  std::unordered_map<std::string_view, Declaration> names_;
  // Declarations such as %r<5>, which declares %r0 to %r4, by name (%r). Several scopes: the
  // max count.
  struct Range {
    std::uint64_t count = 0;
    Declaration declaration = {};
  };
  std::unordered_map<std::string_view, Range> ranges_;
};

}  // namespace reprise::detail

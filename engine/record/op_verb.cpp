// RecorderCore::add: records an op and its declarations as one command.
#include <bit>
#include <utility>

#include <reprise/child_graph_op.hpp>

#include "base/handle_access.hpp"
#include "base/text.hpp"
#include "record/recorded_op.hpp"
#include "record/recorder_core.hpp"

namespace reprise::detail {

CommandRef RecorderCore::add(std::shared_ptr<const GraphOp> op, SourceLocation where) {
  const Verb verb{"add", where};
  require_recording(verb);
  if (!op) fail(verb, ErrorCode::InvalidArgument, "the op is null; pass an op");
  if (const auto* const child = dynamic_cast<const ChildGraphOp*>(op.get()))
    return nested(core_of(*child), where);
  auto recorded = std::make_shared<RecordedOp>();
  recorded->name = op->op_name();
  if (recorded->name.empty())
    fail(verb, ErrorCode::InvalidArgument,
         "the op has no name; return one from op_name() for plans and messages");
  recorded->parameters = op->parameters();
  GraphOpDeclaration declared(device_->kind, ordinal_of(*device_), &family_->load_kernel);
  op->declare(declared);
  recorded->op = std::move(op);
  if (declared.dispatched()) return add_dispatch(verb, declared, std::move(recorded));
  for (const AccessedView& use : declared.views()) {
    check_access(verb, use, concat("buffer of op ", recorded->name));
    recorded->views.push_back(use);
  }
  std::vector<std::shared_ptr<BufferCore>> workspaces;
  for (const GraphOpDeclaration::Workspace& requested : declared.workspaces()) {
    constexpr std::uint32_t kMaxAlignment = 256;  // that of every slab
    if (requested.bytes == 0 || !std::has_single_bit(requested.alignment) ||
        requested.alignment > kMaxAlignment) {
      fail(verb, ErrorCode::InvalidArgument,
           concat("op ", recorded->name, " requests a workspace of ", requested.bytes,
                  " bytes aligned to ", requested.alignment,
                  "; the size must not be 0 and the alignment must be a power of two up to ",
                  kMaxAlignment));
    }
    workspaces.push_back(make_workspace(family_->device, concat(recorded->name, " workspace"),
                                        requested.bytes, requested.alignment));
  }
  recorded->workspace_count = static_cast<std::uint32_t>(workspaces.size());

  const OpPayload* payload = nullptr;
  std::uint32_t access_count = 0;
  transact(1, [&](Arena& arena) {
    const auto count = static_cast<std::uint32_t>(declared.views().size() + workspaces.size());
    BufferAccess* const accesses = count == 0 ? nullptr : lists_.accesses.reserve(arena, count);
    auto* const buffers = arena.make_array<std::uint32_t>(count);
    std::uint32_t next = 0;
    for (const AccessedView& use : declared.views()) {
      const std::uint32_t buffer = buffers[next++] = intern(core_of(use.view));
      const std::uint64_t begin = use.view.offset();
      if (use.view.bytes() != 0)
        accesses[access_count++] = {buffer, use.access, 0, begin, begin + use.view.bytes()};
    }
    for (const auto& workspace : workspaces) {
      const std::uint32_t buffer = buffers[next++] = intern(workspace);
      accesses[access_count++] = {buffer, Access::Write, 0, 0, workspace->bytes};
    }
    payload = arena.make<OpPayload>(static_cast<std::uint32_t>(lists_.ops.size()), count, buffers);
    lists_.ops.push_back(std::move(recorded));
  });
  return commit(CommandKind::Op, payload, access_count, where);
}

CommandRef RecorderCore::add_dispatch(const Verb& verb, const GraphOpDeclaration& declared,
                                      std::shared_ptr<const RecordedOp> op) {
  if (!declared.views().empty() || !declared.workspaces().empty())
    fail(verb, ErrorCode::InvalidArgument,
         concat("op ", op->name,
                " declares a dispatch and also accesses or workspaces; the dispatch is all of it"));
  const GraphOpDeclaration::Dispatch& is = *declared.dispatched();
  DispatchDesc desc = is.desc;
  desc.where = verb.where;
  const auto owners = HandleAccess::owners(is.arguments);
  reserve_owners(owners.size());
  const Mark before = mark();
  lists_.ops.push_back(std::move(op));
  try {
    const CommandRef command =
        dispatch(CalledKernel(is.kernel, verb.where), desc, HandleAccess::arguments(is.arguments),
                 static_cast<std::uint32_t>(before.ops));
    keep(owners);
    return command;
  } catch (...) {
    roll_back(before);
    throw;
  }
}

}  // namespace reprise::detail

// Simulates CUPTI's callbacks before and after a program's calls, with CUPTI's structures. Threads:
// those of the caller.
#pragma once

#include <cupti.h>

#include <cstdint>
#include <functional>
#include <utility>

#include "injection/hand_made_driver.hpp"

namespace reprise::test {

class PlayedCalls {
 public:
  using Listener =
      std::function<void(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data)>;
  explicit PlayedCalls(Listener listener) : listener_(std::move(listener)) {}

  void resource(CUpti_CallbackId id, CUpti_GraphData graph) const {
    CUpti_ResourceData data = {};
    data.resourceDescriptor = &graph;
    listener_(CUPTI_CB_DOMAIN_RESOURCE, id, &data);
  }
  void context_made() const {
    CUpti_ResourceData data = {};
    listener_(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED, &data);
  }
  void stream_gone(CUstream stream) const {
    CUpti_ResourceData data = {};
    data.resourceHandle.stream = stream;
    listener_(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING, &data);
  }
  void make_node(HandMadeGraph& graph, HandMadeNode& node) const {
    CUpti_GraphData data = {};
    data.graph = handle_of<CUgraph>(graph);
    data.node = handle_of<CUgraphNode>(node);
    resource(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, data);
  }
  void instantiate(HandMadeGraph& graph, CUgraphExec exec) const {
    CUpti_GraphData data = {};
    data.graph = handle_of<CUgraph>(graph);
    data.graphExec = exec;
    resource(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, data);
  }

  template <class Parameters>
  void enter(CUpti_CallbackId id, const Parameters& parameters) const {
    CUpti_CallbackData data = {};
    data.functionParams = &parameters;
    data.callbackSite = CUPTI_API_ENTER;
    listener_(CUPTI_CB_DOMAIN_DRIVER_API, id, &data);
  }
  struct Outcome {
    CUresult result = CUDA_SUCCESS;
    std::uint32_t correlation = 1;
  };
  template <class Parameters>
  void leave(CUpti_CallbackId id, const Parameters& parameters, Outcome outcome = {}) const {
    CUpti_CallbackData data = {};
    data.functionParams = &parameters;
    data.callbackSite = CUPTI_API_EXIT;
    data.functionReturnValue = &outcome.result;
    data.correlationId = outcome.correlation;
    listener_(CUPTI_CB_DOMAIN_DRIVER_API, id, &data);
  }
  template <class Parameters>
  void call(CUpti_CallbackId id, const Parameters& parameters, Outcome outcome = {}) const {
    enter(id, parameters);
    leave(id, parameters, outcome);
  }

 private:
  Listener listener_;
};

}  // namespace reprise::test

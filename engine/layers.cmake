# reprise_layer(NAME <layer> SOURCES <files...> [DEPENDS <layers...>] [LINK <libraries...>])
#
# One layer of the engine: an object library reprise_<layer>, whose objects go into the one library reprise_engine.
# DEPENDS names the layers whose headers this one may include; LINK names libraries from outside.
function(reprise_layer)
  cmake_parse_arguments(PARSE_ARGV 0 layer "" "NAME" "SOURCES;DEPENDS;LINK")
  if(layer_UNPARSED_ARGUMENTS OR NOT layer_NAME OR NOT layer_SOURCES)
    message(FATAL_ERROR "reprise_layer needs NAME and SOURCES; unknown: '${layer_UNPARSED_ARGUMENTS}'")
  endif()
  set(target reprise_${layer_NAME})
  add_library(${target} OBJECT ${layer_SOURCES})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/engine ${PROJECT_SOURCE_DIR}/engine/include)
  target_link_libraries(${target} PRIVATE reprise_flags PUBLIC Threads::Threads ${layer_LINK})
  if(REPRISE_WITH_CUDA)
    target_compile_definitions(${target} PUBLIC REPRISE_HAS_CUDA=1)
  endif()
  foreach(dependency IN LISTS layer_DEPENDS)
    # Only usage requirements: the objects of every layer are linked once, by reprise_engine.
    target_link_libraries(${target} PUBLIC reprise_${dependency})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY REPRISE_LAYERS ${target})
  set_property(GLOBAL APPEND PROPERTY REPRISE_LAYER_LIBRARIES ${layer_LINK})
endfunction()

# `cmake --install` provides the libraries, the public headers and reprise_add_shaders to other
# projects. reprise::ops adds GEMM, FFT and random numbers; reprise::planner contains only plan_memory().
#
#     find_package(reprise)
#     target_link_libraries(app PRIVATE reprise::engine)
#     reprise_add_shaders(app kernels.cu)

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/reprise)

set(package_targets reprise_engine reprise_planner)
if(REPRISE_OPS)
  list(APPEND package_targets reprise_ops)
endif()
install(TARGETS ${package_targets} EXPORT reprise ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT reprise)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/engine/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT reprise
  FILES_MATCHING PATTERN "*.hpp")
install(EXPORT reprise FILE reprise-targets.cmake NAMESPACE reprise:: DESTINATION ${package_directory} COMPONENT reprise)

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/reprise-config.cmake.in
  ${PROJECT_BINARY_DIR}/package/reprise-config.cmake
  INSTALL_DESTINATION ${package_directory})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/reprise-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/package/reprise-config.cmake
  ${PROJECT_BINARY_DIR}/package/reprise-config-version.cmake
  DESTINATION ${package_directory} COMPONENT reprise)

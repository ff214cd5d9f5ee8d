# SPDX-License-Identifier: MIT
#
# An overlay port: vcpkg install libfiber --overlay-ports=packaging/vcpkg/ports
#
# It builds the tree that it is in, or the one that LIBFIBER_SOURCE names. It installs libfiber and libfiber-posix; the tools and
# the other libraries need packages of the distribution.

if(DEFINED ENV{LIBFIBER_SOURCE})
  set(SOURCE_PATH "$ENV{LIBFIBER_SOURCE}")
else()
  get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)
endif()

# The makefile has one configuration, with debug information.
set(VCPKG_BUILD_TYPE release)
# The files of CMake find the libraries relative to their own folder, lib/cmake/libfiber.
set(VCPKG_POLICY_SKIP_MISPLACED_CMAKE_FILES_CHECK enabled)

vcpkg_execute_required_process(
  COMMAND make -s "-j${VCPKG_CONCURRENCY}" "BUILD=${CURRENT_BUILDTREES_DIR}/make" "PREFIX=${CURRENT_PACKAGES_DIR}" install-lib
  WORKING_DIRECTORY "${SOURCE_PATH}"
  LOGNAME "make-${TARGET_TRIPLET}")

if(VCPKG_LIBRARY_LINKAGE STREQUAL "static")
  file(GLOB SHARED "${CURRENT_PACKAGES_DIR}/lib/*.so" "${CURRENT_PACKAGES_DIR}/lib/*.so.*")
  file(REMOVE ${SHARED})
endif()
vcpkg_fixup_pkgconfig()
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")

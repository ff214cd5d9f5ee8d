#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test-buildsystems.sh [BUILD] - programs find the installed libfiber with pkg-config and CMake, and the files for vcpkg and
# Conan install what they say
#
# Prints TAP. BUILD, or $FIBER_BUILD, is a finished build; nothing outside a temporary folder is written. vcpkg and Conan are not needed: the functions of theirs that the files call are replaced by small ones below.
# What real ones say is not known from this test.
. "$(dirname "$0")/tap.sh"

make=${MAKE:-make}
unset MAKEFLAGS MFLAGS MAKELEVEL
version=$(sed -n 's/^VERSION := //p' Makefile)
root=$PWD
prefix=$tmp/first
# Libraries in a folder of their own, as Debian has one for each architecture.
lib=lib/own
PKG_CONFIG_PATH=$prefix/$lib/pkgconfig
export PKG_CONFIG_PATH

# static PC EXAMPLE EXPECTED: with exactly what pkg-config --static prints, the example links with -static, and prints EXPECTED
static() {
	# shellcheck disable=SC2046 # flags must be split
	"$cc" -D_GNU_SOURCE -static -o "$tmp/static" "examples/$2.c" $(pkg-config --static --cflags --libs "$1") || return 1
	! readelf -d "$tmp/static" | grep NEEDED || return 1
	timeout 60 "$tmp/static" >"$tmp/out" && cat "$tmp/out" && grep -q "$3" "$tmp/out"
}

# archive PC SOURCE CFLAGS: libfiber-test replaces functions of the C library, which is shared; the rest comes from the archive
archive() {
	# shellcheck disable=SC2046,SC2086 # flags must be split
	"$cc" -D_GNU_SOURCE $3 $(pkg-config --cflags "$1") -c -o "$tmp/archive.o" "$2" &&
		"$cc" -o "$tmp/archive" "$tmp/archive.o" $(pkg-config --static --libs "$1") &&
		! readelf -d "$tmp/archive" | grep 'NEEDED.*libfiber'
}

# no_paths: the pkg-config files name no folder but the prefix, and the installed files not DESTDIR or the build
no_paths() {
	! grep -rlF -e "$build" -e "$tmp/stage" "$tmp/stage$prefix/$lib/pkgconfig" "$tmp/stage$prefix/$lib/cmake" &&
		for pc in "$prefix/$lib"/pkgconfig/*.pc; do
			module=$(basename "$pc" .pc)
			[ "$(pkg-config --define-variable=prefix=/elsewhere --variable=libdir "$module")" = "/elsewhere/$lib" ] &&
				[ "$(pkg-config --modversion "$module")" = "$version" ] || return 1
		done
}

mkdir -p "$tmp/cmake" && cat >"$tmp/cmake/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.16)
project(own C CXX)
# Which versions are taken, and what is said about a component that is not there.
foreach(wanted IN ITEMS 0.1 ${VERSION} 0.99 1.0)
  set(libfiber_DIR ${LIBRARIES}/cmake/libfiber CACHE PATH "" FORCE) # a failure has reset it
  find_package(libfiber ${wanted} QUIET)
  message(STATUS "version ${wanted}: ${libfiber_FOUND}")
endforeach()
set(libfiber_DIR ${LIBRARIES}/cmake/libfiber CACHE PATH "" FORCE)
find_package(libfiber QUIET COMPONENTS fiber_static none)
message(STATUS "none: ${libfiber_FOUND}, ${libfiber_NOT_FOUND_MESSAGE}")
set(libfiber_DIR ${LIBRARIES}/cmake/libfiber CACHE PATH "" FORCE)
find_package(libfiber REQUIRED COMPONENTS ${PARTS})
add_compile_definitions(_GNU_SOURCE)

# program(TARGET SOURCE LIBRARY...): with LIBRARY of libfiber, if it is wanted
function(program name source part)
  if(part IN_LIST PARTS)
    add_executable(${name} ${EXAMPLES}/${source})
    target_link_libraries(${name} libfiber::${part} ${ARGN})
  endif()
endfunction()
program(pipeline 03_pipeline.c fiber)
program(pipeline_static 03_pipeline.c fiber_static)
program(raii raii.cpp fiber)
program(posix 23_posix.c posix)
program(posix_static 23_posix.c posix_static)
program(tls 24_tls.c tls ssl crypto)
program(tls_static 24_tls.c tls_static)
program(win32 25_win32_copy.c win32)
program(win32_static 25_win32_copy.c win32_static)
program(backtrace 15_backtrace.c backtrace)
program(backtrace_static 15_backtrace.c backtrace_static)
program(explored 22_test.c test)
if(test_memory IN_LIST PARTS)
  add_library(seen_object OBJECT ${EXAMPLES}/27_test_memory.c)
  target_compile_options(seen_object PRIVATE -fsanitize=thread)
  target_include_directories(seen_object PRIVATE $<TARGET_PROPERTY:libfiber::test_memory,INTERFACE_INCLUDE_DIRECTORIES>)
  add_executable(seen $<TARGET_OBJECTS:seen_object>)
  target_link_libraries(seen libfiber::test_memory)
endif()
END

# configure FOLDER-OF-BUILD FOLDER-OF-LIBRARIES PART...: write makefiles for the programs with these targets of libfiber
configure() {
	out=$1 libraries=$2
	shift 2
	needs cmake || return
	cmake -S "$tmp/cmake" -B "$out" -DCMAKE_C_COMPILER="$cc" -DLIBRARIES="$libraries" -DEXAMPLES="$root/examples" \
		-DVERSION="$version" -DPARTS="$(echo "$*" | tr ' ' ';')" >"$tmp/configured" 2>&1
	said=$?
	cat "$tmp/configured"
	return $said
}

# The prefix is moved before: what CMake is told comes from where the files are.
cmake_finds() {
	mv "$prefix" "$tmp/moved" && configure "$tmp/cmake/out" "$tmp/moved/$lib" fiber fiber_static posix posix_static tls tls_static \
		win32 win32_static backtrace backtrace_static test test_memory && cp "$tmp/configured" "$tmp/found"
}

cmake_builds() {
	needs cmake || return
	cmake --build "$tmp/cmake/out" -j 2 2>&1 && cd "$tmp/cmake/out" || return 1
	for program in pipeline pipeline_static; do
		[ "$(./$program)" = "the squares of 1 to 1000 add up to 333833500" ] || return 1
	done
	[ "$(./raii)" = "left early, total 6" ] || return 1
	for program in posix posix_static; do
		[ "$(./$program | sort -u)" = "1 + 4 + ... + 100 = 385" ] || return 1
	done
	for program in tls tls_static; do
		./$program | grep '^localhost: hello' || return 1
	done
	# It calls nothing of libfiber itself, so only libfiber-win32 asks for it.
	for program in win32 win32_static; do
		LD_LIBRARY_PATH=$tmp/moved/$lib ./$program | grep '^rounds: as many' || return 1
	done
	for program in backtrace backtrace_static; do
		./$program | grep '^fiber 2 "worker"' || return 1
	done
	./seen unlocked | grep 'unlocked: race'
}

# What a target says decides what a program needs.
cmake_links() {
	needs cmake || return
	cd "$tmp/cmake/out" && readelf -d pipeline | grep 'NEEDED.*libfiber.so.0' && readelf -d posix | grep 'NEEDED.*libfiber-posix.so.0' &&
		! readelf -d pipeline_static explored posix_static | grep 'NEEDED.*libfiber'
}

cmake_versions() {
	needs cmake || return
	sed -n 's/^-- version //p' "$tmp/found" >"$tmp/out"
	printf '%s\n' '0.1: 1' "$version: 1" '0.99: 0' '1.0: 0' | diff - "$tmp/out"
}

cmake_lacks() {
	needs cmake || return
	grep -- '-- none: ' "$tmp/found" && grep -qx -- "-- none: 0, libfiber::none is not installed in $tmp/moved/$lib" "$tmp/found"
}

# uses FOLDER: a program builds with CMake against what the file for vcpkg or for Conan installed there
uses() {
	needs cmake || return
	mv "$1" "$1-moved" && configure "$1-out" "$1-moved/lib" posix_static && cmake --build "$1-out" &&
		[ "$("$1-out/posix_static" | sort -u)" = "1 + 4 + ... + 100 = 385" ]
}

# The port with vcpkg's functions replaced. Its build folder is the finished build.
vcpkg_port() {
	needs cmake || return
	mkdir -p "$tmp/vcpkg/trees" && ln -s "$build" "$tmp/vcpkg/trees/make" && cat >"$tmp/vcpkg/run.cmake" <<END
function(vcpkg_execute_required_process)
  cmake_parse_arguments(A "" "WORKING_DIRECTORY;LOGNAME" "COMMAND" \${ARGN})
  execute_process(COMMAND \${A_COMMAND} WORKING_DIRECTORY \${A_WORKING_DIRECTORY} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
function(vcpkg_fixup_pkgconfig)
endfunction()
function(vcpkg_install_copyright)
  cmake_parse_arguments(A "" "" "FILE_LIST" \${ARGN})
  file(COPY \${A_FILE_LIST} DESTINATION \${CURRENT_PACKAGES_DIR}/share/libfiber)
endfunction()
set(VCPKG_CONCURRENCY 1)
set(VCPKG_LIBRARY_LINKAGE static)
set(TARGET_TRIPLET x64-linux)
set(CURRENT_BUILDTREES_DIR $tmp/vcpkg/trees)
set(CURRENT_PACKAGES_DIR $tmp/vcpkg/packages)
include($root/packaging/vcpkg/ports/libfiber/portfile.cmake)
END
	cmake -P "$tmp/vcpkg/run.cmake" && python3 -B - "$version" <<'END' && [ -z "$(find "$tmp/vcpkg/packages" -name '*.so*')" ] &&
import json, sys
port = json.load(open("packaging/vcpkg/ports/libfiber/vcpkg.json", encoding="utf-8"))
assert port["version"] == sys.argv[1] and port["name"] == "libfiber" and port["license"] == "MIT", port
END
		[ -f "$tmp/vcpkg/packages/share/libfiber/LICENSE" ] && uses "$tmp/vcpkg/packages"
}

# The recipe with Conan's classes replaced. Its build folder is the finished build.
conan_recipe() {
	mkdir -p "$tmp/conan/build" && ln -s "$build" "$tmp/conan/build/make" &&
		python3 -B - "$tmp/conan" "$version" <<'END' && [ -z "$(find "$tmp/conan/package" -name '*.so*')" ] &&
import fnmatch, importlib.util, os, shutil, subprocess, sys, types
folder, version = sys.argv[1:]

class Info:
    def __init__(self):
        self.components, self.properties = {}, {}
        self.libs = self.system_libs = self.requires = self.exelinkflags = self.sharedlinkflags = ()
    def set_property(self, name, value):
        self.properties[name] = value

class Components(dict):
    def __missing__(self, name):
        self[name] = Info()
        return self[name]

class ConanFile:
    def __init__(self):
        self.recipe_folder = os.path.abspath("packaging/conan")
        self.source_folder = self.export_sources_folder = os.path.join(folder, "source")
        self.build_folder, self.package_folder = os.path.join(folder, "build"), os.path.join(folder, "package")
        self.options = types.SimpleNamespace(**type(self).default_options)
        self.settings = types.SimpleNamespace(os="Linux", rm_safe=lambda name: None)
        self.cpp_info, self.needs = Info(), []
        self.cpp_info.components = Components()
    def run(self, command, cwd):
        subprocess.run(command, shell=True, cwd=cwd, check=True)
    def requires(self, what):
        self.needs.append(what)

def copy(conanfile, pattern, src, dst, excludes=None):
    for where, _, files in os.walk(src):
        for name in files:
            path = os.path.relpath(os.path.join(where, name), src)
            if fnmatch.fnmatch(path, pattern) and not (excludes and fnmatch.fnmatch(path, excludes)):
                os.makedirs(os.path.dirname(os.path.join(dst, path)), exist_ok=True)
                shutil.copy2(os.path.join(src, path), os.path.join(dst, path))

for name, content in {"conan": {"ConanFile": ConanFile}, "conan.errors": {"ConanInvalidConfiguration": Exception},
                      "conan.tools": {}, "conan.tools.files": {"copy": copy}}.items():
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__dict__.update(content)
spec = importlib.util.spec_from_file_location("conanfile", "packaging/conan/conanfile.py")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
recipe = module.LibfiberConan()
assert recipe.version == version, recipe.version
for step in ("export_sources", "configure", "validate", "requirements", "build", "package", "package_info"):
    getattr(recipe, step)()
assert recipe.needs == ["liburing/[>=2.3]"], recipe.needs
for name, info in recipe.cpp_info.components.items():
    assert info.properties["cmake_target_name"] == "libfiber::" + name
    assert all(os.path.exists(os.path.join(recipe.package_folder, "lib", f"lib{lib}.a")) for lib in info.libs), info.libs
END
		[ -f "$tmp/conan/package/licenses/LICENSE" ] && uses "$tmp/conan/package"
}

prove "make install with LIBDIR succeeds" "$make" -s install BUILD="$build" PREFIX="$prefix" LIBDIR="$prefix/$lib" DESTDIR=
prove "make install with LIBDIR and DESTDIR succeeds" "$make" -s install-lib BUILD="$build" PREFIX="$prefix" LIBDIR="$prefix/$lib" \
	DESTDIR="$tmp/stage"
prove "pkg-config files and those of CMake name the prefix only" no_paths
prove "a static program links with what pkg-config --static libfiber prints" static libfiber 03_pipeline 333833500
prove "and with that of libfiber-posix" static libfiber-posix 23_posix 385
prove "and with that of libfiber-tls" static libfiber-tls 24_tls 'localhost: hello'
prove "and with that of libfiber-backtrace" static libfiber-backtrace 15_backtrace '^fiber 2 "worker"'
prove "a test links with the archive that pkg-config --static libfiber-test prints" archive libfiber-test examples/22_test.c ""
prove "and with that of libfiber-test-memory" archive libfiber-test-memory examples/27_test_memory.c -fsanitize=thread
prove "find_package(libfiber) finds each library in a prefix that was moved" cmake_finds
prove "and programs build with its targets and run" eval '(cmake_builds)'
prove "and need the libraries that the targets name" eval '(cmake_links)'
prove "and it takes an earlier version of this SONAME and no later one" cmake_versions
prove "and it says which component is not installed" cmake_lacks
prove "vcpkg's port installs archives that a program is built with" vcpkg_port
prove "Conan's recipe installs archives that a program is built with" conan_recipe
prove "make uninstall with LIBDIR succeeds" "$make" -s uninstall BUILD="$build" PREFIX="$tmp/moved" LIBDIR="$tmp/moved/$lib" DESTDIR=
prove "and leaves nothing" eval '! find "$tmp/moved" ! -type d | grep .'

echo "1..$count"
exit $failed

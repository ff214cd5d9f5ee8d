# SPDX-License-Identifier: MIT
"""conanfile.py - libfiber and libfiber-posix for Conan 2

conan create packaging/conan    builds the tree that this file is in
"""
import os

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.files import copy


class LibfiberConan(ConanFile):
    name = "libfiber"
    version = "0.2.0"
    license = "MIT"
    description = "Stackful fibers that can be seen: lists, waits and backtraces of every one"
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "uring": [True, False]}
    default_options = {"shared": False, "uring": True}

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..", "..")
        for pattern in ("Makefile", "LICENSE", "scripts/*", "libfiber*", "packaging/cmake/*", "docs/schema/*"):
            copy(self, pattern, root, self.export_sources_folder, excludes="build/*")

    def configure(self):
        self.settings.rm_safe("compiler.cppstd")
        self.settings.rm_safe("compiler.libcxx")

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("libfiber is for Linux")

    def requirements(self):
        if self.options.uring:
            self.requires("liburing/[>=2.3]")

    def _make(self, goal):
        self.run("make -s -j{} BUILD={} URING={} PREFIX={} {}".format(
            os.cpu_count(), os.path.join(self.build_folder, "make"), "uring" if self.options.uring else "no_uring",
            self.package_folder, goal), cwd=self.source_folder)

    def build(self):
        self._make("lib")

    def package(self):
        self._make("install-lib")
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        unwanted = (".a",) if self.options.shared else (".so", ".so.0")
        for name in os.listdir(os.path.join(self.package_folder, "lib")):
            if name.endswith(unwanted):
                os.remove(os.path.join(self.package_folder, "lib", name))

    def package_info(self):
        fiber = self.cpp_info.components["fiber"]
        fiber.libs = ["fiber"]
        fiber.system_libs = ["pthread"]
        fiber.set_property("cmake_target_name", "libfiber::fiber")
        fiber.set_property("pkg_config_name", "libfiber")
        if self.options.uring and not self.options.shared:
            fiber.requires = ["liburing::liburing"]
        posix = self.cpp_info.components["posix"]
        posix.libs = ["fiber-posix"]
        posix.requires = ["fiber"]
        flags = ["-Wl,-u,fiber_posix_linked", "-Wl,--no-as-needed"]
        posix.exelinkflags = posix.sharedlinkflags = flags
        posix.set_property("cmake_target_name", "libfiber::posix")
        posix.set_property("pkg_config_name", "libfiber-posix")

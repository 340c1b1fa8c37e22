# SPDX-License-Identifier: MIT
# Asserts are what the targets check with: RelWithDebInfo without NDEBUG.
set(CMAKE_C_COMPILER clang CACHE STRING "")
set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g" CACHE STRING "")
set(CMAKE_C_FLAGS "-fsanitize=fuzzer-no-link" CACHE STRING "")
set(PTYCELL_SANITIZE "address,undefined" CACHE STRING "")
set(PTYCELL_FUZZ ON CACHE BOOL "build the libFuzzer programs")

# SPDX-License-Identifier: MIT
# The fuzz targets, optimised, for free fuzzing. Asserts are what they check with: no NDEBUG.
set(CMAKE_C_COMPILER clang CACHE STRING "")
set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g" CACHE STRING "")
set(PTYCELL_SANITIZE "address,undefined" CACHE STRING "")
set(PTYCELL_INSTRUMENT ON CACHE BOOL "")

# SPDX-License-Identifier: MIT
# One build holds all that clang adds: sanitizers, the fuzz targets and the counts of lines.
set(CMAKE_C_COMPILER clang CACHE STRING "")
set(CMAKE_BUILD_TYPE Debug CACHE STRING "")
set(CMAKE_C_FLAGS_DEBUG "-O1 -gline-tables-only" CACHE STRING "")
# It takes half of what the other linker does, for some 170 programs.
set(CMAKE_EXE_LINKER_FLAGS "-fuse-ld=lld" CACHE STRING "")
set(CMAKE_COMPILE_WARNING_AS_ERROR ON CACHE BOOL "")
set(PTYCELL_SANITIZE "address,undefined" CACHE STRING "")
set(PTYCELL_INSTRUMENT ON CACHE BOOL "")

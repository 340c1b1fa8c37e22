# SPDX-License-Identifier: MIT
set(CMAKE_C_COMPILER gcc CACHE STRING "")
set(CMAKE_BUILD_TYPE Debug CACHE STRING "")
set(CMAKE_C_FLAGS "-fprofile-arcs -ftest-coverage" CACHE STRING "")
set(CMAKE_EXE_LINKER_FLAGS "--coverage" CACHE STRING "")

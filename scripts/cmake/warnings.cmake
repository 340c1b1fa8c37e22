# SPDX-License-Identifier: MIT
# The warnings every source is built with; scripts/build makes them errors.
add_compile_options(
    -Wall -Wextra -Wpedantic -Wshadow -Wvla -Wundef -Wformat=2 -Wstrict-prototypes
    -Wmissing-prototypes -Wold-style-definition -Wpointer-arith -Wcast-qual -Wcast-align
    -Wwrite-strings -Wconversion -Wno-sign-conversion -Wimplicit-fallthrough -Wredundant-decls
    -Wnull-dereference)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    # clang's -Wdouble-promotion complains of INFINITY, which is a float.
    add_compile_options(-Wdouble-promotion -Wlogical-op -Wduplicated-cond -Wduplicated-branches -Wjump-misses-init)
else()
    add_compile_options(-Wcomma -Wconditional-uninitialized -Wmissing-variable-declarations)
endif()

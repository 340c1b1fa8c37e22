# SPDX-License-Identifier: MIT
set(PTYCELL_SANITIZE "" CACHE STRING "sanitizers to build with, as for -fsanitize=")
set(PTYCELL_INSTRUMENT OFF CACHE BOOL "clang only: build the libFuzzer programs, count the lines that unit tests run")
set(PTYCELL_HARDEN OFF CACHE BOOL "hardening flags of a release build")
# What takes all of this back, for programs that stand for what we did not write.
set(PTYCELL_PLAIN -fno-sanitize=all)
if(PTYCELL_SANITIZE)
    add_compile_options(-fsanitize=${PTYCELL_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${PTYCELL_SANITIZE})
    # At a fixed address: sanitizers leave a program 130,000 relocations, which each start would pay.
    set(CMAKE_C_LINK_OPTIONS_PIE -no-pie)
endif()
if(PTYCELL_INSTRUMENT)
    # Only what is linked with link_counts() writes its counts: the programs run where they cannot.
    add_compile_options(-fsanitize=fuzzer-no-link -fcoverage-mapping
        -fprofile-instr-generate=${CMAKE_BINARY_DIR}/counts/%m.profraw)
    list(APPEND PTYCELL_PLAIN -fno-profile-instr-generate -fno-coverage-mapping)
endif()

# link_counts(TARGET): TARGET adds the lines that it ran to build/NAME/counts when it exits.
function(link_counts target)
    if(PTYCELL_INSTRUMENT)
        target_link_options(${target} PRIVATE -fprofile-instr-generate)
    endif()
endfunction()

if(PTYCELL_HARDEN)
    add_compile_options(-D_FORTIFY_SOURCE=2 -fstack-protector-strong -fstack-clash-protection)
    add_link_options(-Wl,-z,relro,-z,now)
endif()

# SPDX-License-Identifier: MIT
# How tests become CTest entries. Each sets its label and its time limit; 77 is "skipped".
# Only a hang reaches the limits, however busy the machine is; sanitizers get three times as long.
if(PTYCELL_SANITIZE)
    set(limits_are_long ON)
    set(limit_factor 3)
else()
    set(limits_are_long OFF)
    set(limit_factor 1)
endif()

# ptycell_test(NAME LABEL SECONDS command...)
# What takes longest begins first, or one processor waits for it at the end.
function(ptycell_test name label seconds)
    math(EXPR seconds "${seconds} * ${limit_factor}")
    set(cost 1)
    if(name MATCHES "^drivers" OR "slow" IN_LIST label)
        set(cost 100)
    elseif(name MATCHES "confinement_(limits|processes)|packages|repositories_matrix|spares|sql_(files|postgres)|test_(r|waiting)$|test_(removal|scan)")
        set(cost 50)
    elseif(NOT label MATCHES "unit|corpus|fallback")
        set(cost 10)
    endif()
    add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    set_tests_properties(${name} PROPERTIES LABELS "${label}" TIMEOUT ${seconds} COST ${cost}
        SKIP_RETURN_CODE 77 ENVIRONMENT
        "PTYCELL_BUILD=${CMAKE_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1;UBSAN_OPTIONS=print_stacktrace=1")
endfunction()

# add_support(): of test/support, each .c with a main() is a program in build/NAME/test, the others
# are the library that every unit test links. The programs stand for what we did not write: without
# sanitizers, whose signal handlers an interpreter does not have.
function(add_support)
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/test/support/*.c)
    set(library)
    foreach(source ${sources})
        get_filename_component(stem ${source} NAME_WE)
        file(STRINGS ${source} has_main REGEX "^int main\\(")
        if(NOT has_main)
            list(APPEND library ${source})
            continue()
        endif()
        add_executable(${stem} ${source})
        target_compile_definitions(${stem} PRIVATE _GNU_SOURCE)
        target_include_directories(${stem} PRIVATE ${CMAKE_SOURCE_DIR}/lib)
        if(PTYCELL_SANITIZE)
            target_compile_options(${stem} PRIVATE ${PTYCELL_PLAIN})
            target_link_options(${stem} PRIVATE ${PTYCELL_PLAIN})
        endif()
        set_target_properties(${stem} PROPERTIES
            RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
    endforeach()
    if(library)
        add_library(test_support STATIC ${library})
        target_compile_definitions(test_support PRIVATE _GNU_SOURCE
            TEST_DATA="${CMAKE_SOURCE_DIR}/test/data" TEST_BUILD="${CMAKE_BINARY_DIR}")
        target_include_directories(test_support PUBLIC ${CMAKE_SOURCE_DIR}/test/support)
        target_link_libraries(test_support PUBLIC lib_base lib_event lib_json)
    else()
        add_library(test_support INTERFACE)
        target_include_directories(test_support INTERFACE ${CMAKE_SOURCE_DIR}/test/support)
    endif()
endfunction()

# add_unit_tests(LAYER layer...): one program for each test/unit/LAYER/test_*.c
function(add_unit_tests layer)
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/test/unit/${layer}/test_*.c)
    set(layers ${layer} ${ARGN})
    list(TRANSFORM layers PREPEND lib_)
    foreach(source ${sources})
        get_filename_component(stem ${source} NAME_WE)
        set(target unit_${layer}_${stem})
        add_executable(${target} ${source})
        target_compile_definitions(${target} PRIVATE _GNU_SOURCE
            TEST_DATA="${CMAKE_SOURCE_DIR}/test/data" TEST_BUILD="${CMAKE_BINARY_DIR}")
        target_link_libraries(${target} PRIVATE test_support ${layers} cmocka)
        link_counts(${target})
        set_target_properties(${target} PROPERTIES
            RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
        ptycell_test(unit.${layer}.${stem} unit 600 $<TARGET_FILE:${target}>)
    endforeach()
endfunction()

# add_fallback_test(LAYER STEM syscall...): a unit test once more on a kernel without these calls.
function(add_fallback_test layer stem)
    if(NOT TARGET unit_${layer}_${stem})
        return()
    endif()
    list(JOIN ARGN "," denied)
    ptycell_test(fallback.${layer}.${stem}.${denied} fallback 600 $<TARGET_FILE:deny_syscalls>
        ${denied} -- $<TARGET_FILE:unit_${layer}_${stem}>)
endfunction()

# add_confined_test(LAYER STEM): a unit test that uses interpreter_fixture.h once more, with its
# interpreters in a sandbox of tier namespaces.
function(add_confined_test layer stem)
    if(NOT TARGET unit_${layer}_${stem})
        return()
    endif()
    ptycell_test(confined.${layer}.${stem} unit 600 ${CMAKE_COMMAND} -E env
        PTYCELL_TEST_TIER=namespaces $<TARGET_FILE:unit_${layer}_${stem}>)
endfunction()

# add_pytests(FOLDER LABEL SECONDS): one entry for each FOLDER/test_*.py below test/; those named
# test_slow_*.py get the label "slow" and twice as long.
function(add_pytests folder label seconds)
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/test/${folder}/test_*.py)
    foreach(source ${sources})
        get_filename_component(stem ${source} NAME_WE)
        set(name ${label}.${stem})
        set(labels ${label})
        set(limit ${seconds})
        if(stem MATCHES "^test_slow_")
            set(labels "${label};slow")
            math(EXPR limit "${seconds} * 2")
        endif()
        ptycell_test(${name} "${labels}" ${limit} ${CMAKE_SOURCE_DIR}/test/support/pytest
            ${source})
    endforeach()
endfunction()

# add_fuzz_targets(): test/fuzz/fuzz_NAME.c is a libFuzzer program in an instrumented build and everywhere
# else a program that replays files. Either replays test/fuzz/corpus/NAME as a test.
function(add_fuzz_targets)
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/test/fuzz/fuzz_*.c)
    get_property(layers GLOBAL PROPERTY PTYCELL_LAYERS)
    add_custom_target(fuzzers)
    foreach(source ${sources})
        get_filename_component(target ${source} NAME_WE)
        string(REGEX REPLACE "^fuzz_" "" name ${target})
        add_executable(${target} ${source})
        target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
        target_link_libraries(${target} PRIVATE ${layers})
        set_target_properties(${target} PROPERTIES
            RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
        add_dependencies(fuzzers ${target})
        link_counts(${target})
        set(replay $<TARGET_FILE:${target}>)
        if(PTYCELL_INSTRUMENT)
            target_link_options(${target} PRIVATE -fsanitize=fuzzer)
            list(APPEND replay -runs=0)
        else()
            target_sources(${target} PRIVATE ${CMAKE_SOURCE_DIR}/test/fuzz/replay.c)
        endif()
        ptycell_test(corpus.${name} corpus 600 ${replay} ${CMAKE_SOURCE_DIR}/test/fuzz/corpus/${name})
    endforeach()
endfunction()

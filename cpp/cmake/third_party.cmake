# hnswlib's headers and CRoaring, from their pinned, hashed source distributions.
# Nothing third-party is kept in the tree: they are fetched by pip into the build tree when configuring,
# or taken from RIPPLE_THIRD_PARTY_DIR, which holds both unpacked.

set(RIPPLE_HNSWLIB_VERSION 0.8.0)
set(RIPPLE_HNSWLIB_SHA256 cb6d037eedebb34a7134e7dc78966441dfd04c9cf5ee93911be911ced951c44c)
set(RIPPLE_PYROARING_VERSION 1.2.0)
set(RIPPLE_PYROARING_SHA256 e33bf8fc8d8aad7373f62147cb5dbfaf0fdcf19af8069d034cd8ef4fb41a78af)

if(RIPPLE_THIRD_PARTY_DIR)
  set(third_party_dir ${RIPPLE_THIRD_PARTY_DIR})
else()
  set(third_party_dir ${CMAKE_CURRENT_BINARY_DIR}/third_party)
  if(NOT EXISTS ${third_party_dir}/complete)
    find_package(Python 3.11 REQUIRED COMPONENTS Interpreter)
    file(MAKE_DIRECTORY ${third_party_dir})
    file(WRITE ${third_party_dir}/requirements.txt
      "hnswlib==${RIPPLE_HNSWLIB_VERSION} --hash=sha256:${RIPPLE_HNSWLIB_SHA256}\n"
      "pyroaring==${RIPPLE_PYROARING_VERSION} --hash=sha256:${RIPPLE_PYROARING_SHA256}\n")
    message(STATUS "Fetching the sources of hnswlib and CRoaring")
    execute_process(
      COMMAND ${Python_EXECUTABLE} -m pip download --quiet --disable-pip-version-check --no-deps
              --no-binary hnswlib,pyroaring --require-hashes -r requirements.txt -d .
      WORKING_DIRECTORY ${third_party_dir}
      RESULT_VARIABLE fetch_status
      ERROR_VARIABLE fetch_error)
    if(NOT fetch_status EQUAL 0)
      message(FATAL_ERROR "could not fetch the sources of hnswlib and CRoaring with pip; "
        "set RIPPLE_THIRD_PARTY_DIR to a folder that holds both unpacked.\n${fetch_error}")
    endif()
    file(ARCHIVE_EXTRACT INPUT ${third_party_dir}/hnswlib-${RIPPLE_HNSWLIB_VERSION}.tar.gz
      DESTINATION ${third_party_dir})
    file(ARCHIVE_EXTRACT INPUT ${third_party_dir}/pyroaring-${RIPPLE_PYROARING_VERSION}.tar.gz
      DESTINATION ${third_party_dir})
    file(TOUCH ${third_party_dir}/complete)
  endif()
endif()

# hnswlib chooses its instructions at compile time; its vectorisation is off, ours is chosen at run time.
add_library(ripple_hnswlib INTERFACE)
target_include_directories(ripple_hnswlib SYSTEM INTERFACE
  ${third_party_dir}/hnswlib-${RIPPLE_HNSWLIB_VERSION})
target_compile_definitions(ripple_hnswlib INTERFACE NO_MANUAL_VECTORIZATION)

set(croaring_dir ${third_party_dir}/pyroaring-${RIPPLE_PYROARING_VERSION}/pyroaring)
add_library(ripple_croaring STATIC ${croaring_dir}/roaring.c)
target_include_directories(ripple_croaring SYSTEM PUBLIC ${croaring_dir})
set_target_properties(ripple_croaring PROPERTIES C_VISIBILITY_PRESET hidden)

// Maps the errors of the core to the classes of ripple.errors.
#include <pybind11/pybind11.h>

#include "ripple/error.hpp"

namespace ripple::bindings {

namespace py = pybind11;

void register_errors(py::module_&) {
  // NOLINTNEXTLINE(performance-unnecessary-value-param): pybind11 takes translators of this signature
  py::register_local_exception_translator([](std::exception_ptr pointer) {
    const auto raise = [](const char* name, const char* what) {
      py::set_error(py::module_::import("ripple.errors").attr(name), what);
    };
    try {
      if (pointer) {
        std::rethrow_exception(pointer);
      }
    } catch (const DimensionMismatchError& error) {
      raise("DimensionMismatchError", error.what());
    } catch (const CorruptStoreError& error) {
      raise("CorruptStoreError", error.what());
    }
  });
}

}  // namespace ripple::bindings

// The module ripple._core: declares what each component registers and calls it.
#include <pybind11/pybind11.h>

namespace py = pybind11;

namespace ripple::bindings {
void register_errors(py::module_& module);
void register_text(py::module_& module);
void register_embedder(py::module_& module);
void register_indexes(py::module_& module);
void register_graph(py::module_& module);
void register_engine(py::module_& module);
}  // namespace ripple::bindings

PYBIND11_MODULE(_core, module) {
  module.doc() = "The native core of ripple. Private: use the package's public names.";
  ripple::bindings::register_errors(module);
  ripple::bindings::register_text(module);
  ripple::bindings::register_embedder(module);
  ripple::bindings::register_graph(module);  // before the indexes, which take its RowMask
  ripple::bindings::register_indexes(module);
  ripple::bindings::register_engine(module);
}

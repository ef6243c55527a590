#include <pybind11/pybind11.h>

namespace ripple::bindings {

namespace py = pybind11;

void register_graph(py::module_&) {}

}  // namespace ripple::bindings

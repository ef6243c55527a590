#include <pybind11/pybind11.h>
#include <pybind11/typing.h>

#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "arrays.hpp"
#include "ripple/static_embedder.hpp"

namespace ripple::bindings {

namespace {

// The UTF-8 of the strings, with what keeps it alive: the caller's list may change while the GIL is released.
struct Texts {
  std::vector<py::object> owners;
  std::vector<std::string_view> views;
};

[[nodiscard]] Texts unpack_texts(const py::typing::List<py::str>& list) {
  Texts texts;
  texts.owners.reserve(list.size());
  texts.views.reserve(list.size());
  for (const py::handle item : list) {
    if (!PyUnicode_Check(item.ptr())) {
      throw std::invalid_argument("texts holds a " +
                                  std::string(py::str(py::type::of(item).attr("__name__"))) +
                                  "; it must hold str only");
    }
    Py_ssize_t size = 0;
    py::object owner = py::reinterpret_borrow<py::object>(item);
    const char* data = PyUnicode_AsUTF8AndSize(owner.ptr(), &size);
    if (data == nullptr) {
      // A lone surrogate has no UTF-8.
      PyErr_Clear();
      owner = owner.attr("encode")("utf-8", "replace");
      data = PyBytes_AS_STRING(owner.ptr());
      size = PyBytes_GET_SIZE(owner.ptr());
    }
    texts.owners.push_back(std::move(owner));
    texts.views.emplace_back(data, static_cast<std::size_t>(size));
  }
  return texts;
}

[[nodiscard]] py::array_t<float> embed_texts(const StaticEmbedder& embedder,
                                             const py::typing::List<py::str>& list) {
  const Texts texts = unpack_texts(list);
  const std::size_t dimension = embedder.dimension();
  std::vector<float> vectors;
  {
    const py::gil_scoped_release release;
    vectors.assign(texts.views.size() * dimension, std::numeric_limits<float>::quiet_NaN());
    for (std::size_t i = 0; i < texts.views.size(); ++i) {
      static_cast<void>(embedder.embed(texts.views[i], std::span(vectors).subspan(i * dimension, dimension)));
    }
  }
  return to_array_2d(std::move(vectors), dimension);
}

}  // namespace

void register_embedder(py::module_& module) {
  py::class_<StaticEmbedder, std::shared_ptr<StaticEmbedder>>(
      module, "StaticEmbedder",
      "The embedder inside the package: one vector a word piece, summed to unit length.")
      .def(py::init([](const std::string& path) {
             return std::const_pointer_cast<StaticEmbedder>(StaticEmbedder::load(path));
           }),
           py::arg("path"), py::call_guard<py::gil_scoped_release>(),
           "Read a model file; CorruptStoreError when it is damaged.")
      .def("embed", &embed_texts, py::arg("texts"),
           "Return float32 (n, dimension), unit-length rows; NaN where a text holds no known piece. "
           "The GIL is released; may be called from several threads.")
      .def("word_vectors", &embed_texts, py::arg("words"), "The same for single words.")
      .def_property_readonly("dimension", &StaticEmbedder::dimension, "Length of a vector.")
      .def_property_readonly("name", &StaticEmbedder::name, "Name that stands in the file.");
}

}  // namespace ripple::bindings

// The arrays that cross the border, and how they are taken and handed out.
// Inputs are exact in dtype, C-contiguous and bound with .noconvert(); results are new NumPy memory.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ripple/types.hpp"

namespace ripple::bindings {

namespace py = pybind11;

template <class T>
using Array = py::array_t<T, py::array::c_style>;

// A borrowed view of a one-dimensional array; valid while the array lives.
template <class T>
[[nodiscard]] std::span<const T> view_1d(const Array<T>& array, const char* name) {
  if (array.ndim() != 1) {
    throw std::invalid_argument(std::string(name) + " has " + std::to_string(array.ndim()) +
                                " dimensions; it must have 1");
  }
  return {array.data(), static_cast<std::size_t>(array.shape(0))};
}

// A borrowed view of an (n, columns) array, row after row.
template <class T>
[[nodiscard]] std::span<const T> view_2d(const Array<T>& array, py::ssize_t columns, const char* name) {
  if (array.ndim() != 2 || array.shape(1) != columns) {
    throw std::invalid_argument(std::string(name) + " must have the shape (n, " + std::to_string(columns) +
                                ")");
  }
  return {array.data(), static_cast<std::size_t>(array.size())};
}

// Moves a vector's memory into a NumPy array without a copy.
template <class T>
[[nodiscard]] py::array_t<T> to_array(std::vector<T>&& values) {
  auto owner = std::make_unique<std::vector<T>>(std::move(values));
  const auto size = static_cast<py::ssize_t>(owner->size());
  T* data = owner->data();
  py::capsule base(owner.get(), [](void* p) { delete static_cast<std::vector<T>*>(p); });
  static_cast<void>(owner.release());
  return py::array_t<T>(size, data, base);
}

// As to_array, with the shape (values.size() / columns, columns).
template <class T>
[[nodiscard]] py::array_t<T> to_array_2d(std::vector<T>&& values, std::size_t columns) {
  const auto rows = static_cast<py::ssize_t>(columns == 0 ? 0 : values.size() / columns);
  return to_array(std::move(values)).reshape({rows, static_cast<py::ssize_t>(columns)});
}

[[nodiscard]] inline py::array_t<std::uint8_t> kinds_to_array(const std::vector<EdgeKind>& kinds) {
  std::vector<std::uint8_t> codes(kinds.size());
  std::transform(kinds.begin(), kinds.end(), codes.begin(),
                 [](EdgeKind kind) { return static_cast<std::uint8_t>(kind); });
  return to_array(std::move(codes));
}

using EdgeArrays = std::tuple<py::array, py::array, py::array, py::array>;

// (src, dst, kind, weight) arrays.
[[nodiscard]] inline EdgeArrays edges_to_arrays(const std::vector<Edge>& edges) {
  std::vector<Row> src;
  std::vector<Row> dst;
  std::vector<std::uint8_t> kinds;
  std::vector<float> weights;
  for (const Edge& edge : edges) {
    src.push_back(edge.src);
    dst.push_back(edge.dst);
    kinds.push_back(static_cast<std::uint8_t>(edge.kind));
    weights.push_back(edge.weight);
  }
  return {to_array(std::move(src)), to_array(std::move(dst)), to_array(std::move(kinds)),
          to_array(std::move(weights))};
}

}  // namespace ripple::bindings

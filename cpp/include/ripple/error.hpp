// Errors that the core throws besides std::invalid_argument (ValueError) and std::out_of_range (IndexError).
// The binding maps each to the Python class of the same name in ripple.errors.
#pragma once

#include <stdexcept>

namespace ripple {

// A vector's length differs from the index's.
class DimensionMismatchError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

// Bytes that were read do not form what they claim to be.
class CorruptStoreError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace ripple

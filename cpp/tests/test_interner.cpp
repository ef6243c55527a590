#include <doctest/doctest.h>

#include <string>

#include "ripple/interner.hpp"

using ripple::Interner;
using ripple::kNoId;

TEST_CASE("Interner gives one id a string and finds it again") {
  Interner names;
  const auto ada = names.intern("ada", "Ada");
  CHECK(names.intern("ada", "ADA") == ada);
  CHECK(names.find("ada") == ada);
  CHECK(names.find("bob") == kNoId);
  CHECK(names.name(ada) == "ada");
  CHECK(names.display(ada) == "Ada");
  CHECK(names.size() == 1);
}

TEST_CASE("An erased string is gone and its id is given out again") {
  Interner names;
  const auto ada = names.intern("ada", "Ada");
  const auto bob = names.intern("bob");
  names.erase(ada);
  names.erase(ada);
  CHECK(names.find("ada") == kNoId);
  CHECK(names.name(ada).empty());
  CHECK(names.display(ada).empty());
  CHECK(names.size() == 1);
  CHECK(names.intern("eve") == ada);
  CHECK(names.display(ada) == "eve");
  CHECK(names.name(bob) == "bob");
  CHECK(names.id_limit() == 2);
}

TEST_CASE("Views stay valid while strings are added") {
  Interner names;
  const auto first = names.intern("a");
  const std::string_view view = names.name(first);
  for (int i = 0; i < 5'000; ++i) {
    names.intern("key " + std::to_string(i));
  }
  CHECK(view == "a");
  CHECK(names.find("key 4999") == names.id_limit() - 1);
  CHECK(names.name(names.find("key 0")) == "key 0");
}

TEST_CASE("The form as written can be forgotten and set again") {
  Interner terms;
  const auto swim = terms.intern("swim", "swimming");
  terms.clear_display(swim);
  CHECK(terms.display(swim) == "swim");
  terms.intern("swim", "swims");
  CHECK(terms.display(swim) == "swims");
  CHECK(terms.display(99).empty());
}

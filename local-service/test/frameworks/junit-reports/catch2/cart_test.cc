#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif

#include <stdexcept>

TEST_CASE("adds") { REQUIRE(1 == 1); }

TEST_CASE("fails") {
  CHECK(1 == 2);
  CHECK(1 == 3);
}

TEST_CASE("may fail", "[!mayfail]") { REQUIRE(1 == 2); }

TEST_CASE("throws") { throw std::runtime_error("no database"); }

TEST_CASE("has sections") {
  SECTION("one") { REQUIRE(true); }
  SECTION("two") { REQUIRE(false); }
}

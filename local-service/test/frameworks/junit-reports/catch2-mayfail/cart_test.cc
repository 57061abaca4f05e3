#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

TEST_CASE("adds") { REQUIRE(1 == 1); }

TEST_CASE("may fail", "[!mayfail]") { REQUIRE(1 == 2); }

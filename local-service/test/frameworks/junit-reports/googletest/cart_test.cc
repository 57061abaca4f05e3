#include <gtest/gtest.h>

#include <stdexcept>

TEST(Cart, Adds) {}

TEST(Cart, Fails) {
  EXPECT_EQ(1, 2) << "the total";
  EXPECT_EQ(1, 3);
}

TEST(Cart, IsSkipped) { GTEST_SKIP() << "later"; }

TEST(Cart, DISABLED_IsDisabled) {}

TEST(Cart, Throws) { throw std::runtime_error("no database"); }

class CartOf : public testing::TestWithParam<int> {};

TEST_P(CartOf, IsPositive) { EXPECT_GT(GetParam(), 0); }

INSTANTIATE_TEST_SUITE_P(Numbers, CartOf, testing::Values(0, 1));

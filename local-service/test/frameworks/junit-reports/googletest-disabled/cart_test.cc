#include <gtest/gtest.h>

TEST(Cart, DISABLED_IsDisabled) {}

TEST(Cart, IsSkipped) { GTEST_SKIP() << "later"; }

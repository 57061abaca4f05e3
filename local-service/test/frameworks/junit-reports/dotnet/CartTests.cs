using System;
using Xunit;

namespace Shop;

public class CartTests
{
    [Fact]
    public void Adds() { }

    [Fact]
    public void Fails()
    {
        Assert.Equal(1, 2);
    }

    [Fact(Skip = "later")]
    public void IsSkipped() { }

    [Fact]
    public void Throws()
    {
        throw new InvalidOperationException("no database");
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void IsOne(int number)
    {
        Assert.Equal(1, number);
    }
}

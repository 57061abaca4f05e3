from cart import price


def test_has_a_price():
    assert price(0) == 2

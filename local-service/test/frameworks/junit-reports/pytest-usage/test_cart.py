def test_adds():
    pass

def test_syntax(:
    pass

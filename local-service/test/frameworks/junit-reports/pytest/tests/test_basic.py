import pytest


def test_x():
    pass


class TestCart:
    def test_adds(self):
        pass

    def test_fails(self):
        total = add(1)
        assert total == 2

    @pytest.mark.skip(reason="later")
    def test_skipped(self):
        pass

    @pytest.mark.xfail
    def test_to_fix(self):
        assert False


def add(one):
    if one == 7:
        raise ValueError("seven")
    return one


def test_deep():
    add(7)


@pytest.fixture
def database():
    raise RuntimeError("no database")


def test_never_runs(database):
    pass


@pytest.fixture
def room():
    yield
    raise RuntimeError("no room")


def test_is_fine(room):
    pass


@pytest.mark.parametrize("name", ["a::b", "with spaces", "\x1b[31m"])
def test_names(name):
    pass

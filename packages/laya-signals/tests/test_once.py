"""A value that is made when it is first wanted."""

import threading

import pytest
from laya_signals.once import Once


def test_it_is_made_once_however_many_threads_want_it():
    started = threading.Barrier(4)
    made = []
    value = Once(lambda: made.append(threading.get_ident()) or object())
    found = []

    def want():
        started.wait()
        found.append(value())

    threads = [threading.Thread(target=want) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert len(set(found)) == 1


def test_nothing_is_made_before_and_none_is_a_value():
    made = []
    value = Once(lambda: made.append(1))
    assert made == []
    assert value() is None
    assert value() is None
    assert made == [1]


def test_what_failed_is_tried_again():
    tries = iter([ZeroDivisionError, None])

    def make():
        if (error := next(tries)) is not None:
            raise error
        return "made"

    value = Once(make)
    with pytest.raises(ZeroDivisionError):
        value()
    assert value() == "made"

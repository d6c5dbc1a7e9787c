"""What a lecture expects to be refused: the error it names, and no other."""

import pytest

from lecture.lib.refused import refused


def test_the_message_is_kept_and_the_program_goes_on():
    with refused(ZeroDivisionError) as error:
        divmod(1, 0)
    assert error.message == "integer division or modulo by zero"


def test_where_nothing_is_refused_there_is_no_message():
    with refused(ZeroDivisionError) as error:
        divmod(1, 1)
    assert error.message == ""


def test_another_error_is_not_expected():
    with pytest.raises(ZeroDivisionError), refused(ValueError):
        divmod(1, 0)

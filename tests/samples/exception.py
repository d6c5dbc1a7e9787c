"""An exception that is caught, and one that is not."""


def main():
    """Both kinds."""
    try:
        divide(1, 0)
    except ZeroDivisionError as error:  # @inspect error
        print("caught:", error)
    divide(2, 0)


def divide(a, b):
    return a / b

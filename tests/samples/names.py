"""What names stand for is read after each statement."""


class Stack:
    def __init__(self):
        self.items = []

    def push(self, item):
        self.items.append(item)
        return self


def main():
    """One list has several names."""
    a = [1, 2]
    b = a
    b.append("three")
    stack = Stack().push(a)
    for number, a in enumerate(a):
        del b
        break
    return stack

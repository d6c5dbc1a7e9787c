import edtrace
from edtrace import text as say


def main():
    say("# Review of the week")
    say("Questions that came up.")
    first_question()
    second_question()
    edtrace.text("Thank you!")


def first_question():
    say("## Is it exact?")
    say("No: floating point rounds.")
    a = 0.1 + 0.2  # @inspect a
    b = a == 0.3  # @inspect b
    say("See the picture:")
    edtrace.image("stairs.svg", width=120)
    # TODO: a better example
    say("Addition is *not* associative.")
    left = (1e16 + 1.0) - 1e16  # @inspect left
    right = 1e16 - 1e16 + 1.0  # @inspect right
    say("The order matters.")


def second_question():
    say("## Does it matter?")
    say("- For sums of millions of terms, yes.")
    say("- For a loss, hardly.")
    edtrace.link("https://example.org/goldberg", title="what everybody should know")
    total = 0.0
    for i in range(3):
        total += 0.1  # @inspect total
    say("Rule: accumulate in higher precision.")
    if total != 0.3: say("As seen.")
    say("Two spaces end  \na line.")
    say("A rule of thumb: 7 digits in fp32, 3 in bf16.")

"""Run a lecture, record it, write one JSON document.

source --directives, source--> statements, prose, tokens
source --instrument--> code that reports to the recorder --loader--> imported modules
main() --recorder, values, costs--> a recording --document--> JSON, as `schema` describes it
"""

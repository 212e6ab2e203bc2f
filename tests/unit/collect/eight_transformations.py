"""The eight transformations as made tables name them: label and axis, in their order."""

EIGHT = {
    "paraphrasing": ("Paraphrasing", "lexical_stylistic"),
    "backtranslation": ("Backtranslation", "lexical_stylistic"),
    "style_change": ("Style Change", "lexical_stylistic"),
    "expansion": ("Expansion", "length"),
    "summarisation": ("Summarisation", "length"),
    "summarised_expansion": ("Summarised Expansion", "length"),
    "translation": ("Translation", "language"),
    "cross_translation": ("Cross-Translation", "language"),
}
AXES = tuple(dict.fromkeys(axis for _, axis in EIGHT.values()))

"""Messages of the section parser (96x)."""


class SectionErrors:
    CRF961 = "The arrays of a document's units differ in length: {sizes}. Give one row for each unit."
    CRF962 = (
        "Label scores have the shape {shape}, which does not hold the labels {roles}. Give one column for each label: "
        "numbering, title, and at least one for text."
    )
    CRF963 = "Unit {unit} has no label with a finite score. Give each unit at least one label that is possible."
    CRF964 = "The gold tree of document {name!r} cannot be made by the parser: {problem}."

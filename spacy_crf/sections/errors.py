"""Messages of `section_parser`."""

from ..core.errors import Messages


class SectionErrors(metaclass=Messages):
    """Messages of exceptions."""

    CRF561 = "{what} is read by {library}, which is not installed: pip install 'spacy_crf[{extra}]'."
    CRF562 = "{path}: this {what} cannot be read ({reason}). Is it damaged or cut off? Get it again, or save it anew."
    CRF563 = "{path}: this document needs a password. Save it without one first."
    CRF564 = "{path}: this PDF has no text, as a scan has none. Let a program for OCR add it first, such as ocrmypdf."
    CRF565 = "{path}: this document has more than {most}. Split it."
    CRF482 = (
        "{path}: its macros, arguments and files within each other make more than {most:,} characters of it. Is a "
        "macro defined by itself, or does a file include itself? Mend it, or give the text that they make."
    )
    CRF951 = (
        "Document {name!r}: {run!r} in `doc.user_data[{key!r}]` is no stretch of text. Give a list of [start, end, "
        "style], with characters counted from 0."
    )
    CRF952 = "This is not a section tree: {error}. Take one that `SectionTree.to_json` has written."
    CRF953 = (
        "{path}, line {line}: {problem}. In annotated XML, all text is in <nr>, <title> or <text>, none of them in "
        "another one; around them are <section> and <document>; formatting is <b>, <i>, <u>, <h>, <h1> to <h9>, "
        "<large1> to <large6>, and <unit>."
    )
    CRF954 = (
        "{path}, line {line}: this is {what}, not text. Give it the suffix of its format (.pdf, .docx), or convert it "
        "to plain text, Markdown, HTML or DoclingDocument JSON."
    )
    CRF955 = "{path}, line {line}: there are {most} blocks within each other or more. Is this the file that you mean?"
    CRF956 = "HTML is read by lxml, which is not installed: pip install 'spacy_crf[html]'."
    CRF957 = "{path}, line {line}: not a DoclingDocument ({problem}). Export it again as JSON."
    CRF958 = "{path} holds {found} documents, where one is read. Write each to a file of its own."
    CRF959 = (
        "Component {name!r}: document {document!r} has {found} units, more than the {most} that a grammar parses: its "
        'time is cubic in them. Set `parser = "stack"`, which takes documents of any length, or split the document.'
    )
    CRF960 = (
        "Component {name!r}: the grammar {grammar!r} cannot parse sections: {problem}. Call the symbol of sections "
        "Section, and its terminals as the labels of elements."
    )
    CRF965 = (
        "Template {template!r} asks for {attribute!r}, which is not known of layout elements. Near: {near}. Of tokens "
        "only BIAS, BOS and EOS are."
    )
    CRF967 = "Word list {path!r} of the section parser, line {line}: not 'phrase<TAB>class': {text!r}."
    CRF968 = "There are no word lists for the language {language!r}. Built in: {known}; add your own with `lists`."
    CRF969 = (
        "Component {name!r}: the setting roles is {value!r}. Give a label of its own to any of these: {roles}; no "
        "label may have two roles."
    )
    CRF970 = (
        "{path}: {problem}. The reader of documents with sections takes annotated XML, XML of Rechtspraak.nl, .spacy "
        "files and JSON."
    )
    CRF980 = (
        "Document {document!r}: the gold sections at {first!r} and {other!r} cross, so that neither lies in the other. "
        "Correct where they end."
    )


class SectionWarnings(metaclass=Messages):
    """Messages of warnings."""

    CRFW482 = (
        "{path}: the file {name!r} that it includes is not in its folder or below, so it is left out. Put it there."
    )
    CRFW965 = (
        "The tree of document {document!r} is not learned from, as no parse can have it: {problem} Correct its gold "
        "sections: each begins with a number or a title that is labelled so."
    )
    CRFW968 = (
        "Component {name!r}: its training data have the label {label!r}, which counts as text for the tree, as the "
        "setting roles has {own!r} in its place. Correct that setting, or the labels of the data."
    )
    CRFW990 = (
        "Component {name!r}: {count} of {all} gold numbers, such as {text!r} in document {document!r}, are no "
        "numberings by their form, and are never labelled {label!r}. Set candidates_only = false, or correct the "
        "labels."
    )
    CRFW991 = (
        "Component {name!r}: {count} gold elements, such as {text!r} in document {document!r}, have the label of blank "
        "lines, {label!r}, and are none: they are never labelled so. Give them another label."
    )
    CRFW966 = "Document {document!r} gets no sections: {problem}"
    CRFW967 = (
        "Document {document!r} has {most} sections or more: its tree is left out of sections_steds, whose time is "
        "quadratic in them."
    )
    CRFW969 = "{problem} The corpus goes on without this file."
    CRFW970 = (
        "Document {document!r} has formatting that the section parser does not see: it is in the gold Doc alone, and "
        "results are those of texts without formatting ({count} of {all} documents). Read the corpus with "
        "spacy_crf.SectionCorpus.v1, and score with `python -m spacy crf evaluate`."
    )

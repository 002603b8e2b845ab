"""Messages of layout elements, the files they are read from and section trees (95x)."""


class UnitErrors:
    CRF951 = (
        "Document {name!r}: {run!r} in `doc.user_data[{key!r}]` is no stretch of text. Give a list of [start, end, "
        "style], with characters counted from 0."
    )
    CRF952 = "This is not a section tree: {error}. Take one that `SectionTree.to_json` has written."
    CRF953 = (
        "{path}, line {line}: {problem}. In annotated XML, all text is in <nr>, <title> or <text>, none of them in "
        "another one; around them are <section> and <document>; formatting is <b>, <i>, <u>, <h1> to <h6> and <unit>."
    )
    CRF954 = (
        "{path}, line {line}: this is {what}, not text. Convert it to plain text, Markdown, HTML or DoclingDocument "
        "JSON first."
    )
    CRF955 = "{path}, line {line}: there are {most} blocks within each other or more. Is this the file that you mean?"
    CRF956 = "HTML is read by lxml, which is not installed: pip install 'spacy_crf[html]'."
    CRF957 = "{path}, line {line}: not a DoclingDocument ({problem}). Export it again as JSON."
    CRF958 = "Trees of nltk need nltk, which is not installed: pip install nltk. Brackets as text need nothing."

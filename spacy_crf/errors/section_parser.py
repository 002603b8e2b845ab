"""Messages of the section parser as a component (965-970)."""


class SectionParserErrors:
    CRF965 = (
        "Template {template!r} asks for {attribute!r}, which is not known of layout elements. Near: {near}. Of tokens "
        "only BIAS, BOS and EOS are."
    )
    CRF966 = (
        "Template {template!r} asks for layout elements, but this component's units are tokens. Use the features "
        "spacy_crf.UnitFeatures.v1 with a component over elements, such as section_parser."
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

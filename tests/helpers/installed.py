"""Run all packages of pipelines that are installed, in an environment without the sources."""

import spacy

import spacy_crf

TEXT = "Edith Crane. The Kitchen Sonnet. Tollgate Press 2003."


def main() -> None:
    """Load each pipeline by name and show what it says of a text; end with an error where one says nothing."""
    assert "site-packages" in spacy_crf.__file__, spacy_crf.__file__
    for name in spacy.util.get_installed_models():
        nlp = spacy.load(name)
        doc = nlp(TEXT)
        tags = [token.tag_ for token in doc if token.tag_]
        entities = [(ent.text, ent.label_) for ent in doc.ents]
        told = {"tags": tags, "entities": entities, "spans": {key: len(spans) for key, spans in doc.spans.items()}}
        print(f"{name} {nlp.meta['version']}: {nlp.meta['description']}")
        for kind, found in told.items():
            if found:
                print(f"  {kind}: {found}")
        for extension, value in doc.user_data.items():
            print(f"  {extension[1]}: {str(value)[:100]}")
        assert any(told.values()) or doc.user_data, name


if __name__ == "__main__":
    main()

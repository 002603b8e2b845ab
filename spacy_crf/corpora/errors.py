"""Messages of readers."""

from ..core.errors import Messages


class CorpusErrors(metaclass=Messages):
    """Messages of exceptions."""

    CRF501 = (
        "The setting 'path' of the corpus is null. Give a file or a folder, e.g. with --paths.train and "
        "--paths.dev on the command line."
    )
    CRF502 = "No such file or folder: '{path}'. Correct the setting 'path' (often paths.train or paths.dev)."
    CRF503 = (
        "Nothing to read in the folder '{path}'. Its files need one of these suffixes, each optionally "
        "followed by .gz: {suffixes}."
    )
    CRF506 = (
        "{path}, line {line}: nothing says what the {width} columns are (format '{format}' is {known}). Name them with "
        "the setting 'columns', e.g. [\"word\", \"tag\", \"chunk\"], or set 'format' to 'conll2000' (word, tag, "
        "chunk), 'conll2002' (word, tag, ner) or 'conll2003' (word, tag, chunk, ner)."
    )
    CRF507 = (
        "{path}, line {line}: found {found} columns instead of {expected}. Correct the line; for column "
        "files also see the settings 'columns' ('word' for words alone) and 'separator'."
    )
    CRF508 = "Unknown name '{name}' in the setting '{setting}'. Use: {known}."
    CRF509 = (
        "The setting 'columns' ({columns}) must name 'word' once and no other name twice. Call columns "
        "that are to be skipped '_'."
    )
    CRF510 = (
        "The setting '{setting}' ({value}) does not go with the format '{format}'. Leave one of the two out; "
        "a separator has at least one character."
    )
    CRF511 = "{path}, line {line}: the word is empty. Fill it in or delete the line."
    CRF512 = (
        "{path}, line {line}: '{value}' in the column '{column}' is not an IOB or BILUO tag such as B-PER,"
        " I-PER, O. If these are labels of single tokens, call the column 'tag' in the setting 'columns'."
    )
    CRF513 = (
        "{path}, line {line}: '{value}' is not a universal part of speech such as NOUN. If these are tags "
        "of another kind, call the column 'tag' in the setting 'columns'."
    )
    CRF514 = (
        "{path}, line {line}: '{value}' are not morphological features. Write them as "
        "Name=Value|Name=Value, or '_' for none."
    )
    CRF515 = (
        "{path}, line {line}: malformed or misplaced id '{id}', expected {expected}. Words are numbered "
        "from 1 in each sentence, and a blank line ends a sentence."
    )
    CRF516 = "{path}, line {line}: malformed head '{head}'. Give a number from 0 to {last}, or '_' if it is unknown."
    CRF517 = (
        "{path}: not a readable .spacy file ({reason}). It is damaged, cut off or in another format; write"
        " it again or set 'format'."
    )
    CRF518 = (
        "The setting 'group' is {group!r}. Use 'auto', 'document', 'sentence' or a number of sentences of at least 1."
    )
    CRF519 = "{path}: the setting 'input' names '{kind}', but the file only has: {has}."
    CRF520 = (
        "'{path}' holds no tokens. Correct the setting 'path', fill the file, or, where warnings before this name what "
        "was left out, correct that."
    )
    CRF521 = (
        "{path}, document {number}: cannot be split by group = {group!r}, as it has no sentence starts. "
        "Set 'group' to 'document', or store documents with sentence starts."
    )
    CRF523 = "Unknown format '{format}'. Use one of: {known}; or null to have it picked for each file."
    CRF524 = (
        "{path}, line {line}: the gold tag '{value}' cannot be read behind '{before}'. Write O, B-LABEL for the first "
        "token of a span, I-LABEL for the others, or nothing where the tag is unknown."
    )
    CRF525 = (
        "{path}, line {line}: not a sequence as `python -m spacy crf review` writes it ({reason}). Correct the line, "
        "or write the file again."
    )
    CRF526 = (
        "{path}, line {line}: nothing before says what was reviewed (a line '# target = ...'), or it is not what the "
        "sequences before were reviewed for. Keep the first lines of the file, and different reviews apart."
    )
    CRF527 = "{path}: no token has a gold tag. Fill in the field 'gold' where the tag is known."
    CRF530 = (
        "{where}: {cell!r} is not a set of tags, as {fault}. Write A, or A|B where the choice is open, or a weight "
        "behind each tag: A:1|B:1 where all are correct, A:0.66|B:0.33 with a sum of at most 1 where one is likelier."
    )
    CRF531 = (
        "The tag {tag!r} cannot be written. Tags are not empty, have no white space at the ends, and no '|', tab "
        "or line end anywhere: rename it."
    )
    CRF535 = "{path}, line {line}: the element <{element}> has no attribute 'utf' with the word. Fill it in."
    CRF536 = (
        "{path}: no token has an element <{element}> to take the tag from. Name another one in the setting 'tag'; the "
        "file has: {known}."
    )
    CRF537 = "{path}: there are no tokens (<anno>, <tok_anno> or <mod>). Is this a CorA-XML file?"
    CRF538 = (
        "{path}, line 1: this is not a WebAnno TSV file of version 3. Export it from INCEpTION as 'WebAnno TSV v3.3'."
    )
    CRF539 = "{path}: there is no span layer {layer!r} with a feature {feature!r}. The file has: {known}."
    CRF540 = (
        "{path}, line {line}: {problem}. Correct the line, or export the file again: a sentence is a line '#Text=' and "
        "one row for each token, with its number, its offsets, the word and the columns of all layers."
    )
    CRF541 = (
        "The token {text!r} at character {start} of document {document!r} has a tab or a line end, which a table "
        "cannot hold. Split the token there."
    )
    CRF542 = (
        "{path}: the tags in the column '{column}' can be read in more than one way; {value!r} is {readings}. Rename "
        "the labels that begin or end like a tag, or write all tags in one form, such as B-PER."
    )
    CRF543 = (
        "The augmenter of the corpus has made {after} tokens of the {before} of document {name!r}, whose tokens have "
        "gold in custom attributes ({attributes}). Use an augmenter that leaves tokens as they are, or none."
    )
    CRF544 = (
        "'{path}' has files of several formats ({formats}), and the pipeline was trained with the block '{setting}' of "
        "the corpus, which goes with one of them. Give the files of each format in a folder of their own, or name one "
        "with --format."
    )
    CRF552 = (
        "The block '{setting}' of the corpus goes with the format {known}, not with {format!r}. Set `format`, or take "
        "the block out."
    )
    CRF567 = (
        "{where}: {value!r} is no check mark. Write one of {seen} for a token that you have checked, and nothing, '_' "
        "or 'no' for others."
    )
    CRF568 = (
        "{path}: its first lines could be of several formats: {formats}. Name one with the setting 'format', or write "
        "'# columns = form, tags, checked' into the first line of a table of tags."
    )
    CRF492 = (
        "{path}: cells of the table are merged, {cells}, so that only the first of each has a value. Take them apart, "
        "and fill in each one."
    )
    CRF463 = (
        "{path}, row {line}: the {title} {place} stands behind {before}, so that rows were sorted, and words and "
        "sentences are not in the order of the text. Sort all rows by the column '{title}', and write the file again."
    )
    CRF287 = (
        "{path}: {found}, and only one is read, so that what is checked in the others would be lost. Leave one, or "
        "call the others otherwise in the first row."
    )
    CRF569 = "{path}: not a readable {kind} ({reason}). Export it again, or correct it with the tool that wrote it."
    CRF576 = "{kind} need the package {package}: pip install 'spacy_crf[{extra}]'."
    CRF577 = "{path}{place}: {problem}. Export it again with all of its fields, or leave it out."
    CRF578 = (
        "{path}: the word {word!r} of the documents is not in its place in the file. Only the file that documents were "
        "read from can be written again with their tags: choose another layout, or read it without changing its words."
    )
    CRF493 = (
        "The file {path} would be written over, and has what a person has tagged or checked, or is no list of words to "
        "check. Give --output another name, or move the file away."
    )
    CRF495 = (
        "{output} is in the folder {path}, which is read with all that is in it: what was written before would be read "
        "as well. Write to another folder, or move it away."
    )
    CRF579 = "The file {path} would be written over, which is read. Give another name to what is written."
    CRF587 = (
        "{path}: the first row has the titles {titles}, and none is '{title}', so that nothing says which tags a "
        "person has checked. Call the column of check marks so, or leave form and tags alone there if all is gold."
    )
    CRF589 = (
        "{path}, line {line}: columns are named here ({titles}), which this format does not know: their order is that "
        "of the setting 'columns', or of CoNLL-U. Delete the line, and put the columns in order if they are not."
    )
    CRF593 = (
        "{path}: its check marks are of {kind}, and would be lost, as a file has check marks of one column alone, here "
        "of {target}. Choose another format with --to, or write {target} to a copy without the notes Checked."
    )
    CRF594 = (
        "{path}: the spreadsheet program has made {made} of the cell {cell}, {value}, so that what was typed is lost. "
        "Make the cell text, and write it again."
    )
    CRF489 = (
        "{where}: the words, {words!r}, do not make up the text, {text!r}. Give one of both, or correct them; spaces "
        "between words may be left out, as the text has them."
    )
    CRF490 = (
        "Document {document!r}: the {what} of {word!r} is {value!r}, which is nothing in CoNLL-U. Call it otherwise, "
        "or write another format."
    )
    CRF491 = "{path} is a .spacy file, but `format` is {format!r}. Set it to 'spacy', or take it out of the config."
    CRF683 = (
        '{where}: a line of JSON has to have "text", a string, or "words", a list of strings, perhaps with "spaces", '
        'as many true or false, and perhaps "name", a string or a number.'
    )
    CRF682 = (
        "Document {document!r}: its {what} {value!r} has a sign that would end it, its cell or its line in CoNLL-U. "
        "Change it, or write another format."
    )
    CRF760 = (
        "{path}: it has spans of several controls, {names}, of which none is called {name!r}: which of them are tags "
        "is not known. Call the control of tags so in the labelling interface, or leave the others out."
    )
    CRF697 = "{path} is in the folder for the output, {output}, so that it would be written over. Give another one."
    CRF698 = "{path}: the format {format} is one of files, not of folders. Name the files."
    CRF845 = (
        "{path}, line {line}: there is more than one word, which the format words does not have. Correct the line; or "
        "give the format text for a text on each line, or prose for running text."
    )


class CorpusWarnings(metaclass=Messages):
    """Messages of warnings."""

    CRFW561 = "{count} of {files} files could not be read and were left out whole, as `on_error` is 'skip': {faults}"
    CRFW566 = (
        '{path}: {count} of {words} words are marked as not checked (checked="n"), so that what they have is no gold. '
        "If it is right, set with_unchecked = true in the block 'cora' of the corpus."
    )
    CRFW473 = (
        "Not read in {path}, beside files of the format that is named, or of one that tells more: {files}. Name these "
        "files, give them in a folder of their own, or turn all into one format (python -m spacy crf convert)."
    )
    CRFW499 = (
        "{path}: {tag!r} in the column 'gold' is one tag, as the list is of single tags ('# target = tag'), and the "
        "tagger has none with '|'; so for {count} rows in all. If several tags are meant, leave these rows empty, or "
        "check them in a file of `python -m spacy crf annotate`."
    )
    CRFW588 = (
        "{path}: words are not those of the text beside them any more, first in line {line}, in {count} sequences in "
        "all. If you did not correct them, a program has, as spreadsheet programs do with numbers and dates: have it "
        "take all columns for text."
    )
    CRFW486 = (
        "CoNLL-U has no place for custom attributes, so that these are left out: {names}. Take jsonl, spacy or parquet "
        "for files that hold them."
    )
    CRFW288 = (
        "{path}: files that say what a person has checked have no mark at all, so that nothing is learned from these. "
        "Mark what is right as checked, or set unchecked = 'soft' in the corpus block."
    )
    CRFW496 = (
        "Document {document!r}: {count} of {words} checked words are other tokens in this pipeline, so that what was "
        "checked of them is not written again. Keep the file that was read."
    )
    CRFW497 = (
        "{word!r} is tagged {tag}, but counts as punctuation by its form: its gold is left out, or a segment ends "
        "there. Name the gold tags of punctuation in the setting 'punctuation_tags' of the block 'text'."
    )
    CRFW289 = (
        "Component {name!r} finds what is input already ('{target}'), and leaves it: scores of its labels are perfect, "
        "whatever it has learned. Take it out of the setting 'input' (--input), or set overwrite = true for the "
        "component."
    )
    CRFW290 = (
        "Of {count} files of CoNLL-U without any entity, beside others that have some, it is not known whether there "
        "are none: nothing is learned of entities there, and none that is found counts as wrong ({files}). If there "
        "are none, write name=O into MISC of a word of each, or join the files."
    )
    CRFW498 = (
        "Component {name!r} finds sentences, but documents have those of the file already, which stay: its scores, "
        "such as sents_f, are perfect, and those of other components are for the sentences of the file. Set "
        "overwrite = true for it, as far as it has that setting, or retokenize = true for the corpus."
    )
    CRFW560 = (
        "{path}, line {line}: the tags of the reference cannot be read: {fault}. It is left out. Correct the line, or "
        "name its fields in the setting 'fields' of the block 'references'."
    )
    CRFW846 = "There is no file or folder {text!r}, so it is tagged as a text. Correct the path, or say so with --text."

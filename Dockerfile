# docker build -t spacy_crf .
# docker run --rm -p 127.0.0.1:8070:8070 -v "$PWD/output/crf_tagger/model-best:/models/tagger:ro" spacy_crf /models/tagger
FROM python:3.11-slim
COPY . /src
RUN pip install --no-cache-dir "/src[serve]" && rm -r /src && useradd --create-home crf
USER crf
EXPOSE 8070
ENTRYPOINT ["python", "-m", "spacy", "crf", "serve", "--host", "0.0.0.0"]

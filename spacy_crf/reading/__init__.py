"""One way to read what comes from outside: files, text, numbers, JSON, TOML and XML, all within limits.

What is malformed or beyond a limit is a `CRFError` that says where. The limits are far above those of real corpora:

- gzip may unpack to 200 times its size, and to 64 MiB in any case; real text packs to a third or a twentieth;
- what is taken in whole, not line by line, may have 2 GiB, and one line 64 MiB;
- JSON and TOML may be nested 200 deep, XML 10,000; keys of TOML have 32 parts, and whole numbers 18 digits.
"""

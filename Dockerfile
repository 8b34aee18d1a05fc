# A translation server as LibreTranslate is: docker build -t dragoman . (docs/guide/deploy.md)
FROM python:3.13-slim AS build
# hadolint ignore=DL3008
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev
COPY . /source
WORKDIR /source
ENV DRAGOMAN_REQUIRE_LIBRARIES=1
RUN python -m venv --without-pip /opt/dragoman \
    && pip --no-cache-dir --python /opt/dragoman/bin/python install -c constraints.txt ".[serve,documents,memory]" \
    && find /opt/dragoman -name tests -type d -prune -exec rm -r {} + # those of NumPy and others

FROM python:3.13-slim
COPY --from=build /opt/dragoman /opt/dragoman
# Only `get` writes here; a server writes temporary files alone.
RUN mkdir /models && chown 65532:65532 /models
USER 65532:65532
ENV PATH=/opt/dragoman/bin:$PATH DRAGOMAN_MODELS=/models DRAGOMAN_SERVE_MODELS=everyday DRAGOMAN_SERVE_HOST=0.0.0.0
EXPOSE 5000
HEALTHCHECK --start-period=60s CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:5000/health', timeout=10)"]
ENTRYPOINT ["dragoman"]
CMD ["serve"]

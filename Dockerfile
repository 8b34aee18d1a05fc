# A translation server: docker build -t dragoman . && docker run -p 127.0.0.1:5000:5000 dragoman
FROM python:3.12-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev
COPY . /source
WORKDIR /source
RUN python -m venv /opt/dragoman && /opt/dragoman/bin/pip install --no-cache-dir -c constraints.txt ".[serve,documents,memory]"

FROM python:3.12-slim
COPY --from=build /opt/dragoman /opt/dragoman
RUN useradd --system dragoman
USER dragoman
ENV DRAGOMAN_SERVE_HOST=0.0.0.0 DRAGOMAN_SERVE_MODELS=everyday PATH=/opt/dragoman/bin:$PATH
EXPOSE 5000
CMD ["dragoman", "serve"]

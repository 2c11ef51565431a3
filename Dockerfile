# docker build -t hinter . && docker run --rm -v "$PWD/runs:/audit/runs" hinter
# hinter on a CPU: without arguments, the demonstration with the embedded model. Any command of hinter can follow.
FROM python:3.13-slim AS build
COPY . /source
RUN python -m venv /opt/hinter && /opt/hinter/bin/pip install --no-cache-dir /source

FROM python:3.13-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends libgomp1 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 hinter \
    && mkdir /audit && chown hinter /audit
COPY --from=build /opt/hinter /opt/hinter
ENV PATH=/opt/hinter/bin:$PATH
USER hinter
WORKDIR /audit
ENTRYPOINT ["hinter"]
CMD ["run"]

# One controller, configured as the official Kafka image is: KAFKA_X_Y in the environment is the key x.y. See docs/install.md.
ARG PYTHON=3.13-slim-bookworm

FROM python:${PYTHON} AS build
WORKDIR /src
COPY requirements/build.txt requirements/grpc.txt requirements/
RUN python3 -m venv /tmp/tools \
    && /tmp/tools/bin/pip install --no-cache-dir --disable-pip-version-check --only-binary :all: --require-hashes \
        -r requirements/build.txt \
    && python3 -m venv --without-pip /opt/kraft \
    && /tmp/tools/bin/pip --python /opt/kraft/bin/python3 install --no-cache-dir --disable-pip-version-check \
        --no-compile --only-binary :all: --require-hashes -r requirements/grpc.txt
COPY LICENSE README.md pyproject.toml setup.py ./
COPY kraft_quorum kraft_quorum
COPY records records
COPY raft raft
COPY controller controller
COPY tools tools
COPY docs/runbook.md docs/
RUN /tmp/tools/bin/pip wheel --no-cache-dir --disable-pip-version-check --no-deps --no-build-isolation \
        --wheel-dir /tmp/wheel . \
    && /tmp/tools/bin/pip --python /opt/kraft/bin/python3 install --no-cache-dir --disable-pip-version-check \
        --no-compile --no-deps --no-index /tmp/wheel/kraft_quorum-*.whl \
    && /opt/kraft/bin/python3 -m compileall -q /opt/kraft/lib

FROM python:${PYTHON}
LABEL org.opencontainers.image.title="kraft-quorum" \
      org.opencontainers.image.description="A KRaft metadata quorum controller for Apache Kafka 4.x, outside the JVM" \
      org.opencontainers.image.licenses="Apache-2.0"
# pip is removed from the base image too: the image can neither compile nor install anything.
RUN rm -rf /usr/local/bin/pip* /usr/local/lib/python3*/site-packages/pip* /usr/local/lib/python3*/ensurepip \
    && groupadd --system --gid 1000 appuser \
    && useradd --system --uid 1000 --gid appuser --home-dir /var/lib/kafka --shell /usr/sbin/nologin appuser \
    && mkdir -p /etc/kafka/secrets /mnt/shared/config /opt/kafka /var/lib/kafka/data \
    && chown -R appuser:appuser /var/lib/kafka \
    && ln -s /opt/kraft/bin /opt/kafka/bin
COPY --from=build /opt/kraft /opt/kraft
ENV PATH=/opt/kraft/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
USER 1000:1000
WORKDIR /var/lib/kafka
VOLUME ["/etc/kafka/secrets", "/var/lib/kafka/data", "/mnt/shared/config"]
EXPOSE 9093 9644 9646
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5s --timeout=3s --start-period=20s CMD ["kraftctl", "probe", "live"]
# No shell between the engine and the node: the node is process 1, and receives SIGTERM itself.
CMD ["kraftctl", "container"]

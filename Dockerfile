# docker build --tag fullpipe .
# docker run --rm --volume "$PWD:/work" --user "$(id --user)" fullpipe demo
FROM python:3.13-slim AS build
RUN apt-get update && apt-get install --yes --no-install-recommends curl gcc libc6-dev
ENV CARGO_HOME=/opt/cargo RUSTUP_HOME=/opt/rustup
RUN curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal
ENV PATH="/opt/cargo/bin:$PATH"
RUN pip install --no-cache-dir 'maturin>=1.16,<2'
COPY . /src
WORKDIR /src
RUN maturin build --release --locked --compatibility linux --out /wheels

FROM python:3.13-slim
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir /wheels/*.whl
RUN useradd --create-home fullpipe
USER fullpipe
ENV MPLCONFIGDIR=/tmp/matplotlib
WORKDIR /work
ENTRYPOINT ["fullpipe"]
CMD ["--help"]

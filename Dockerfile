# dipc in a container: `docker build -t dipc .`, then
#   docker run --rm -v "$PWD:/work" dipc check PROG.dip --inputs all
FROM python:3.13-slim AS build
COPY . /source
RUN pip install --no-cache-dir --prefix /install '/source[simulate,plot]'

FROM python:3.13-slim
COPY --from=build /install /usr/local
RUN useradd --create-home dipc
USER dipc
WORKDIR /work
ENTRYPOINT ["dipc"]
CMD ["--help"]

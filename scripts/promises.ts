// docs/reference/promises.md: which backend keeps which promise of its ports, from what the tests of the contracts did.
//   npm run promises                       runs them, on real nodes too, and writes the page
//   npm run promises -- --from REPORT…     the same from reports of vitest (--reporter=json)
//   npm run promises -- --check REPORT…    compares the page with them: how the gate knows that it is true
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import os from "node:os"
import path from "node:path"
import { parseArgs } from "node:util"

interface Column {
  readonly title: string
  /** What the suite of a port is called that was held to it. */
  readonly suite: string
  readonly ranOn: string
}
interface Part {
  readonly title: string
  readonly ports: ReadonlyArray<string>
  readonly columns: ReadonlyArray<Column>
}

const requirement = (module: string): string => {
  const found = new RegExp(`${module} (v\\S+)`).exec(readFileSync("packages/regtest/binaries/go.mod", "utf8"))
  if (found?.[1] === undefined) throw new Error(`packages/regtest/binaries/go.mod does not say which ${module}`)
  return found[1]
}
const lnd = requirement("github.com/lightningnetwork/lnd")
const btcd = requirement("github.com/btcsuite/btcd")
const knots = "Bitcoin Knots of Debian's unstable, regtest"
const pretended = (what: string) => `a pretended ${what}, which does what its documents say: none has run here`

const inProcess = "the sandbox, in the process"

const chains: ReadonlyArray<readonly [title: string, suffix: string, ranOn: string]> = [
  ["bitcoind", "bitcoind", knots],
  ["btcd", "btcd", `btcd ${btcd}, regtest`],
  ["Esplora", "Esplora", "a pretended Esplora over the sandbox's chain"]
]

const parts: ReadonlyArray<Part> = [
  {
    title: "Lightning nodes",
    ports: ["LightningReceiver", "LightningSender", "LightningBooks", "LightningWire"],
    columns: [
      { title: "lnd", suite: "lnd", ranOn: `lnd ${lnd} over btcd ${btcd}, regtest` },
      { title: "LDK", suite: "ldk", ranOn: `satrail-ldk over ${knots}, with lnd ${lnd} as its peer` },
      { title: "phoenixd", suite: "phoenixd, pretend", ranOn: `${pretended("phoenixd")}; an example of an adapter outside this project` },
      { title: "sandbox", suite: "sandbox", ranOn: inProcess }
    ]
  },
  {
    title: "Payers of offers (BOLT 12)",
    ports: ["OfferSender"],
    columns: [
      { title: "LDK", suite: "ldk", ranOn: `satrail-ldk over ${knots}, with another one as the issuer, and lnd ${lnd} in between` },
      { title: "sandbox", suite: "sandbox", ranOn: inProcess }
    ]
  },
  {
    title: "Issuers of offers (BOLT 12)",
    ports: ["OfferIssuer"],
    columns: [
      { title: "LDK", suite: "ldk", ranOn: `satrail-ldk over ${knots}, paid by another one, with lnd ${lnd} in between` },
      { title: "sandbox", suite: "sandbox", ranOn: inProcess }
    ]
  },
  {
    title: "Views of the chain",
    ports: ["ChainSource"],
    columns: chains.map(([title, suffix, ranOn]) => ({ title, suite: title === "Esplora" ? suffix : `BitcoinRpc, ${suffix}`, ranOn }))
  },
  {
    title: "The wallet on it",
    ports: ["ChainWallet"],
    columns: chains.map(([title, suffix, ranOn]) => ({ title, suite: `own wallet, ${suffix}`, ranOn }))
  },
  {
    title: "Signers",
    ports: ["Signer"],
    columns: [
      ...chains.map(([title, suffix, ranOn]) => ({ title: `keys here, ${title}`, suite: `hot, ${suffix}`, ranOn })),
      {
        title: "another process",
        suite: "in another process, Esplora",
        ranOn: "a program of the tests that signs, over the sandbox's chain"
      }
    ]
  },
  {
    title: "Names in the DNS (BIP 353)",
    ports: ["Names"],
    columns: [
      { title: "over HTTPS", suite: "over HTTPS", ranOn: "a resolver of the tests; a real unbound has a test of its own" },
      { title: "over TCP", suite: "over TCP", ranOn: "the same" },
      { title: "sandbox", suite: "sandbox", ranOn: inProcess }
    ]
  }
]

/** The tests that hold these backends to the contracts. */
const files = [
  "packages/nodes/test/Lnd.regtest.test.ts",
  "packages/nodes/test/Ldk.bitcoind.test.ts",
  "packages/nodes/test/LdkOffers.bitcoind.test.ts",
  "packages/sandbox/test/contracts.test.ts",
  "packages/chain/test/contracts.test.ts",
  "packages/chain/test/contracts.chain.test.ts",
  "packages/web/test/contracts.test.ts",
  "examples/phoenixd/test/contract.test.ts"
]
const page = "docs/reference/promises.md"

interface Result {
  readonly ancestorTitles: ReadonlyArray<string>
  readonly title: string
  readonly status: string
  readonly meta?: { readonly lacks?: string }
}
interface Report {
  readonly testResults: ReadonlyArray<{ readonly assertionResults: ReadonlyArray<Result> }>
}

const skipped = / \(skipped: (.*)\)$/

/** Of each suite, by its name: each of its promises, and why it is not kept; null where it is. */
type Suites = ReadonlyMap<string, ReadonlyMap<string, string | null>>

/** Throws where a promise was broken. */
const read = (reports: ReadonlyArray<string>): Suites => {
  const suites = new Map<string, Map<string, string | null>>()
  for (const file of reports) {
    const { testResults }: Report = JSON.parse(readFileSync(file, "utf8"))
    for (const { ancestorTitles, meta, status, title } of testResults.flatMap(({ assertionResults }) => assertionResults)) {
      const suite = ancestorTitles.at(-1) ?? ""
      const promise = title.replace(skipped, "")
      const reason = skipped.exec(title)?.[1] ?? meta?.lacks ?? null
      // A whole suite is skipped where its node cannot be had: that was not run.
      if (status === "passed" || reason !== null) {
        const of = suites.get(suite) ?? new Map<string, string | null>()
        suites.set(suite, of.set(promise, reason))
      } else if (status === "failed" && /^\w+ \(.*\)$/.test(suite)) throw new Error(`${suite} breaks a promise: ${promise}`)
    }
  }
  return suites
}

const render = (suites: Suites): string => {
  const reasons: Array<string> = []
  const noted = (reason: string): string => {
    if (!reasons.includes(reason)) reasons.push(reason)
    return `no[^${reasons.indexOf(reason) + 1}]`
  }
  const ran = (column: Column, ports: ReadonlyArray<string>) => ports.some((port) => suites.has(`${port} (${column.suite})`))
  const sections = parts.flatMap(({ columns, ports, title }) => {
    for (const column of columns)
      if (!ran(column, ports)) throw new Error(`the contracts were not run on ${column.title} (${column.suite})`)
    return [
      `## ${title}`,
      "",
      ...columns.map((column) => `- **${column.title}**: ${column.ranOn}.`),
      ...ports.flatMap((port) => {
        const of = columns.map(({ suite }) => suites.get(`${port} (${suite})`))
        const promises = [...new Set(of.flatMap((results) => [...(results?.keys() ?? [])]))]
        const rows = promises.map((promise) => {
          const cells = of.map((results) => {
            const became = results?.get(promise)
            return became === undefined ? "not run" : became === null ? "kept" : noted(became)
          })
          return `| ${promise.replace(`${port}: `, "")} | ${cells.join(" | ")} |`
        })
        return [
          "",
          `### ${port}`,
          "",
          `| promise | ${columns.map((column) => column.title).join(" | ")} |`,
          `|---|${columns.map(() => "---|").join("")}`,
          ...rows
        ]
      }),
      ""
    ]
  })
  return [
    "<!-- Made by `npm run promises` from what the tests of the contracts did: change it there. -->",
    "# Promises kept",
    "",
    "What each backend was held to, and on what: the rows are the promises of the ports ([contracts](../../packages/contracts/README.md)), as the tests of a backend",
    "run them. *kept*: the test passed. *no*: it cannot, for a reason that is said below, and says so itself. *not run*: nobody has tried. The gate compares this page with",
    "its own run.",
    "",
    ...sections,
    ...reasons.map((reason, index) => `[^${index + 1}]: ${reason}`),
    ""
  ].join("\n")
}

/** Runs the tests, and writes the page if all of them passed. */
const run = () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "satrail-promises-"))
  try {
    const report = path.join(folder, "report.json")
    const { status } = spawnSync(
      process.execPath,
      ["node_modules/vitest/vitest.mjs", "run", ...files, "--reporter=default", "--reporter=json", `--outputFile.json=${report}`],
      { stdio: "inherit" }
    )
    if (status === 0) writeFileSync(page, render(read([report])))
    else process.exitCode = 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const flag = { type: "boolean", default: false } as const
const { positionals, values } = parseArgs({ options: { from: flag, check: flag }, allowPositionals: true })
if (values.from) writeFileSync(page, render(read(positionals)))
else if (!values.check) run()
else if (render(read(positionals)) !== readFileSync(page, "utf8")) {
  console.error(`${page} is not what the contracts did: npm run promises`)
  process.exitCode = 1
}

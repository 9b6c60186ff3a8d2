// Writes docs/reference/promises.md from the results of the contract tests. The page shows which guarantees of
// its ports each backend keeps.
//   npm run promises                       runs the tests, including those with real nodes, and writes the page
//   npm run promises -- --from REPORT…     writes the page from vitest reports (--reporter=json)
//   npm run promises -- --check REPORT…    compares the page with reports
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import os from "node:os"
import path from "node:path"
import { parseArgs } from "node:util"

interface Column {
  readonly title: string
  /** The name of the suite that tested the port. */
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
  if (found?.[1] === undefined)
    throw new Error(`packages/regtest/binaries/go.mod has no version of ${module}`)
  return found[1]
}
const lnd = requirement("github.com/lightningnetwork/lnd")
const btcd = requirement("github.com/btcsuite/btcd")
const knots = "Bitcoin Knots from Debian unstable, regtest"
const simulated = (what: string) => `a simulated ${what} that follows its documentation; no real one was run`

const inProcess = "the sandbox, in process"

const chains: ReadonlyArray<readonly [title: string, suffix: string, ranOn: string]> = [
  ["bitcoind", "bitcoind", knots],
  ["btcd", "btcd", `btcd ${btcd}, regtest`],
  ["Esplora", "Esplora", "a simulated Esplora over the sandbox's chain"]
]

const parts: ReadonlyArray<Part> = [
  {
    title: "Lightning nodes",
    ports: ["LightningReceiver", "LightningSender", "LightningBooks", "LightningWire"],
    columns: [
      { title: "lnd", suite: "lnd", ranOn: `lnd ${lnd} over btcd ${btcd}, regtest` },
      { title: "LDK", suite: "ldk", ranOn: `satrail-ldk over ${knots}, with lnd ${lnd} as its peer` },
      {
        title: "phoenixd",
        suite: "phoenixd, simulated",
        ranOn: `${simulated("phoenixd")}; an example of an adapter outside this project`
      },
      { title: "sandbox", suite: "sandbox", ranOn: inProcess }
    ]
  },
  {
    title: "Payers of offers (BOLT 12)",
    ports: ["OfferSender"],
    columns: [
      {
        title: "LDK",
        suite: "ldk",
        ranOn: `satrail-ldk over ${knots}, with a second satrail-ldk as the issuer and lnd ${lnd} in between`
      },
      { title: "sandbox", suite: "sandbox", ranOn: inProcess }
    ]
  },
  {
    title: "Issuers of offers (BOLT 12)",
    ports: ["OfferIssuer"],
    columns: [
      {
        title: "LDK",
        suite: "ldk",
        ranOn: `satrail-ldk over ${knots}, paid by a second satrail-ldk, with lnd ${lnd} in between`
      },
      { title: "sandbox", suite: "sandbox", ranOn: inProcess }
    ]
  },
  {
    title: "Views of the chain",
    ports: ["ChainSource"],
    columns: chains.map(([title, suffix, ranOn]) => ({
      title,
      suite: title === "Esplora" ? suffix : `BitcoinRpc, ${suffix}`,
      ranOn
    }))
  },
  {
    title: "On-chain wallets",
    ports: ["ChainWallet"],
    columns: chains.map(([title, suffix, ranOn]) => ({ title, suite: `own wallet, ${suffix}`, ranOn }))
  },
  {
    title: "Signers",
    ports: ["Signer"],
    columns: [
      ...chains.map(([title, suffix, ranOn]) => ({
        title: `keys here, ${title}`,
        suite: `hot, ${suffix}`,
        ranOn
      })),
      {
        title: "another process",
        suite: "in another process, Esplora",
        ranOn: "a test program that signs, over the sandbox's chain"
      }
    ]
  },
  {
    title: "DNS names (BIP 353)",
    ports: ["Dns"],
    columns: [
      { title: "over HTTPS", suite: "over HTTPS", ranOn: "a test resolver; a separate test uses unbound" },
      { title: "over TCP", suite: "over TCP", ranOn: "the same" },
      { title: "sandbox", suite: "sandbox", ranOn: inProcess }
    ]
  }
]

/** The tests that run the contracts on these backends. */
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

/** The guarantees of each suite by title. Each has the reason why it is not kept, or null if it is kept. */
type Suites = ReadonlyMap<string, ReadonlyMap<string, string | null>>

/** Reads the results of each suite. Throws if a test failed. */
const read = (reports: ReadonlyArray<string>): Suites => {
  const suites = new Map<string, Map<string, string | null>>()
  for (const file of reports) {
    const { testResults }: Report = JSON.parse(readFileSync(file, "utf8"))
    for (const { ancestorTitles, meta, status, title } of testResults.flatMap(
      ({ assertionResults }) => assertionResults
    )) {
      const suite = ancestorTitles.at(-1) ?? ""
      const promise = title.replace(skipped, "")
      const reason = skipped.exec(title)?.[1] ?? meta?.lacks ?? null
      // If a node is unavailable, its whole suite is skipped and is treated as not run.
      if (status === "passed" || reason !== null) {
        const of = suites.get(suite) ?? new Map<string, string | null>()
        suites.set(suite, of.set(promise, reason))
      } else if (status === "failed" && /^\w+ \(.*\)$/.test(suite))
        throw new Error(`${suite} breaks a promise: ${promise}`)
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
  const ran = (column: Column, ports: ReadonlyArray<string>) =>
    ports.some((port) => suites.has(`${port} (${column.suite})`))
  const sections = parts.flatMap(({ columns, ports, title }) => {
    for (const column of columns)
      if (!ran(column, ports))
        throw new Error(`the contracts were not run on ${column.title} (${column.suite})`)
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
          return { promise: promise.replace(`${port}: `, ""), cells }
        })
        const isKept = ({ cells }: (typeof rows)[number]) => cells.every((cell) => cell === "kept")
        const kept = rows.filter(isKept)
        const others = rows.filter((row) => !isKept(row))
        return [
          "",
          `### ${port}`,
          ...(kept.length === 0 ? [] : ["", ...kept.map(({ promise }) => `- ${promise}`)]),
          ...(others.length === 0
            ? []
            : [
                "",
                `| promise | ${columns.map((column) => column.title).join(" | ")} |`,
                `|---|${columns.map(() => "---|").join("")}`,
                ...others.map(({ promise, cells }) => `| ${promise} | ${cells.join(" | ")} |`)
              ])
        ]
      }),
      ""
    ]
  })
  return [
    "<!-- Made by `npm run promises` from the results of the contract tests. Don't edit it by hand. -->",
    "# Promises kept",
    "",
    "For engineers who choose a backend. By the end, you will know what each one was tested for, and how. Each line is a promise of a port ([contracts](../../packages/contracts/README.md)). The tests of those in lists passed on every backend named above them; tables show the others.",
    "*kept*: the test passed. *no*: the backend lacks this, for the reason in the note. *not run*: not tested. `npm run promises -- --check REPORT…` compares this page with the reports of another run.",
    "",
    ...sections,
    ...reasons.map((reason, index) => `[^${index + 1}]: ${reason}`),
    ""
  ].join("\n")
}

/** Runs the tests and, if all of them passed, writes the page. */
const run = () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "satrail-promises-"))
  try {
    const report = path.join(folder, "report.json")
    const { status } = spawnSync(
      process.execPath,
      [
        "node_modules/vitest/vitest.mjs",
        "run",
        ...files,
        "--reporter=default",
        "--reporter=json",
        `--outputFile.json=${report}`
      ],
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
  console.error(`${page} is out of date. Run npm run promises`)
  process.exitCode = 1
}

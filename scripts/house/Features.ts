import path from "node:path"
import { files, importsOf, read } from "./Floors.ts"
import { mentions, namesIn, snake } from "./Mentions.ts"

/** Search patterns for features that the code mentions by other words than their names. */
const words: Readonly<Record<string, string>> = {
  // `offer` alone is a BOLT 12 offer: nodes and the money path can pay external offers without the feature.
  offers: "(?:issued|own)_offers?|offer_reads|offer_by_text|offers_verbs|deposit/offer|offer\\.created",
  zaps: "zaps?",
  approvals: "(?:un)?approv[a-z]*",
  adjustments: "adjustments?",
  statements: "statements?",
  audit: "audit",
  people: "people|persons?|sessions?",
  // Elsewhere, a platform is an operating system.
  platform: "platform_keys?",
  webhooks: "webhooks?",
  "wallet-connect": "wallet_connect[a-z]*|nwc"
}

/** Files and names in which a feature's word has another meaning. Imports of the feature are counted even there. */
const otherMeanings: Readonly<Record<string, { readonly files?: RegExp; readonly names?: RegExp }>> = {
  // A second operator approves API keys, adjustments and people.
  approvals: {
    files:
      /\/(?:ApiKeys?|JournalCompanies|OperatorCompanies|OperatorSection|Authentication|KeyCommands|LedgerTables|Rights)\.ts$|\/satrail\/src\/Verbs\.ts$|\/client\/Operator\.ts$|\/features\/(?:adjustments|people)[/.]|\/story\/Operator\.ts$|\/(?:pages|operator)\/Keys\.ts$/,
    names: /^(?:api_key[._]approved|approved(?:_by|_at_millis)?)$/
  },
  // The ledger writes and links the entries of the audit log, and stores keep them. In other places, auditing
  // means recounting the books.
  audit: {
    files:
      /\/core\/src\/(?:ledger|service)\/|^packages\/(?:bench|memory|postgres|simulator|service)\/src\/(?!features\/)|\/contracts\/src\/(?:Ledger|records\/Records|Fixtures)\.ts$|\/ReportReads\.ts$|\/(?:Simulation|Books)\.ts$/
  },
  // The payment page is also used for payments to Lightning addresses. The benchmark runs checkouts of git.
  checkouts: {
    files:
      /^packages\/bench\/|\/ui\/(?:src|browser)\/checkout\/|\/ui\/src\/index\.ts$|\/edge\/PaymentPage\.ts$|\/wire\/UiFiles\.ts$/,
    names: /(?:ui|src|\.\.)\/checkout\/|^checkout\.(?:css|js)$/
  },
  // `forPeople` formats the output of commands.
  // Sessions of PostgreSQL, of WebSockets and of Nostr.
  people: { files: /^packages\/(?:bitcoin|postgres|web)\/|\/wallet-connect[/.]/, names: /^for_people$/ },
  // SQL statements, and statements of the node and the wallet.
  statements: { files: /^packages\/(?:bench|postgres)\/|\/reports\/reconciliation\// },
  // `webhooks` is the OpenAPI keyword.
  webhooks: { files: /\/testing\/src\/OpenApi\.ts$/ }
}

/** Packages that belong to one feature. */
const packagesOf: Readonly<Record<string, RegExp>> = { checkouts: /^packages\/react\// }

/** Returns the pattern that matches a feature's word in names. */
export const wordOf = (feature: string): string =>
  words[feature] ?? feature.replaceAll("-", "_").replace(/s$/, "s?")

const rulesOf = (feature: string) => {
  const word = wordOf(feature)
  const folder = new RegExp(`/features/(?:(?:src|test)/)?${feature}[/.]`)
  const { files: elsewhere, names: others } = otherMeanings[feature] ?? {}
  return {
    isOwn: (one: string) => folder.test(one) || packagesOf[feature]?.test(one) === true,
    /** A test named after the feature belongs to it. */
    isOwnTest: (one: string) => mentions(snake(path.basename(one)), word),
    isMention: (one: string, source: string, names: string) => {
      const isImport = importsOf(source).some(({ specifier }) =>
        folder.test(specifier.startsWith(".") ? path.join(path.dirname(one), specifier) : specifier)
      )
      if (isImport || elsewhere?.test(one) === true) return isImport
      return mentions(
        others === undefined
          ? names
          : names
              .split("\n")
              .filter((name) => !others.test(name))
              .join("\n"),
        word
      )
    }
  }
}

/** Returns whether the code of a file imports or mentions a feature. */
export const isMention = (feature: string, file: string, source: string): boolean =>
  rulesOf(feature).isMention(file, source, namesIn(file, source))

interface Mentioning {
  readonly feature: string
  readonly sources: ReadonlyArray<string>
  readonly tests: ReadonlyArray<string>
}

/**
 * Returns the files outside each feature's own folders whose code imports or mentions the feature. Lists of
 * features are counted. Generated files are not, because they follow the whole API.
 */
export const mentioning = (
  sources: ReadonlyArray<string>,
  tests: ReadonlyArray<string>
): ReadonlyArray<Mentioning> => {
  const list = "packages/service/src/features/core.ts"
  const folders = Array.from(
    read(list).matchAll(/"@satrail\/features\/([\w-]+)\/core"/g),
    ([, name = ""]) => name
  )
  if (folders.length === 0) throw new Error(`found no feature in ${list}`)
  const parsedOf = (some: ReadonlyArray<string>) =>
    some.flatMap((file) => {
      const source = read(file)
      return source.startsWith("// Made by `npm run docs`")
        ? []
        : [{ file, source, names: namesIn(file, source) }]
    })
  const [parsedSources, parsedTests] = [parsedOf(sources), parsedOf(tests)]
  return [...new Set([...folders, ...Object.keys(words)])].map((feature) => {
    const { isOwn, isOwnTest, isMention } = rulesOf(feature)
    const outside = (some: typeof parsedSources) =>
      some
        .filter(({ file, source, names }) => !isOwn(file) && isMention(file, source, names))
        .map(({ file }) => file)
    return {
      feature,
      sources: outside(parsedSources),
      tests: outside(parsedTests).filter((file) => !isOwnTest(file))
    }
  })
}

/** Sources and tests of all packages. */
export const sources = ["packages/*/src/**/*.{ts,tsx}", "packages/ui/browser/**/*.{ts,tsx}"].flatMap(files)
export const tests = [
  "packages/*/test/**/*.{ts,tsx}",
  "examples/*/test/**/*.{ts,tsx}",
  "test/**/*.{ts,tsx}"
].flatMap(files)

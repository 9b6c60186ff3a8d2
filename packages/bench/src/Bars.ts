/** The other limit of a confirm at one company: pgbench as it is fastest there, which is with fewer callers than ours has. */
export const atBest = "pgbench, one confirm a transaction, one company, at its best number of clients"

/** What is wanted of an operation: rates as parts of the limit in the same round, growth as an exponent. */
export interface Bar {
  readonly operation: string
  readonly pattern: string
  /** The limit, where the operation has more than one, and it is not the first. */
  readonly limit?: string
  readonly first: number
  readonly aim: number
  /** The cost may grow with the rows there are to this power, from ten thousand to ten million. */
  readonly exponent: number
}

const one = "one company"
const spread = "1000 companies"

/** What webhooks leave of the rate of confirms: where there is no endpoint, and where ten hear of each. */
export const nobodyListens = "webhooks, confirm without an endpoint"
export const tenListen = "webhooks, confirm with 10 endpoints"

/** What a limit, an entry of the audit log and tracing that is off leave of the rate of confirms. */
export const limited = "confirm with a limit"
export const audited = "confirm, in process, audited"
export const untraced = "tracing off, confirm"
export const untracedRead = "tracing off, balance"

/** A company's p99 while another one floods the service may be this many times its p99 alone. */
export const maxFloodedTimes = 2

/** What the whole service does, workers and all; the other operations are those of its HTTP side. */
export const carriedOut = "confirm, and carry out"
/** A confirm that is not done before its payee has it: what a customer waits for. */
export const untilSettled = "confirm, until settled"
/** A settlement from the node's report until its deposit is in the balance that is read over HTTP. */
export const reported = "settle, as a node reports it"
/** What the framework leaves of a raw server's rate, before anything of the service is done: no read can have more. */
export const framework = "balance, the framework alone"
/** What the key that makes a repetition harmless leaves of the rate of confirms. */
export const withKey = "confirm with an Idempotency-Key"

/** Two processes over one database, on the same cores as everything else. */
export const twoProcesses = "confirm, two processes"

/** The limit of what is measured against another build of the service. */
export const otherBuild = "the other build"

// The cost may hardly grow with the rows there are.
const exponent = 0.01

export const bars: ReadonlyArray<Bar> = [
  { operation: "create invoice", pattern: one, first: 0.25, aim: 0.5, exponent },
  { operation: "LNURL callback", pattern: one, first: 0.7, aim: 0.9, exponent },
  { operation: "settle, in process", pattern: spread, first: 0.8, aim: 1.2, exponent },
  { operation: "settle, in process", pattern: one, first: 2, aim: 5, exponent },
  { operation: "confirm", pattern: spread, first: 0.8, aim: 1.25, exponent },
  { operation: "confirm", pattern: one, first: 4, aim: 8, exponent },
  { operation: "confirm", pattern: one, limit: atBest, first: 3, aim: 5.5, exponent },
  { operation: untilSettled, pattern: one, first: 0.8, aim: 3, exponent },
  { operation: "confirm, in process", pattern: one, first: 0.4, aim: 0.55, exponent },
  { operation: "balance", pattern: one, first: 0.4, aim: 0.6, exponent },
  { operation: "balance", pattern: spread, first: 0.3, aim: 0.42, exponent },
  { operation: "list of the 50 newest", pattern: one, first: 0.1, aim: 0.25, exponent },
  { operation: "get one invoice", pattern: one, first: 0.3, aim: 0.48, exponent },
  { operation: "get one invoice", pattern: spread, first: 0.2, aim: 0.33, exponent },
  { operation: withKey, pattern: one, first: 0.8, aim: 0.9, exponent },
  { operation: limited, pattern: one, first: 0.95, aim: 1, exponent },
  { operation: audited, pattern: one, first: 0.9, aim: 1, exponent },
  { operation: untraced, pattern: one, first: 0.98, aim: 1, exponent },
  { operation: untracedRead, pattern: one, first: 0.98, aim: 1, exponent },
  { operation: nobodyListens, pattern: one, first: 0.95, aim: 1, exponent },
  { operation: tenListen, pattern: one, first: 0.9, aim: 1, exponent }
]

/** How long after its commit 99 of 100 events have arrived, in milliseconds. */
export const maxLateMillis = 1000

/** What one process may ask its database in a minute in which nothing happens. */
export const maxIdleStatements = 120

/** The same for a page of the feed, by how many events there are: from ten thousand to ten million. */
export const feedExponent = 0.02

/** What a thousand idle streams may occupy, in MiB. */
export const maxStreamsMebibytes = 100

/** The same for finding our outputs in a block, by how many addresses are watched: from ten to a million. */
export const blocksExponent = 0.1

/** What is wanted of this operation, if anything is: of another build nothing is. */
export const of = ({ operation, pattern, limit }: Pick<Bar, "operation" | "pattern" | "limit">): Bar | undefined =>
  bars.find(
    (bar) =>
      bar.operation === operation &&
      bar.pattern === pattern &&
      (bar.limit === undefined ? limit !== atBest && limit !== otherBuild : bar.limit === limit)
  )

/** The p99 at half of the own maximum may be this many times pgbench's at half of its own. */
export const maxTimesP99 = 5

/** What a process may occupy under these loads, in MiB. */
export const maxLoadedMebibytes = 350

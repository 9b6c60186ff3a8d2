import { Effect } from "effect"

/** Node software with versions that have known bugs. */
export type Node = "lnd" | "Bitcoin Core" | "btcd"

/** Major, minor and patch. */
type Version = readonly [number, number, number]

/**
 * A known bug in some versions of a node. `refused`: the node may report false data, such as a chain that no
 * other node has, which would lead to wrong credits. `warned`: the node can be stopped or robbed, whether or
 * not this service runs.
 */
export interface Fault {
  readonly node: Node
  /** First affected version. If absent, all versions before `fixedIn` are affected. */
  readonly since?: Version
  readonly fixedIn: Version
  readonly verdict: "refused" | "warned"
  /** Continues the sentence "lnd 0.18.5 …". */
  readonly says: string
  readonly source: string
}

const morehouse = "https://morehouse.github.io/lightning"
const delving = "https://delvingbitcoin.org/t"

/**
 * All known bugs. A release candidate counts as its release. A fork counts as the version that it reports as
 * its base.
 */
export const faults: ReadonlyArray<Fault> = [
  {
    node: "lnd",
    fixedIn: [0, 15, 4],
    verdict: "refused",
    says: "cannot parse some blocks, and stops at the first one it cannot parse. It misses later payments and channel closes",
    source: "https://github.com/lightninglabs/loop/pull/539"
  },
  {
    node: "lnd",
    fixedIn: [0, 17, 0],
    verdict: "warned",
    says: "can be crashed by anyone with a single packet (CVE-2024-38359)",
    source: "https://nvd.nist.gov/vuln/detail/CVE-2024-38359"
  },
  {
    node: "lnd",
    fixedIn: [0, 18, 0],
    verdict: "warned",
    says: "lets a peer steal funds if it closes a channel and the node restarts",
    source: `${delving}/disclosure-lnd-excessive-failback-exploit/1493`
  },
  {
    node: "lnd",
    fixedIn: [0, 19, 0],
    verdict: "warned",
    says: "lets a peer steal funds: a peer that makes the node close a channel can be paid twice",
    source: `${morehouse}/lnd-excessive-failback-exploit-2`
  },
  {
    node: "lnd",
    fixedIn: [0, 19, 0],
    verdict: "warned",
    says: "can be flooded with messages until it runs out of memory",
    source: `${morehouse}/lnd-infinite-inbox-dos`
  },
  {
    node: "Bitcoin Core",
    since: [0, 14, 0],
    fixedIn: [0, 16, 3],
    verdict: "refused",
    says: "accepts blocks that spend a coin twice (CVE-2018-17144)",
    source: "https://bitcoincore.org/en/2018/09/20/notice/"
  },
  {
    node: "Bitcoin Core",
    fixedIn: [25, 0, 0],
    verdict: "warned",
    says: "can be crashed by anyone on the network (CVE-2024-35202)",
    source: "https://bitcoincore.org/en/2024/10/08/disclose-blocktxn-crash/"
  },
  {
    node: "Bitcoin Core",
    since: [0, 14, 0],
    fixedIn: [29, 0, 0],
    verdict: "warned",
    says: "can be crashed by a miner with an invalid block (CVE-2024-52911)",
    source: "https://nvd.nist.gov/vuln/detail/CVE-2024-52911"
  },
  {
    node: "Bitcoin Core",
    since: [30, 0, 0],
    fixedIn: [30, 2, 0],
    verdict: "warned",
    says: "may delete all of the node's wallets when an old wallet is migrated. This service's wallet is not affected",
    source: "https://bitcoincore.org/en/releases/30.2/"
  },
  {
    node: "btcd",
    fixedIn: [0, 23, 2],
    verdict: "refused",
    says: "cannot parse some blocks, and stops at the first one it cannot parse",
    source: "https://github.com/advisories/GHSA-2chg-86hq-7w38"
  },
  {
    node: "btcd",
    fixedIn: [0, 24, 0],
    verdict: "refused",
    says: "validates some transactions differently from other nodes, and can follow a chain that they reject (CVE-2024-34478)",
    source: `${delving}/disclosure-btcd-consensus-bugs-due-to-usage-of-signed-transaction-version/455`
  },
  {
    node: "btcd",
    fixedIn: [0, 24, 2],
    verdict: "refused",
    says: "validates some signatures differently from other nodes, and can follow a chain that they reject (CVE-2024-38365)",
    source: "https://github.com/btcsuite/btcd/security/advisories/GHSA-27vh-h6mc-q6g8"
  }
]

/**
 * Parses the version in a string: `0.19.0-beta.rc1 commit=…` is 0.19.0, `v26.06.9-modded` is 26.6.9.
 * Undefined if there is none.
 */
const read = (text: string): Version | undefined => {
  const [, major, minor, patch = "0"] = /(?:^|[^\d.])(\d{1,6})\.(\d{1,6})(?:\.(\d{1,6}))?/.exec(text) ?? []
  return major === undefined || minor === undefined
    ? undefined
    : [Number(major), Number(minor), Number(patch)]
}

const isBefore = (one: Version, other: Version): boolean => {
  const at = one.findIndex((part, at) => part !== other[at])
  return at !== -1 && (one[at] ?? 0) < (other[at] ?? 0)
}

export const written = (version: Version): string => version.join(".")

export interface Judgement {
  readonly verdict: Fault["verdict"]
  /** The version in the form in which an operator accepts it, such as `0.15.1`. */
  readonly version: string
  /** The version and its bug, as a sentence without a period. */
  readonly says: string
  /** The version to update to, and where to get it, as a sentence. */
  readonly remedy: string
}

/**
 * Returns the worst known bug in this version of a node; undefined if there is none, or if the text contains no
 * version.
 */
export const judge = (node: Node, text: string): Judgement | undefined => {
  const version = read(text)
  if (version === undefined) return undefined
  const known = faults.filter(
    (fault) =>
      fault.node === node &&
      isBefore(version, fault.fixedIn) &&
      (fault.since === undefined || !isBefore(version, fault.since))
  )
  const newest = (some: ReadonlyArray<Fault>) =>
    some.reduce<Fault | undefined>(
      (last, one) => (last === undefined || isBefore(last.fixedIn, one.fixedIn) ? one : last),
      undefined
    )
  const worst = newest(known.filter(({ verdict }) => verdict === "refused")) ?? newest(known)
  const update = newest(known)
  if (worst === undefined || update === undefined) return undefined
  return {
    verdict: worst.verdict,
    version: written(version),
    says: `${node} ${text.split(" ")[0]} ${worst.says}`,
    remedy: `Update it to ${written(update.fixedIn)} or later (${worst.source}).`
  }
}

/** Logs the known bug in a version. */
export const warn = (node: Node, text: string): Effect.Effect<void> => {
  const judgement = judge(node, text)
  return judgement === undefined ? Effect.void : Effect.logWarning(`${judgement.says}. ${judgement.remedy}`)
}

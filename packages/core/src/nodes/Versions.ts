import { Effect } from "effect"

/** The kinds of node of which versions are known to have faults. */
export type Node = "lnd" | "Bitcoin Core" | "btcd"

/** Major, minor and patch. */
type Version = readonly [number, number, number]

/**
 * What is known against some versions of a node. `refused`: it may tell this service what is not so, such as a chain that nobody else has, and money would be
 * credited by that. `warned`: it can be stopped or robbed, which it can be as well while this service does not run.
 */
export interface Fault {
  readonly node: Node
  /** The first version that has it; every one before `fixedIn` where absent. */
  readonly since?: Version
  readonly fixedIn: Version
  readonly verdict: "refused" | "warned"
  /** Completes "lnd 0.18.5 …". */
  readonly says: string
  readonly source: string
}

const morehouse = "https://morehouse.github.io/lightning"
const delving = "https://delvingbitcoin.org/t"

/** The one list of them. A release candidate counts as its release; a fork as the version that it says it is made from. */
export const faults: ReadonlyArray<Fault> = [
  {
    node: "lnd",
    fixedIn: [0, 15, 4],
    verdict: "refused",
    says: "cannot read every block, and stops at one that it cannot read: it does not see what is paid and what is closed after that",
    source: "https://github.com/lightninglabs/loop/pull/539"
  },
  {
    node: "lnd",
    fixedIn: [0, 17, 0],
    verdict: "warned",
    says: "can be stopped by a stranger with one packet (CVE-2024-38359)",
    source: "https://nvd.nist.gov/vuln/detail/CVE-2024-38359"
  },
  {
    node: "lnd",
    fixedIn: [0, 18, 0],
    verdict: "warned",
    says: "has a fault by which its peers can take its money, when they close a channel and it restarts",
    source: `${delving}/disclosure-lnd-excessive-failback-exploit/1493`
  },
  {
    node: "lnd",
    fixedIn: [0, 19, 0],
    verdict: "warned",
    says: "has faults by which others can take its money: a peer that makes it close a channel is paid twice",
    source: `${morehouse}/lnd-excessive-failback-exploit-2`
  },
  {
    node: "lnd",
    fixedIn: [0, 19, 0],
    verdict: "warned",
    says: "can be filled with messages until it has no memory left",
    source: `${morehouse}/lnd-infinite-inbox-dos`
  },
  {
    node: "Bitcoin Core",
    since: [0, 14, 0],
    fixedIn: [0, 16, 3],
    verdict: "refused",
    says: "takes blocks that spend a coin twice for valid (CVE-2018-17144)",
    source: "https://bitcoincore.org/en/2018/09/20/notice/"
  },
  {
    node: "Bitcoin Core",
    fixedIn: [25, 0, 0],
    verdict: "warned",
    says: "can be stopped by a stranger (CVE-2024-35202)",
    source: "https://bitcoincore.org/en/2024/10/08/disclose-blocktxn-crash/"
  },
  {
    node: "Bitcoin Core",
    since: [0, 14, 0],
    fixedIn: [29, 0, 0],
    verdict: "warned",
    says: "can be stopped by a miner with an invalid block (CVE-2024-52911)",
    source: "https://nvd.nist.gov/vuln/detail/CVE-2024-52911"
  },
  {
    node: "Bitcoin Core",
    since: [30, 0, 0],
    fixedIn: [30, 2, 0],
    verdict: "warned",
    says: "may delete every wallet of the node where an old one is migrated; the wallet of this service is not among them",
    source: "https://bitcoincore.org/en/releases/30.2/"
  },
  {
    node: "btcd",
    fixedIn: [0, 23, 2],
    verdict: "refused",
    says: "cannot read every block, and stops at one that it cannot read",
    source: "https://github.com/advisories/GHSA-2chg-86hq-7w38"
  },
  {
    node: "btcd",
    fixedIn: [0, 24, 0],
    verdict: "refused",
    says: "judges some transactions differently from other nodes, and can be led onto a chain of its own (CVE-2024-34478)",
    source: `${delving}/disclosure-btcd-consensus-bugs-due-to-usage-of-signed-transaction-version/455`
  },
  {
    node: "btcd",
    fixedIn: [0, 24, 2],
    verdict: "refused",
    says: "judges some signatures differently from other nodes, and can be led onto a chain of its own (CVE-2024-38365)",
    source: "https://github.com/btcsuite/btcd/security/advisories/GHSA-27vh-h6mc-q6g8"
  }
]

/** What of a text is a version: `0.19.0-beta.rc1 commit=…` is 0.19.0, `v26.06.9-modded` 26.6.9. Undefined where nothing is. */
const read = (text: string): Version | undefined => {
  const [, major, minor, patch = "0"] = /(?:^|[^\d.])(\d{1,6})\.(\d{1,6})(?:\.(\d{1,6}))?/.exec(text) ?? []
  return major === undefined || minor === undefined ? undefined : [Number(major), Number(minor), Number(patch)]
}

const isBefore = (one: Version, other: Version): boolean => {
  const at = one.findIndex((part, at) => part !== other[at])
  return at !== -1 && (one[at] ?? 0) < (other[at] ?? 0)
}

export const written = (version: Version): string => version.join(".")

/** What is said of a version. */
export interface Judgement {
  readonly verdict: Fault["verdict"]
  /** The version in the form in which it may be accepted, such as `0.15.1`. */
  readonly version: string
  /** Which version has what fault, as a sentence without its full stop. */
  readonly says: string
  /** What to update to, and where that is from, as a sentence. */
  readonly remedy: string
}

/** What is known against this version of a node, the worst of it in words; undefined where nothing is, or where the text has no version. */
export const judge = (node: Node, text: string): Judgement | undefined => {
  const version = read(text)
  if (version === undefined) return undefined
  const known = faults.filter(
    (fault) => fault.node === node && isBefore(version, fault.fixedIn) && (fault.since === undefined || !isBefore(version, fault.since))
  )
  const newest = (some: ReadonlyArray<Fault>) =>
    some.reduce<Fault | undefined>((last, one) => (last === undefined || isBefore(last.fixedIn, one.fixedIn) ? one : last), undefined)
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

/** Says in the log what is known against a version. */
export const warn = (node: Node, text: string): Effect.Effect<void> => {
  const judgement = judge(node, text)
  return judgement === undefined ? Effect.void : Effect.logWarning(`${judgement.says}. ${judgement.remedy}`)
}

import type { Story } from "./CrashStories.ts"
import type { Act, Operation } from "./plot/Operation.ts"
import * as Simulation from "./Simulation.ts"
import { type Fate, nameOf, type Taken } from "./world/Fault.ts"
import type * as Store from "./world/Store.ts"

const dies: Fate = { _tag: "dies", when: "before", backAfterMillis: 0 }
const unanswered: Fate = { _tag: "unanswered", when: "before" }
/** What befalls a call: the process dies, or goes on without an answer; and the call took effect, or did not. */
export const fates: ReadonlyArray<Fate> = [dies, unanswered, { ...dies, when: "after" }, { ...unanswered, when: "after" }]

const acting = new Set(["pay", "payOffer", "createInvoice", "createOffer", "cancelInvoice", "broadcast", "newAddress", "build", "sign"])
/** Whether a call does something: of a node, the wallet or the signer, or a Change that is committed. */
export const acts = (call: string) => acting.has(call) || /^[A-Z]/.test(call)

/** Calls that most of the time goes by with, and that change nothing. So does a claim that finds no work. */
const reading = new Set([
  "unlinkedAudit",
  "auditHeads",
  "auditOf",
  "recordedAudit",
  "unapproved",
  "cursor",
  "apiKey",
  "onChainAddresses",
  "tip",
  "activity",
  "depositsAbove",
  "depositsUnconfirmed",
  "depositsInBlocks",
  "depositsInNoBlock",
  "depositsGivenUp",
  "withdrawal",
  "endedForWallets",
  "openInvoicesWithin",
  "settledPayouts",
  "invoiceByHash",
  "offerByText",
  "company",
  "feeRate",
  "answer",
  "domain",
  "validated",
  "spentCoins",
  "candidates",
  "transaction",
  "followers",
  "withdrawalByHash",
  "lookupPayment",
  "lookupInvoice",
  "lookupOffer",
  "depositOfInvoice",
  "depositByOutpoint",
  "depositById",
  "arrivedFor",
  "named",
  "get",
  "balance",
  "eventsOf",
  "event",
  "lastEvent",
  "forgottenUntil",
  "told",
  "knownDeliveries",
  "pendingDeliveries",
  "deliveriesTo",
  "unreadableSinceMillis"
])
/** What a worker of its own reads in every turn, whatever is under way: left unanswered, it waits for its next turn. Once a story shows it. */
const apart = new Set(["unlinkedAudit", "auditHeads", "auditOf", "recordedAudit", "unapproved"])
const claims = new Set(["claim", "claimInTurn", "takeOver"])
const reads = ({ call, foundNothing }: Readonly<Taken>) => reading.has(call) || (claims.has(call) && foundNothing)

/** A call of an undisturbed telling at which something may befall a process. */
export interface Position {
  readonly at: number
  readonly call: string
  /** What may befall it, each in one way. */
  readonly fates: ReadonlyArray<Fate>
}

/**
 * The crash positions among the calls of some operations: every call, but one that is made again before anything else happened. A worker that
 * looks for work and finds none leaves things as they are. To die before a read is to die after it, or at any other read until something is done:
 * what the process knew is gone, and all else is the same.
 */
export const positions = (operations: ReadonlyArray<ReadonlyArray<Readonly<Taken>>>): ReadonlyArray<Position> => {
  let seen = new Set<string>()
  let hasDied = false
  const shown = new Set<string>()
  return operations
    .flatMap((calls) => calls.map((taken, nth) => ({ taken, isFirst: nth === 0 })))
    .flatMap(({ taken, isFirst }, at): ReadonlyArray<Position> => {
      if (isFirst) {
        seen = new Set()
        hasDied = false
      }
      const { call } = taken
      const isKnown = seen.has(call)
      seen = acts(call) ? new Set() : seen.add(call)
      if (isKnown) return []
      if (!reads(taken)) {
        hasDied = false
        return [{ at, call, fates }]
      }
      const once = [...(hasDied ? [] : [dies]), ...(shown.has(call) ? [] : [unanswered])]
      hasDied = true
      if (apart.has(call)) shown.add(call)
      return [{ at, call, fates: once }]
    })
}

/** How a story went that was told once for each of its crash positions. */
export interface Outcome {
  readonly positions: number
  /** The first telling that broke a promise, or ended otherwise than the undisturbed one. */
  readonly broken: string | undefined
}

/**
 * Tells the story once undisturbed, and then again for each of its crash positions, where that one call meets a fate. It has to end as the
 * undisturbed one did. `fatesOf` says what to try at a position, by its number from 0.
 */
export const everywhere = async (
  { settings, before, during }: Story,
  store: Store.Store,
  fatesOf: (number: number, position: Position) => ReadonlyArray<Fate>
): Promise<Outcome> => {
  const tell = (skips: number, fate: Fate) => {
    const trap: Act = { _tag: "Lay", trap: { process: null, port: null, call: null, skips, fate } }
    const operations = [...before, trap, ...during].map((act, seed): Operation => ({ act, seed, rushes: false }))
    const hasWebhooks = operations.some(({ act }) => act._tag === "CreateEndpoint")
    return Simulation.tell(1, operations, { store, operations: operations.length, settings, isShort: true, hasWebhooks })
  }
  const undisturbed = await tell(Infinity, { _tag: "repeated" })
  const all = positions(undisturbed.calls.slice(before.length + 1))
  if (undisturbed.violation !== undefined) return { positions: 0, broken: `undisturbed: ${undisturbed.violation}` }
  for (const [number, position] of all.entries()) {
    const { at, call } = position
    for (const fate of fatesOf(number, position)) {
      const { violation, ending, history } = await tell(at, fate)
      const isSame = ending === undisturbed.ending
      const broken = violation ?? (isSame ? undefined : `it ended with\n${ending}\ninstead of\n${undisturbed.ending}`)
      if (broken !== undefined)
        return { positions: all.length, broken: `${nameOf(fate, "store")} ${call} (call ${at}): ${broken}\n${history.join("\n")}` }
    }
  }
  return { positions: all.length, broken: undefined }
}

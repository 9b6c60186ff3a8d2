import type { Story } from "./CrashStories.ts"
import { all as features } from "./features/index.ts"
import type { Act, Operation } from "./plot/Operation.ts"
import * as Simulation from "./Simulation.ts"
import { type Fate, nameOf, type Taken } from "./world/Fault.ts"
import type * as Store from "./world/Store.ts"

const dies: Fate = { _tag: "dies", when: "before", backAfterMillis: 0 }
const unanswered: Fate = { _tag: "unanswered", when: "before" }
/**
 * Faults that can be injected into a call: the process dies or receives no response, before or after the call
 * takes effect.
 */
export const fates: ReadonlyArray<Fate> = [
  dies,
  unanswered,
  { ...dies, when: "after" },
  { ...unanswered, when: "after" }
]

const acting = new Set([
  "pay",
  "payOffer",
  "createInvoice",
  "createOffer",
  "cancelInvoice",
  "broadcast",
  "newAddress",
  "build",
  "sign"
])
/**
 * Returns whether a call has an effect: it acts on a node, the wallet or the signer, or commits a Change.
 */
export const acts = (call: string) => acting.has(call) || /^[A-Z]/.test(call)

/** Frequent calls that change nothing. (A claim that finds no work also changes nothing.) */
const reading = new Set([
  "unlinkedAudit",
  "auditHeads",
  "auditOf",
  "recordedAudit",
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
  "depositsOwed",
  "withdrawal",
  "endedForWallets",
  "openInvoicesWithin",
  "settledPayouts",
  "invoiceByHash",
  "company",
  "feeRate",
  "answer",
  "expiredAnswers",
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
  "named",
  "get",
  "balance",
  "eventsOf",
  "eventsBefore",
  "event",
  "lastEvent",
  "forgottenUntil",
  "told",
  "unreadableSinceMillis",
  ...features.flatMap(({ reading = [], polling = [] }) => [...reading, ...polling])
])
/**
 * Reads that a separate worker makes in every turn, whatever is in progress. A worker that gets no response
 * waits for its next turn, so one scenario per read is enough.
 */
const apart = new Set([
  "unlinkedAudit",
  "auditHeads",
  "auditOf",
  "recordedAudit",
  ...features.flatMap(({ polling = [] }) => polling)
])
const claims = new Set(["claim", "claimInTurn", "takeOver"])
const reads = ({ call, foundNothing }: Readonly<Taken>) =>
  reading.has(call) || (claims.has(call) && foundNothing)

/** A call in an undisturbed run at which a fault can be injected. */
export interface Position {
  readonly at: number
  readonly call: string
  /** The faults to try at this call. */
  readonly fates: ReadonlyArray<Fate>
}

/**
 * Returns the crash points in some operations: every call, except a repeated call if nothing took effect since
 * the call before it. A worker that looks for work and finds none changes nothing. Dying before a read is
 * equivalent to dying after it, or after the last call that changed something, because the process loses its
 * memory and everything else is unchanged. So one death between two calls with an effect is enough, immediately
 * before the second of them.
 */
export const positions = (
  operations: ReadonlyArray<ReadonlyArray<Readonly<Taken>>>
): ReadonlyArray<Position> => {
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
        const before = acts(call) || !hasDied
        hasDied = true
        return [{ at, call, fates: before ? fates : fates.filter((fate) => fate !== dies) }]
      }
      const once = [...(hasDied ? [] : [dies]), ...(shown.has(call) ? [] : [unanswered])]
      hasDied = true
      if (apart.has(call)) shown.add(call)
      return [{ at, call, fates: once }]
    })
}

/** Result of running a scenario once per crash point. */
export interface Outcome {
  readonly positions: number
  /** Describes the first run that violated a guarantee, or that ended differently from the undisturbed run. */
  readonly broken: string | undefined
}

/**
 * Runs the scenario once undisturbed, and then for each crash point, injecting one fault into that call. Each
 * run must end in the same state as the undisturbed run. `fatesOf` returns the faults to try at the crash point
 * with this number, counted from 0.
 */
export const everywhere = async (
  { settings, before, during, callsCustomers = false }: Story,
  store: Store.Store,
  fatesOf: (number: number, position: Position) => ReadonlyArray<Fate>
): Promise<Outcome> => {
  const tell = (skips: number, fate: Fate) => {
    const trap: Act = { _tag: "Lay", trap: { process: null, port: null, call: null, skips, fate } }
    const operations = [...before, trap, ...during].map((act, seed): Operation => ({
      act,
      seed,
      rushes: false
    }))
    return Simulation.tell(1, operations, {
      store,
      operations: operations.length,
      settings,
      isShort: true,
      callsCustomers
    })
  }
  const undisturbed = await tell(Infinity, { _tag: "repeated" })
  const all = positions(undisturbed.calls.slice(before.length + 1))
  if (undisturbed.violation !== undefined)
    return { positions: 0, broken: `undisturbed: ${undisturbed.violation}` }
  for (const [number, position] of all.entries()) {
    const { at, call } = position
    for (const fate of fatesOf(number, position)) {
      const { violation, ending, history } = await tell(at, fate)
      const isSame = ending === undisturbed.ending
      const broken =
        violation ?? (isSame ? undefined : `the run ended with\n${ending}\ninstead of\n${undisturbed.ending}`)
      if (broken !== undefined)
        return {
          positions: all.length,
          broken: `${nameOf(fate, "store")} ${call} (call ${at}): ${broken}\n${history.join("\n")}`
        }
    }
  }
  return { positions: all.length, broken: undefined }
}

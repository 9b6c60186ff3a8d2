import type { Story } from "./CrashStories.ts"
import type { Act, Operation } from "./plot/Operation.ts"
import * as Simulation from "./Simulation.ts"
import { type Fate, nameOf } from "./world/Fault.ts"
import type * as Store from "./world/Store.ts"

/** What befalls a call: the process dies, or goes on without an answer; and the call took effect, or did not. */
export const fates: ReadonlyArray<Fate> = (["before", "after"] as const).flatMap((when): ReadonlyArray<Fate> => [
  { _tag: "dies", when, backAfterMillis: 0 },
  { _tag: "unanswered", when }
])

const acting = new Set(["pay", "payOffer", "createInvoice", "createOffer", "cancelInvoice", "broadcast", "newAddress", "build", "sign"])
/** Whether a call does something: of a node, the wallet or the signer, or a Change that is committed. */
export const acts = (call: string) => acting.has(call) || /^[A-Z]/.test(call)

/** Calls that most of the time goes by with, and that change nothing: before one and after it is the same. */
const reading = new Set([
  "unlinkedAudit",
  "auditHeads",
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
  "company",
  "feeRate"
])

/** What may befall a call, each in one way. */
export const fatesOf = (call: string): ReadonlyArray<Fate> => (reading.has(call) ? fates.slice(0, 2) : fates)

/**
 * The crash positions among the calls of some operations: every call, but one that is made again before anything else happened. A worker that
 * looks for work and finds none leaves things as they are.
 */
export const positions = (
  operations: ReadonlyArray<ReadonlyArray<string>>
): ReadonlyArray<{ readonly at: number; readonly call: string }> => {
  let seen = new Set<string>()
  return operations
    .flatMap((calls) => calls.map((call, nth) => ({ call, isFirst: nth === 0 })))
    .flatMap(({ call, isFirst }, at) => {
      if (isFirst) seen = new Set()
      const isKnown = seen.has(call)
      seen = acts(call) ? new Set() : seen.add(call)
      return isKnown ? [] : [{ at, call }]
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
 * undisturbed one did. `fatesOf` says what to try at a position, by its number from 0 and its call.
 */
export const everywhere = async (
  { settings, before, during }: Story,
  store: Store.Store,
  fatesOf: (position: number, call: string) => ReadonlyArray<Fate>
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
  for (const [number, { at, call }] of all.entries()) {
    for (const fate of fatesOf(number, call)) {
      const { violation, ending, history } = await tell(at, fate)
      const isSame = ending === undisturbed.ending
      const broken = violation ?? (isSame ? undefined : `it ended with\n${ending}\ninstead of\n${undisturbed.ending}`)
      if (broken !== undefined)
        return { positions: all.length, broken: `${nameOf(fate, "store")} ${call} (call ${at}): ${broken}\n${history.join("\n")}` }
    }
  }
  return { positions: all.length, broken: undefined }
}

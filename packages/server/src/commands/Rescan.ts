import * as Msat from "@satrail/bitcoin/Msat"
import * as Follower from "@satrail/chain/Follower"
import * as Progress from "@satrail/chain/Progress"
import * as Keys from "@satrail/chain/Keys"
import * as Scan from "@satrail/chain/Rescan"
import * as Seed from "@satrail/chain/Seed"
import * as Id from "@satrail/core/base/Id"
import type { Fence } from "@satrail/core/ledger/Change"
import * as Cursor from "@satrail/core/ledger/Cursor"
import * as Duty from "@satrail/core/ledger/Duty"
import { Journal } from "@satrail/core/ledger/Journal"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import { fence, type Task, Tasks } from "@satrail/core/ledger/Tasks"
import type { ChainUnavailable } from "@satrail/core/nodes/ChainSource"
import * as Coin from "@satrail/core/nodes/Coin"
import * as KeyRange from "@satrail/core/receiving/KeyRange"
import { Records } from "@satrail/core/service/Records"
import { Clock, Console, Effect, Option } from "effect"
import * as ChainNode from "../deployment/ChainNode.ts"
import * as Environment from "../deployment/Environment.ts"
import { Variables } from "../environment/Unknown.ts"
import * as Server from "../serving/Server.ts"
import { CommandFailed } from "@satrail/http/commands/CommandFailed"
import * as Output from "../client/Output.ts"

const reserved = Effect.fnUntraced(function* (wallet: string) {
  const records = yield* Records
  return yield* Effect.forEach(Scan.branches, ({ type, branch }) =>
    Effect.map(records.nextKey(wallet, type, branch), (next) => ({ type, branch, next }))
  )
})

const lookedUpAtOnce = 500

/** Returns the index after the last receiving key below `next` that the database knows as an address. */
const afterIssued = Effect.fnUntraced(function* (keys: Keys.Keys, type: Scan.Next["type"], next: number) {
  const records = yield* Records
  for (let end = next; end > 0; end -= lookedUpAtOnce) {
    const indexes = Array.from({ length: Math.min(end, lookedUpAtOnce) }, (_, n) => end - 1 - n)
    const issued = yield* records.onChainAddresses(
      indexes.map((index) => keys.key({ type, branch: 0, index }).address.scriptPubKey)
    )
    if (issued.length > 0) return Math.max(...issued.map(({ index }) => index)) + 1
  }
  return 0
})

/**
 * Reserves every key used on the chain, and the receiving keys that may have been issued after the backup and
 * are not paid yet, so that no address is issued to a second company. Their number is unknown. Half the gap is
 * skipped after the last key paid or issued before: a later scan, even one without the database, still finds the keys
 * issued next, unless the last half gap of keys before the skipped ones was never paid.
 */
export const reserve = Effect.fnUntraced(function* (keys: Keys.Keys, found: Scan.Found, gap: number) {
  const [records, journal] = [yield* Records, yield* Journal]
  const wallet = keys.accounts.fingerprint
  for (const { type, branch, next: unused } of found.next) {
    const first = yield* records.nextKey(wallet, type, branch)
    const skipped =
      branch === 0 ? Math.max(unused, yield* afterIssued(keys, type, first)) + Math.ceil(gap / 2) : unused
    const next = Math.max(first, skipped)
    if (next === first) continue
    const id = yield* Id.make
    yield* journal.commit(
      KeyRange.reserved({ id, wallet, type, branch, first, next }, yield* Clock.currentTimeMillis)
    )
  }
})

/**
 * Returns the outpoints of the coins that the database does not know: paid to an address that it did not issue, or the
 * change of a payout that it does not have. The service neither counts nor spends them.
 */
export const unknownOf = Effect.fnUntraced(function* (coins: Scan.Found["coins"]) {
  const records = yield* Records
  const known = new Set<string>()
  const scripts = [
    ...new Set(coins.flatMap(({ branch, scriptPubKey }) => (branch === 0 ? [scriptPubKey] : [])))
  ]
  for (let from = 0; from < scripts.length; from += lookedUpAtOnce) {
    const issued = yield* records.onChainAddresses(scripts.slice(from, from + lookedUpAtOnce))
    for (const { scriptPubKey } of issued) known.add(scriptPubKey)
  }
  const unknown = yield* Effect.filter(coins, ({ branch, outpoint, scriptPubKey }) =>
    branch === 0
      ? Effect.succeed(!known.has(scriptPubKey))
      : Effect.map(records.payoutOf(Coin.txIdOf(outpoint)), Option.isNone)
  )
  return new Set(unknown.map(({ outpoint }) => outpoint))
})

const source = "chain"

/**
 * Fails if the service would start at this height without having read the blocks before it: their deposits
 * would never be credited.
 */
export const refuseGap = Effect.fnUntraced(function* (fromHeight: number, tipHeight: number) {
  const cursor = yield* (yield* LedgerReads).cursor(source)
  const readHeight = Option.isNone(cursor) ? undefined : Follower.heightIn(cursor.value)
  const latest = Math.min(tipHeight, (readHeight ?? tipHeight) + 1)
  if (fromHeight > latest)
    return yield* new CommandFailed({
      message: `--from-height must be at most ${latest}. From a later block, the service would skip blocks that it has not read yet, and never credit their deposits.`
    })
})

/** Time after which the role of following the chain is free again if the command is killed while it holds the role. */
const leaseMillis = 10_000

/**
 * Runs an effect as the process that follows the chain. Fails if another process does, because it would continue from
 * its own position, and overwrite one that was moved.
 */
export const asFollower = Effect.fnUntraced(function* <A, E, R>(
  work: (fence: Fence) => Effect.Effect<A, E, R>
) {
  const [journal, tasks] = [yield* Journal, yield* Tasks]
  const claim = Effect.gen(function* () {
    const nowMillis = yield* Clock.currentTimeMillis
    yield* journal.commit(Duty.started(source, nowMillis))
    const [task] = yield* tasks.claim({ kind: source, nowMillis, leaseMillis, limit: 1 })
    if (task !== undefined) return task
    return yield* new CommandFailed({
      message: "A process still follows the chain. Stop the service, wait ten seconds and try again."
    })
  })
  const release = (task: Task) =>
    Effect.flatMap(Clock.currentTimeMillis, (nowMillis) => Effect.ignore(tasks.postpone(task, nowMillis)))
  return yield* Effect.acquireUseRelease(claim, (task) => work(fence(task)), release)
})

interface Options {
  readonly fromHeight: number
  readonly gap: Option.Option<number>
}

/** Scans the chain from a height for every coin of the wallet, and makes the service rescan from the same height. */
export const rescan = Effect.fnUntraced(function* ({ fromHeight, gap: chosenGap }: Options) {
  const environment = yield* Effect.mapError(
    Effect.fromResult(Environment.read(yield* Variables)),
    Output.failed
  )
  const { chainNode, network } = environment
  if (chainNode === undefined)
    return yield* new CommandFailed({ message: "CHAIN is the sandbox, so there is no chain to scan." })
  const { accounts } = yield* Effect.mapError(
    ChainNode.walletFor(network, chainNode.walletFile),
    Output.failed
  )
  const keys = Keys.make(accounts)
  const gap = Option.getOrElse(chosenGap, () => Scan.usualGap)
  const blocks = chainNode.source.blocks({ network, lastRead: Progress.noneRead })
  const unread = ({ cause }: ChainUnavailable) =>
    new CommandFailed({ message: `The chain cannot be read: ${String(cause)}` })
  const { height: tipHeight } = yield* Effect.mapError(blocks.tip, unread)
  const found = yield* Effect.gen(function* () {
    yield* ChainNode.belongs(accounts.fingerprint)
    yield* asFollower(() => refuseGap(fromHeight, tipHeight))
    const found = yield* Scan.scan(blocks, keys, {
      fromHeight,
      gap,
      reserved: yield* reserved(accounts.fingerprint),
      onProgress: (height, tipHeight) => Console.error(`block ${height} of ${tipHeight}`)
    }).pipe(Effect.catchTag("ChainUnavailable", (error) => Effect.fail(unread(error))))
    yield* reserve(keys, found, gap)
    const unknown = yield* unknownOf(found.coins)
    // At its next start, the service reads the chain from this block again and finds deposits not credited yet.
    const cursor = { source, value: Follower.cursorBefore(fromHeight) }
    const [{ commit }, id, nowMillis] = [yield* Journal, yield* Id.make, yield* Clock.currentTimeMillis]
    yield* asFollower((fence) => commit(Cursor.moved(cursor, id, nowMillis, fence)))
    return { ...found, unknown }
  }).pipe(Effect.provide(Server.storage(environment)), Effect.mapError(Output.failed))
  for (const { outpoint, amount, height, type, branch, index } of found.coins) {
    const place = Seed.written([...Seed.accountPath(type, accounts.network), branch, index])
    const remark = found.unknown.has(outpoint) ? "  not in the database" : ""
    yield* Console.log(`${outpoint}  ${Msat.inSats(Msat.toSats(amount))}  block ${height}  ${place}${remark}`)
  }
  const total = Msat.toSats(Msat.sum(...found.coins.map(({ amount }) => amount)))
  yield* Console.log(
    `${found.coins.length} ${found.coins.length === 1 ? "coin" : "coins"} received from block ${fromHeight} on, ${Msat.inSats(total)}. At its next start, the service reads from block ${fromHeight} again.`
  )
})

import { assert, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Follower from "@satrail/chain/Follower"
import * as Keys from "@satrail/chain/Keys"
import * as Rescan from "@satrail/chain/Rescan"
import * as Seed from "@satrail/chain/Seed"
import * as WalletFile from "@satrail/chain/WalletFile"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import * as Cursor from "@satrail/core/ledger/Cursor"
import * as Duty from "@satrail/core/ledger/Duty"
import { Journal } from "@satrail/core/ledger/Journal"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import { Tasks } from "@satrail/core/ledger/Tasks"
import * as KeyRange from "@satrail/core/receiving/KeyRange"
import * as OnChainAddress from "@satrail/core/receiving/OnChainAddress"
import * as Purpose from "@satrail/core/receiving/Purpose"
import { Records } from "@satrail/core/service/Records"
import * as Memory from "@satrail/service/memory/Memory"
import { Effect, Exit, Layer, Option, Redacted, Result } from "effect"
import { rmSync } from "node:fs"
import path from "node:path"
import { asFollower, refuseGap, reserve, unknownOf } from "../src/commands/Rescan.ts"
import * as Environment from "../src/deployment/Environment.ts"
import * as Server from "../src/serving/Server.ts"
import { run } from "./CommandLine.ts"
import * as Esplora from "./fake/Esplora.ts"
import * as Service from "./Service.ts"

const words = Seed.fromEntropy(new Uint8Array(32).fill(1))
const keys = Keys.make(Keys.accountsOf(words, "regtest"))
const wallet = keys.accounts.fingerprint
const type = "segwit"

/** A database restored with 100 reserved keys of each branch, in which these receiving addresses were issued. */
const restored = Effect.fnUntraced(function* (issued: ReadonlyArray<number>) {
  const { commit } = yield* Journal
  for (const branch of [0, 1] as const) {
    const range = { id: yield* Id.make, wallet, type, branch, first: 0, next: 100 } as const
    yield* commit(KeyRange.reserved(range, 0))
  }
  const companyId = CompanyId.make(yield* Id.make)
  for (const index of issued) {
    const { address, scriptPubKey } = keys.key({ type, branch: 0, index }).address
    const id = yield* Id.make
    const of = { ...Purpose.of({}), metadata: {}, createdAtMillis: 0 }
    yield* commit(
      OnChainAddress.created({ id, companyId, nodeId: wallet, address, scriptPubKey, type, index, ...of })
    )
  }
})

for (const [what, issued, used, next] of [
  ["if one of them was paid", [3], [106, 103], [606, 103]],
  ["if none of them was paid", [94], [95, 90], [595, 100]],
  ["if no address was paid in the blocks read", [3, 97], [0, 0], [598, 100]]
] as const) {
  it.effect(`rescan: addresses issued after the backup are not issued again, ${what}`, () =>
    Effect.gen(function* () {
      const records = yield* Records
      yield* restored(issued)
      const found = {
        coins: [],
        next: used.map((next, at) => ({ type, branch: at === 0 ? 0 : 1, next }) as const)
      }
      // Another rescan skips no more keys.
      for (const _ of [1, 2]) yield* reserve(keys, found, Rescan.usualGap)
      assert.deepStrictEqual(
        [yield* records.nextKey(wallet, type, 0), yield* records.nextKey(wallet, type, 1)],
        [...next]
      )
    }).pipe(Effect.provide(Memory.layer))
  )
}

it.effect(
  "rescan: coins that the restored database does not know are found, because the service neither counts nor spends them",
  () =>
    Effect.gen(function* () {
      yield* restored([3])
      const coin = (branch: 0 | 1, index: number, vout: number) => {
        const { scriptPubKey } = keys.key({ type, branch, index }).address
        return {
          outpoint: `${"ab".repeat(32)}:${vout}`,
          scriptPubKey,
          amount: Msat.fromSats(1000n),
          type,
          branch,
          index,
          isConfirmed: true,
          height: 9
        } as const
      }
      const [known, receiving, change] = [coin(0, 3, 0), coin(0, 4, 1), coin(1, 0, 2)]
      assert.deepStrictEqual(
        [...(yield* unknownOf([known, receiving, change]))],
        [receiving.outpoint, change.outpoint]
      )
    }).pipe(Effect.provide(Memory.layer))
)

it.effect(
  "rescan: a height after the next unread block is refused, because deposits in the blocks between would never be credited",
  () =>
    Effect.gen(function* () {
      const refused = Effect.fnUntraced(function* (fromHeight: number) {
        const exit = yield* Effect.exit(refuseGap(fromHeight, 500))
        return Exit.isSuccess(exit) ? undefined : String(exit.cause)
      })
      assert.isUndefined(yield* refused(500), "nothing was read yet")
      assert.include(yield* refused(501), "--from-height must be at most 500")
      const cursor = { source: "chain", value: Follower.cursorBefore(101) }
      yield* (yield* Journal).commit(Cursor.moved(cursor, yield* Id.make, 0))
      assert.isUndefined(yield* refused(101))
      assert.include(
        yield* refused(102),
        "--from-height must be at most 101. From a later block, the service would skip blocks"
      )
    }).pipe(Effect.provide(Memory.layer))
)

it.effect(
  "rescan: while a process follows the chain, the position is not moved, because that process would move it back",
  () =>
    Effect.gen(function* () {
      const [journal, ledger, tasks] = [yield* Journal, yield* LedgerReads, yield* Tasks]
      const moved = Effect.flatMap(Id.make, (id) =>
        journal.commit(Cursor.moved({ source: "chain", value: "moved" }, id, 0))
      )
      yield* journal.commit(Duty.started("chain", 0))
      const claim = tasks.claim({ kind: "chain", nowMillis: 0, leaseMillis: 6000, limit: 1 })
      const [running] = yield* claim
      assert.include(String(yield* Effect.flip(asFollower(() => moved))), "Stop the service")
      assert.isTrue(Option.isNone(yield* ledger.cursor("chain")))
      yield* tasks.postpone(running ?? assert.fail("not claimed"), 0)
      yield* asFollower(() => moved)
      assert.deepStrictEqual(yield* ledger.cursor("chain"), Option.some("moved"))
      assert.lengthOf(yield* claim, 1, "the service can start immediately")
    }).pipe(Effect.provide(Memory.layer))
)

it.live(
  "rescan: the service starts with the wallet for which an empty database was scanned, and no other wallet can be scanned there",
  () =>
    Effect.gen(function* () {
      const home = yield* Effect.acquireRelease(Effect.sync(Service.directory), (home) =>
        Effect.sync(() => rmSync(home, { recursive: true }))
      )
      const chain = yield* Effect.acquireRelease(
        Effect.promise(() => Esplora.make()),
        ({ close }) => Effect.promise(close)
      )
      const envOf = Effect.fnUntraced(function* (words: Redacted.Redacted, name: string) {
        const walletFile = path.join(home, name)
        yield* WalletFile.write(walletFile, {
          satrailWallet: 1,
          accounts: Keys.accountsOf(words, "regtest"),
          birthdaySeconds: 0,
          seed: null
        })
        const seed = { CHAIN_WALLET: walletFile, CHAIN_SEED: Redacted.value(words) }
        return {
          ...seed,
          CHAIN: "esplora",
          ESPLORA_URL: chain.url,
          SATRAIL_NETWORK: "regtest",
          SATRAIL_DATA: home
        }
      })
      const [env, other] = [
        yield* envOf(words, "own.json"),
        yield* envOf(Seed.fromEntropy(new Uint8Array(32).fill(2)), "other.json")
      ]
      const scan = (env: Record<string, string>) => run("wallet rescan --from-height 0 --gap 1", env)
      const misread = yield* scan({ ...env, SATRAIL_NETWORK: "signet" })
      assert.include(String(misread.exit), "is for regtest, but SATRAIL_NETWORK is signet")
      const scanned = yield* scan(env)
      assert.isTrue(Exit.isSuccess(scanned.exit), scanned.stderr)
      const environment = Result.getOrThrow(Environment.read(env))
      yield* Effect.scoped(
        Layer.build(Layer.provide(Server.outside(environment), Server.storage(environment)))
      )
      const { exit } = yield* scan(other)
      assert.include(
        String(exit),
        `The database belongs to the wallet with fingerprint ${wallet}, but CHAIN selects`
      )
    }).pipe(Effect.scoped)
)

for (const args of ["--from-height=-1", "--from-height 1 --gap 0"]) {
  it.effect(`rescan: ${args} is refused before anything is read`, () =>
    Effect.gen(function* () {
      const { exit, stderr } = yield* run(`wallet rescan ${args}`, { SATRAIL_DATA: "/nowhere" })
      assert.isTrue(Exit.isFailure(exit))
      assert.include(stderr, "Expected a whole number from")
    })
  )
}

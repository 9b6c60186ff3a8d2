import { ChainWallet, Unfundable } from "@satrail/core/nodes/ChainWallet"
import type * as Coin from "@satrail/core/nodes/Coin"
import { Signer, SignerUnavailable } from "@satrail/core/nodes/Signer"
import * as Payout from "@satrail/core/sending/Payout"
import { Effect, HashMap, Option, Result } from "effect"
import * as Chain from "./Chain.ts"
import type { ChainEvent } from "./Event.ts"
import type * as Keys from "./Keys.ts"
import * as Source from "./Source.ts"
import type { World } from "./World.ts"

const given = (wallet: Keys.Wallet, place: Coin.Place): ChainEvent => ({
  _tag: "AddressGiven",
  owner: "wallet",
  type: place.type,
  branch: place.branch,
  index: place.index,
  scriptPubKey: wallet.key(place).address.scriptPubKey
})

/** The operator's wallet. Receiving and change addresses are numbered across types. */
export const make = (world: World): ChainWallet["Service"] => {
  const { wallet } = world.keys
  const reachable = Source.reachable(world)
  return ChainWallet.of({
    get fingerprint() {
      return wallet.fingerprint
    },
    network: world.network,
    placesOf: (scriptPubKeys) =>
      Effect.sync(() => {
        const { owners } = world.state().chain
        return new Map(
          scriptPubKeys.flatMap((script) => {
            const known = Option.getOrUndefined(HashMap.get(owners, script))
            return known?.owner === "wallet"
              ? [[script, { type: known.type, branch: known.branch, index: known.index }] as const]
              : []
          })
        )
      }),
    newAddress: (type) =>
      reachable(
        "newAddress",
        world.commit(
          ({
            chain: {
              next: [index]
            }
          }) => {
            const place: Coin.Place = { type, branch: 0, index }
            const { address, scriptPubKey } = wallet.key(place).address
            return Result.succeed({
              events: [given(wallet, place)],
              answer: () => ({ address, scriptPubKey, index })
            })
          }
        )
      ),
    build: ({ payments, feeRate, free }) =>
      reachable(
        "build",
        Effect.gen(function* () {
          const outputs = yield* Payout.asked(payments)
          const candidates = Chain.coins(world.state().chain, "wallet", true)
          const allowed = yield* free(candidates.map(({ outpoint }) => outpoint))
          return yield* world.commit(({ chain }) => {
            // Read the coins again, because one may have been spent during the call to `free`.
            const coins = Chain.coins(chain, "wallet", true).filter(({ outpoint }) => allowed.has(outpoint))
            const selection = Payout.selectBatch({ coins, outputs, feeRate })
            if ("neededSats" in selection) return Result.fail(new Unfundable(selection))
            const place: Coin.Place = { type: Payout.changeType, branch: 1, index: chain.next[1] }
            const { scriptPubKey } = wallet.key(place).address
            const change = Payout.changeOf(selection, { ...place, wallet: wallet.fingerprint, scriptPubKey })
            const draft = Payout.toDraft(
              Payout.drafted(wallet.keys, selection, outputs, change),
              selection,
              change
            )
            return Result.succeed({
              events: change === null ? [] : [given(wallet, place)],
              answer: () => draft
            })
          })
        })
      )
  })
}

/** The wallet's keys. The draft lists the keys that it requires. */
export const signer = (world: World): Signer["Service"] =>
  Signer.of({
    sign: (psbt) =>
      Effect.try({
        try: () => world.keys.wallet.sign(Payout.fromPsbt(psbt)),
        catch: (cause) => new SignerUnavailable({ cause })
      })
  })

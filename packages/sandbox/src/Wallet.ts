import { ChainWallet, Unfundable } from "@satrail/core/ChainWallet"
import * as Msat from "@satrail/core/Msat"
import { Signer, SignerUnavailable } from "@satrail/core/Signer"
import { Effect, Result } from "effect"
import * as Chain from "./Chain.ts"
import type { ChainEvent } from "./Event.ts"
import type * as Keys from "./Keys.ts"
import * as Payout from "./Payout.ts"
import * as Source from "./Source.ts"
import type { World } from "./World.ts"

const given = (wallet: Keys.Wallet, place: Keys.Place): ChainEvent => ({
  _tag: "AddressGiven",
  owner: "wallet",
  type: place.type,
  branch: place.branch,
  index: place.index,
  scriptPubKey: wallet.key(place).address.scriptPubKey
})

/** Our operator's wallet. Receiving and change addresses are numbered whatever their type. */
export const make = (world: World): ChainWallet["Service"] => {
  const { wallet } = world.keys
  const reachable = Source.reachable(world)
  return ChainWallet.of({
    fingerprint: wallet.fingerprint,
    network: world.network,
    newAddress: (type) =>
      reachable(
        "newAddress",
        world.commit(
          ({
            chain: {
              next: [index]
            }
          }) => {
            const place: Keys.Place = { type, branch: 0, index }
            const { address, scriptPubKey } = wallet.key(place).address
            return Result.succeed({ events: [given(wallet, place)], answer: () => ({ address, scriptPubKey, index }) })
          }
        )
      ),
    build: ({ scriptPubKey, amount, feeRate, feeLimit, free }) =>
      reachable(
        "build",
        Effect.gen(function* () {
          if (amount <= 0n || amount % 1000n !== 0n) return yield* Effect.die(new Error(`No transaction pays ${amount} millisatoshis`))
          const candidates = Chain.coins(world.state().chain, "wallet", true)
          const allowed = yield* free(candidates.map(({ outpoint }) => outpoint))
          const output = { scriptPubKey, sats: Msat.toSats(amount) }
          return yield* world.commit(({ chain }) => {
            // Looked at again: while `free` was asked, a coin may have been spent.
            const coins = Chain.coins(chain, "wallet", true).filter(({ outpoint }) => allowed.has(outpoint))
            const selection = Payout.select({ coins, outputs: [output], feeRate, feeLimitSats: Msat.toSats(feeLimit) })
            if ("neededSats" in selection) return Result.fail(new Unfundable(selection))
            const { coins: spent, feeSats, changeSats } = selection
            const place: Keys.Place = { type: Payout.changeType, branch: 1, index: chain.next[1] }
            const change = changeSats > 0n ? [{ scriptPubKey: wallet.key(place).address.scriptPubKey, sats: changeSats }] : []
            const draft = {
              psbt: Payout.toPsbt(Payout.draft(wallet, spent, [output, ...change])),
              coins: spent.map(({ outpoint }) => outpoint),
              fee: Msat.fromSats(feeSats)
            }
            return Result.succeed({ events: change.length > 0 ? [given(wallet, place)] : [], answer: () => draft })
          })
        })
      )
  })
}

/** The keys of that wallet. What to sign says by itself which of them it takes. */
export const signer = (world: World): Signer["Service"] =>
  Signer.of({
    sign: (psbt) =>
      Effect.try({
        try: () => Payout.sign(Payout.fromPsbt(psbt), [world.keys.wallet]),
        catch: (cause) => new SignerUnavailable({ cause })
      })
  })

import * as ChainSource from "@satrail/contracts/nodes/ChainSource"
import * as ChainWallet from "@satrail/contracts/nodes/ChainWallet"
import * as Signer from "@satrail/contracts/nodes/Signer"
import { Chain } from "@satrail/regtest/Chain"
import * as Real from "@satrail/regtest/Real"
import { Effect, Layer } from "effect"
import { inject } from "vitest"
import * as BitcoinRpc from "../src/BitcoinRpc.ts"
import * as Ours from "./Ours.ts"
import * as Outside from "./Outside.ts"

/** The chain source under test. */
const source = Layer.unwrap(
  Effect.map(Chain, ({ url, certificateFile, user, password }) =>
    BitcoinRpc.layer({
      url,
      certificateFile,
      user,
      password,
      network: "regtest",
      beginning: { height: 440 },
      feeRates: { fallback: 2 }
    })
  )
)

const sourcePeer = Layer.effect(
  ChainSource.Peer,
  Effect.map(Outside.Outside, ({ address, send, sign, mine, reorg, doubleSpend }) => ({
    address,
    send,
    sign,
    mine,
    reorg,
    doubleSpend
  }))
)

const walletPeer = Layer.effect(
  ChainWallet.Peer,
  Effect.flatMap(Outside.Outside, ({ send, ...outside }) =>
    Ours.walletPeer({ ...outside, send: (address, amount) => send([{ address, amount }]) })
  )
)

const node = inject("chain")
const chain = Layer.provideMerge(source, Outside.layer)
const wallet = Layer.provideMerge(walletPeer, Layer.provideMerge(Ours.layer, chain))

Real.onChain("on a real chain", () => {
  ChainSource.suite(`BitcoinRpc, ${node}`, Layer.provideMerge(sourcePeer, chain))
  ChainWallet.suite(`own wallet, ${node}`, wallet)
  Signer.suite(`hot, ${node}`, wallet)
})

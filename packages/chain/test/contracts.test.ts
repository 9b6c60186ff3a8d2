import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import * as Msat from "@satrail/bitcoin/Msat"
import * as ChainSource from "@satrail/contracts/nodes/ChainSource"
import * as ChainWallet from "@satrail/contracts/nodes/ChainWallet"
import * as Signer from "@satrail/contracts/nodes/Signer"
import * as Chain from "@satrail/sandbox/Chain"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Effect, Layer, Option } from "effect"
import { fileURLToPath } from "node:url"
import * as Peers from "../../sandbox/test/Peers.ts"
import * as Esplora from "../src/Esplora.ts"
import * as ExternalSigner from "../src/ExternalSigner.ts"
import * as EsploraServer from "./EsploraServer.ts"
import * as Ours from "./Ours.ts"

const program = fileURLToPath(new URL("signer.ts", import.meta.url))

const sandbox = Sandbox.layer({ seed: "chain", network: "regtest" })

/** The simulated chain, read through Esplora. */
const source = Layer.unwrap(
  Effect.map(EsploraServer.EsploraServer, ({ url }) => Esplora.layer({ url, beginning: { height: 100 } }))
)

const walletPeer = Layer.effect(
  ChainWallet.Peer,
  Effect.gen(function* () {
    const box = yield* Sandbox.Sandbox
    return yield* Ours.walletPeer({
      send: (address, amount) => box.send({ address, amount }),
      mine: box.mine,
      address: Effect.flatMap(box.destination({ type: "chain_address" }), ({ destination }) =>
        Effect.fromResult(BitcoinAddress.decode(destination, "regtest"))
      ),
      feeOf: (txId) =>
        Effect.map(box.state, ({ chain }) =>
          Msat.fromSats(Option.getOrThrow(Option.fromUndefinedOr(Chain.transaction(chain, txId))).feeSats)
        )
    })
  })
)

const served = Layer.provideMerge(EsploraServer.layer, sandbox)
const wallet = Layer.provideMerge(
  walletPeer,
  Layer.provideMerge(Ours.layer, Layer.provideMerge(source, served))
)

// The peer used by the sandbox's own contract test. The sandbox's wallet signs its transactions; only the chain
// source is ours.
ChainSource.suite(
  "Esplora",
  Layer.provideMerge(
    source,
    Layer.provideMerge(EsploraServer.layer, Layer.provideMerge(Peers.layer, sandbox))
  )
)
ChainWallet.suite("own wallet, Esplora", wallet)
Signer.suite("hot, Esplora", wallet)
Signer.suite(
  "in another process, Esplora",
  Layer.provideMerge(ExternalSigner.layer({ command: process.execPath, args: [program] }), wallet)
)

import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as Lnd from "../src/Lnd.ts"
import * as Macaroon from "../src/Macaroon.ts"

// lnd v0.21.2 made both macaroons, on a network that no longer exists.

/** Allows only GetInfo and AddInvoice. */
const baked =
  "0201036c6e640254030a10d5d90ebb4210cb2e7c50130c93b6335b1201301a3c0a03757269121b2f6c6e7270632e4c696768746e696e672f416464496e766f696365" +
  "12182f6c6e7270632e4c696768746e696e672f476574496e666f000006206c11517e85d7ce3c7385de09ccd1adc2b08b4c90b551d4c2e4dc71319716be12"

/** lnd's own admin.macaroon. */
const admin =
  "0201036c6e6402f801030a1093bbacf6fa84a7048e50bc94c63aba1f1201301a160a0761646472657373120472656164120577726974651a130a04696e666f1204726561" +
  "64120577726974651a170a08696e766f69636573120472656164120577726974651a210a086d616361726f6f6e120867656e6572617465120472656164120577726974" +
  "651a160a076d657373616765120472656164120577726974651a170a086f6666636861696e120472656164120577726974651a160a076f6e636861696e12047265616412" +
  "0577726974651a140a057065657273120472656164120577726974651a180a067369676e6572120867656e657261746512047265616400000620acab438df49d28ef6d4c" +
  "ab5e70597aa7f090f17cd7ee014a0e8deee403dbc070"

const granted = (hex: string) => Result.getOrThrow(Macaroon.permissions(hex))

describe("a macaroon", () => {
  it("macaroon: the calls that a macaroon allows are listed", () => {
    assert.deepStrictEqual(granted(baked), [
      { entity: "uri", action: "/lnrpc.Lightning/AddInvoice" },
      { entity: "uri", action: "/lnrpc.Lightning/GetInfo" }
    ])
    assert.deepInclude(granted(admin), { entity: "offchain", action: "write" })
    assert.strictEqual(granted(admin).length, 19)
  })

  it("C52: macaroon: missing and excess permissions are listed", () => {
    assert.deepStrictEqual(
      Macaroon.missing(granted(baked), Lnd.receiverCalls).map(({ uri }) => uri),
      [
        "/lnrpc.Lightning/LookupInvoice",
        "/lnrpc.Lightning/ListInvoices",
        "/lnrpc.Lightning/SubscribeInvoices",
        "/invoicesrpc.Invoices/CancelInvoice"
      ]
    )
    assert.deepStrictEqual(Macaroon.excessive(granted(baked), Lnd.receiverCalls), [])
    assert.deepStrictEqual(Macaroon.excessive(granted(baked), Lnd.senderCalls), [
      "uri:/lnrpc.Lightning/AddInvoice"
    ])
    assert.deepStrictEqual(Macaroon.missing(granted(admin), [...Lnd.receiverCalls, ...Lnd.senderCalls]), [])
    assert.include(Macaroon.excessive(granted(admin), Lnd.receiverCalls), "offchain:write")
  })

  it("macaroon: a truncated or malformed macaroon is rejected", () => {
    const identifierEnds = 2 * (1 + 5 + 2 + 0x54)
    for (let length = 0; length < identifierEnds; length++) {
      assert.isTrue(
        Result.isFailure(Macaroon.permissions(baked.slice(0, length))),
        `${length} characters of it`
      )
    }
    for (const text of [
      "",
      "macaroon",
      "02",
      "0200",
      "01036c6e64",
      "ff".repeat(40),
      `${baked.slice(0, 18)}ff${baked.slice(20)}`
    ]) {
      assert.isTrue(Result.isFailure(Macaroon.permissions(text)), text)
    }
  })
})

import { type Answer, type Asked, json, serve } from "./Http.ts"

/** The header and the transaction of regtest's genesis block. */
const block = Buffer.from(
  "0100000000000000000000000000000000000000000000000000000000000000000000003ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa" +
    "4b1e5e4adae5494dffff7f20020000000101000000010000000000000000000000000000000000000000000000000000000000000000ffffffff4d04ffff001d" +
    "0104455468652054696d65732030332f4a616e2f32303039204368616e63656c6c6f72206f6e206272696e6b206f66207365636f6e64206261696c6f75742066" +
    "6f722062616e6b73ffffffff0100f2052a01000000434104678afdb0fe5548271967f1a67130b7105cd6a828e03909a67962e0ea1f61deb649f6bc3f4cef38c4" +
    "f35504e51ec112de5c384df7ba0b8d578a4c702b6bf11d5fac00000000",
  "hex"
)
export const genesis = "0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206"

const text = (body: string | Buffer): Answer => ({ status: 200, body })

/** An Esplora server for a chain with only the genesis block. `interfere` can override a response. */
export const make = (interfere: (asked: Asked) => Answer | "as usual" = () => "as usual") =>
  serve((asked) => {
    const instead = interfere(asked)
    if (instead !== "as usual") return instead
    switch (asked.path) {
      case "/blocks/tip/hash":
      case "/block-height/0":
        return text(genesis)
      case "/blocks/tip/height":
        return text("0")
      case `/block/${genesis}`:
        return json({ id: genesis, height: 0, timestamp: 1_296_688_602 })
      case `/block/${genesis}/raw`:
        return text(block)
      case "/mempool/txids":
        return json([])
      case "/fee-estimates":
        return json({ "6": 2 })
      default:
        return { status: 404, body: "Transaction not found" }
    }
  })

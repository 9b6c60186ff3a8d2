// A game: players deposit, play for sats, and withdraw. Run it: npm run example -- game
import assert from "node:assert/strict"
import { satrail } from "satrail"

const pay = await satrail.test() // simulated network, in memory
const [game, ann, bob] = await Promise.all(
  ["Game", "Ann", "Bob"].map((name) => pay.companies.create({ name }))
)
assert(game && ann && bob)
const balance = async (player: { readonly id: string }) =>
  (await pay.transactions.balance(player.id)).available.sats

// Each player deposits over Lightning.
for (const company of [ann, bob])
  await pay.outside.pay(await pay.invoices.create({ company, amount: 10_000 }))

// Both pay their stake for round 7. A repeated request is the same transfer.
for (const company of [ann, ann, bob])
  await pay.transfers.create({ company, to: game.id, amount: 1000, idempotencyKey: "round-7" })

// Ann wins, and takes her money to a wallet.
await pay.transfers.create({ company: game, to: ann.id, amount: 1900, description: "You won round 7" })
assert.deepEqual(await Promise.all([game, ann, bob].map(balance)), [100n, 10_900n, 9000n])
await pay.withdrawals.confirm({ company: ann, amount: 5000, destination: "settle@wallet.example" })
console.log(`Ann keeps ${await balance(ann)} sats in the game`)
await pay.close()

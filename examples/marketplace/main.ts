// A marketplace: one payment credits the seller and the market. Run it: npm run example -- marketplace
import assert from "node:assert/strict"
import { satrail } from "satrail"

const pay = await satrail.test() // simulated network, in memory
const market = await pay.companies.create({ name: "Market" })
const ann = await pay.companies.create({ name: "Ann" })
const balances = async () =>
  Promise.all([market, ann].map(async (account) => (await pay.transactions.balance(account)).available.sats))

// 90% of what is received goes to Ann, in the commit that credits it.
const sale = await pay.invoices.create({
  company: market,
  amount: 20_000,
  metadata: { order: "1042" },
  splits: [{ companyId: ann.id, share: "90%" }]
})
await pay.outside.pay(sale) // the simulated customer
assert.deepEqual(await balances(), [2000n, 18_000n])

// Ann sees what she got for which sale, and gives a part back. Only she can.
const [share] = (await pay.transfers.list({ company: ann, direction: "received" })).items
assert(share)
await pay.transfers.return(share.id, { company: ann, amount: 9000 })
assert.deepEqual(await balances(), [11_000n, 9000n])
console.log(`Ann sold for ${share.amount.sats} sats, and returned half`)
await pay.close()

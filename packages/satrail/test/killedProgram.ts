// A shop that killed.slow.test.ts kills repeatedly. It creates and pays its orders, logs their invoices'
// events, and marks the orders paid.
import { appendFileSync } from "node:fs"
import { setImmediate } from "node:timers/promises"
import pg from "pg"
import { satrail, SatrailError } from "../src/index.ts"
import { markPaid } from "./orders.ts"

const [directory = "", database = "", log = "", count = "0"] = process.argv.slice(2)
const pool = new pg.Pool({ connectionString: database, max: 2 })
const pay = await satrail<{ order: string }>({ directory, database })

pay.on(
  ["invoice.created", "invoice.settled"],
  async (event) => {
    await setImmediate()
    appendFileSync(log, `${event.subject} ${event.type}\n`)
  },
  { name: "log" }
)
const marking = markPaid(pay, pool)

const shop = await pay.companies.create({ name: "Shop", idempotencyKey: "shop" })
for (let number = 0; number < Number(count); number++) {
  const order = String(number)
  const invoice = await pay.invoices.create({
    company: shop,
    amount: 1000,
    metadata: { order },
    idempotencyKey: order
  })
  const { status } = await pay.invoices.get(shop.id, invoice.id)
  if (status !== "open") continue
  try {
    await pay.outside.pay(invoice)
  } catch (error) {
    // The order was paid right before the process was killed, or the previous process still holds its lease.
    // The payment is credited later.
    const { code, message } = error instanceof SatrailError ? error : { code: "", message: "" }
    if (code !== "not_credited" && !(code === "sandbox_refused" && message.includes("paid"))) throw error
  }
}

process.once("SIGTERM", async () => {
  await pay.close()
  await marking
  await pool.end()
})

import type { Kind } from "../Choices.ts"

// The project's payment code, which is the same for every framework.

interface Part {
  /** Code that finds or creates the company that receives payments. */
  readonly accounts: string
  /** The event handlers and the function `checkout`. */
  readonly body: string
  /** Code that runs after the sandbox has paid. */
  readonly inSandbox?: string
}

const single = (name: string): string => `  const { items } = await pay.companies.list({ limit: 1000 })
  const company = items.find(({ name }) => name === "${name}") ?? (await pay.companies.create({ name: "${name}" }))`

const part: { readonly [kind in Kind]: Part } = {
  shop: {
    accounts: single("Shop"),
    body: `  const told = (late: boolean) => (late ? "was paid late. Ship or refund it." : "is paid. Ship it.")
  pay.on("checkout.paid", ({ data }) => console.log(\`Order \${data.orderId} \${told(data.late)}\`), { name: "shipping" })

  /** Creates an order and its payment page. */
  const checkout = () =>
    pay.checkouts.create({ company: company.id, amount: "12.50 eur", description: "Two coffees", orderId: crypto.randomUUID() })`
  },
  wallet: {
    accounts: `  // Each user has their own account. Store its id with your user. This example finds it by name.
  const { items } = await pay.companies.list({ limit: 1000 })
  const accountOf = async (name: string) =>
    items.find((company) => company.name === name) ?? (await pay.companies.create({ name, plan: "paid" }))
  const [ann, bob] = [await accountOf("ann"), await accountOf("bob")]`,
    body: `  /** Returns the Lightning address at which other users and outside wallets can pay an account: the one with its name. */
  const addressOf = async ({ id, name }: typeof ann) => {
    const { items } = await pay.lightningAddresses.list(id, { limit: 1000 }) // deleted addresses are included
    const own = items.find(({ handle, deletedAt }) => handle === name && deletedAt === null)
    return (own ?? (await pay.lightningAddresses.create({ company: id, handle: name }))).address
  }

  /** Pays another user (free and immediate) or an outside payee. With the idempotency key, a repeated click pays only once. */
  const send = (from: typeof ann, destination: string, amount: number, idempotencyKey: string) =>
    pay.withdrawals.confirm({ company: from.id, amount, destination, idempotencyKey })

  pay.on(
    "deposit.settled",
    async ({ company, data }) => {
      const { available } = await pay.transactions.balance(company)
      console.log(\`Received \${data.amount.sats} sats. The balance of \${company} is \${available.sats} sats.\`)
    },
    { name: "received" }
  )
  pay.on("withdrawal.settled", ({ data }) => console.log(\`Sent \${data.amount.sats} sats to \${data.recipient}.\`), { name: "sent" })
  pay.on("withdrawal.failed", ({ data }) => console.log(\`Could not pay \${data.recipient}. The money is available again.\`), { name: "failed" })

  /** Creates a payment page for topping up Ann's account. */
  const checkout = () => pay.checkouts.create({ company: ann.id, amount: 21_000, description: "Top up" })`,
    inSandbox: `  await send(ann, await addressOf(bob), 1_000, crypto.randomUUID())
  await send(ann, "settle@wallet.example", 500, crypto.randomUUID())
`
  },
  payouts: {
    accounts: single("Payroll"),
    body: `  // In the sandbox, the first payee can be paid, and there is no route to the second.
  const people = ["settle@wallet.example", "no-route@wallet.example"]

  // Pays everyone as soon as the account is funded. With the idempotency key, a repeated event pays only once.
  pay.on(
    "deposit.settled",
    async ({ id }) => {
      for (const destination of people)
        await pay.withdrawals.confirm({ company: company.id, amount: 1_000, destination, idempotencyKey: \`\${id}-\${destination}\` })
    },
    { name: "payouts" }
  )
  pay.on("withdrawal.settled", ({ data }) => console.log(\`Paid \${data.amount.sats} sats to \${data.recipient}.\`), { name: "paid" })
  pay.on("withdrawal.failed", ({ data }) => console.log(\`Could not pay \${data.recipient}. The money is available again.\`), { name: "failed" })

  /** Creates a payment page for funding the account. */
  const checkout = () => pay.checkouts.create({ company: company.id, amount: 5_000, description: "Funds for payouts" })`
  },
  bare: {
    accounts: single("Me"),
    body: `  pay.on("deposit.settled", ({ data }) => console.log(\`Received \${data.amount.sats} sats.\`), { name: "received" })

  /** Creates a payment page. */
  const checkout = () => pay.checkouts.create({ company: company.id, amount: 1_000, description: "A payment" })`
  }
}

/** Returns the module that starts the service. */
export const pay = (kind: Kind): string => `import { satrail } from "satrail"

const open = async () => {
  // Simulates the Lightning network and the chain until you pass \`lightning\` and \`chain\`.
  // Behind a reverse proxy, pass \`proxies: 1\`.
  const pay = await satrail({ database: process.env.DATABASE_URL })
${part[kind].accounts}

${part[kind].body}

  // The sandbox's outside wallet pays one checkout. When you pass \`lightning\`, delete everything from here to \`return\`.
  console.log("At each start, the sandbox pays one checkout:")
  await pay.outside.pay(await checkout())
${part[kind].inSandbox ?? ""}  return { pay, checkout }
}

// One instance per process, even if a development server reloads this module.
const kept: typeof globalThis & { satrail?: ReturnType<typeof open> } = globalThis
export const service = () => (kept.satrail ??= open())
`

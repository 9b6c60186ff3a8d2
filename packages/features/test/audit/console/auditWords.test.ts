import { assert, it } from "@effect/vitest"

const file = new URL("../../../src/audit/console/Audit.ts", import.meta.url).href

it("console: the audit log describes each operation in words, and a rejected read as a read", async () => {
  const { verbWords } = await import(file)
  const words = {
    "receive.createInvoice": "Created invoice",
    "apiKeys.createApiKey": "Created API key",
    "webhooks.resendWebhookDelivery": "Resent webhook delivery",
    "send.confirm": "Sent a payment",
    "send.confirmSend": "Sent a payment",
    "read.deposit": "Read deposit",
    "read.balance": "Read balance",
    "companies.companyTransactions": "Read transactions",
    "companies.companyListInvoices": "Listed invoices",
    "checkouts.getCheckout": "Read checkout",
    "events.streamEvents": "Read events",
    "sandbox.pay": "Paid",
    "sandbox.beginFault": "Began fault",
    "sandbox.destination": "Created a simulated payee",
    CompanyOpened: "Opened the account"
  }
  assert.deepStrictEqual(Object.fromEntries(Object.keys(words).map((verb) => [verb, verbWords(verb)])), words)
})

it("console: the audit log names a passkey without its id and key", async () => {
  const { columns } = await import(file)
  const passkey = { id: "AQxyz", name: "laptop", publicKey: "pQECAyYg", createdAtMillis: 0 }
  const entry = {
    outcome: "done",
    changes: [{ field: "passkeys", before: "[]", after: JSON.stringify([passkey]) }]
  }
  const cells: ReadonlyArray<{ readonly title: string; readonly cell: (row: unknown) => unknown }> = columns(
    { say: {} },
    () => ""
  )
  const shown = JSON.stringify(cells.find(({ title }) => title === "Before → after")?.cell(entry))
  for (const secret of [passkey.id, passkey.publicKey]) assert.notInclude(shown, secret)
  assert.include(shown, "laptop")
})

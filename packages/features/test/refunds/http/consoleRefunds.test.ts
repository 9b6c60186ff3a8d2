import { afterAll, assert, it } from "@effect/vitest"
import { operatorToken, start } from "../../../../http/test/Service.ts"

const service = await start({ http: { console: true } })
afterAll(service.dispose)
const { key } = await service.company()
const cookie = await service.signIn(key)
const page = (path: string) => service.page(cookie, `console/${path}`)
const post = async (path: string, body: object) => {
  const answer = await service.ask("POST", `/v1/${path}`, { key, body })
  assert.oneOf(answer.status, [200, 201], answer.text)
  return answer.body.data
}

it("console: a payment's page lists its refunds with their status, and no refund of another payment", async () => {
  for (let n = 0; n < 3; n++) await service.fund(key, 100_000)
  const deposits = (await service.ask("GET", "/v1/transactions?type=deposit", { key })).body.data
  const [first, second, third] = deposits.map(({ id }: { readonly id: string }) => id)
  const refund = (deposit_id: string, amount: number, more: object = {}) =>
    post("refunds", { deposit_id, amount, currency: "sats", ...more })
  await refund(first, 1001)
  const canceled = await refund(first, 1002)
  await post(`refunds/${canceled.id}/cancel`, {})
  const { destination } = await service.sandbox((sandbox) =>
    sandbox.destination({ type: "lightning_address" })
  )
  await refund(first, 1003, { destination })
  await refund(second, 1004)
  const listed = async (deposit: string) => {
    const text = await page(`payments/in/${deposit}`)
    const [, list = ""] = /<section[^>]*aria-label="Refunds"[^>]*>(.*?)<\/section>/s.exec(text) ?? []
    return [...list.matchAll(/<tr.*?<\/tr>/gs)].slice(1).map(([row]) => {
      const [, status] = /class="st [^>]*>([^<]*)</.exec(row) ?? []
      const [amount] = /1,00\d/.exec(row) ?? []
      return [amount, status]
    })
  }
  const ofFirst = [
    ["1,003", "On its way"],
    ["1,002", "Canceled, returned"],
    ["1,001", "Not claimed yet"]
  ]
  assert.deepStrictEqual(await listed(first), ofFirst)
  assert.deepStrictEqual(await listed(second), [["1,004", "Not claimed yet"]])
  assert.deepStrictEqual(await listed(third), [])
  assert.notInclude(await page(`payments/in/${first}`), "all refunds")
  // More than a page of the list of all refunds.
  for (let n = 0; n < 100; n++) await refund(third, 1)
  assert.deepStrictEqual(await listed(first), ofFirst)
})

it("console: vouchers and refunds have their own entries in the navigation, and neither page needs the other feature", async () => {
  for (const [path, other] of [
    ["vouchers", "refunds"],
    ["refunds", "vouchers"]
  ] as const) {
    const [, menu = "", main = ""] = /<nav(.*?)<main(.*?)<\/main>/s.exec(await page(path)) ?? []
    const current = [...menu.matchAll(/<a [^>]*href="([^"]*)"[^>]*aria-current="page"/g)].map(([, href]) =>
      href?.split("/").at(-1)
    )
    assert.deepStrictEqual(current, [path])
    assert.notMatch(main, new RegExp(`href="[^"]*${other}"`))
  }
})

it("console: a refund is listed with the order that it refunds, or the description, in both lists and their exports", async () => {
  await service.fund(key, 100_000)
  const { destination } = await service.sandbox((sandbox) =>
    sandbox.destination({ type: "lightning_address" })
  )
  for (const more of [{ order_id: "1042", description: "two cups" }, { description: "three plates" }]) {
    const { id, payment_request: paymentRequest } = await post("checkouts", {
      amount: 2000,
      currency: "sats",
      ...more
    })
    await service.sandbox((sandbox) => sandbox.pay({ paymentRequest }))
    await service.work()
    await post("refunds", { checkout_id: id, amount: 700, currency: "sats", destination })
  }
  await service.work()
  const titles = async (path: string) =>
    [
      ...(await page(path)).matchAll(/class="row"[^>]*>([^<]*)<\/a> (?:<span class="soft desc">([^<]*)<)?/g)
    ].map(([, row, more]) => [row, more])
  const payments = await titles("payments?type=withdrawal")
  assert.deepStrictEqual(payments.slice(0, 2), [
    ["Refund: three plates", destination],
    ["Refund of order 1042", "two cups"]
  ])
  const refunds = await titles("refunds")
  assert.deepStrictEqual(refunds.slice(0, 2), [
    ["Refund", "three plates"],
    ["Refund", "Order 1042"]
  ])
  assert.match(await page("payments/export?type=withdrawal"), /,two cups,lightning,settled,-700,[^,]*,1042,/)
  assert.match(await page("refunds/export"), /,700,.*,1042\r\n/)
})

it("console: the export of payments has the id of the checkout that each payment paid", async () => {
  const { id, payment_request: paymentRequest } = await post("checkouts", {
    amount: 2100,
    currency: "sats",
    order_id: "1043"
  })
  await service.sandbox((sandbox) => sandbox.pay({ paymentRequest }))
  await service.work()
  const [head, line] = (await page("payments/export?type=deposit")).split("\r\n")
  assert.match(head ?? "", /,order_id,checkout_id,recipient,/)
  assert.include(line, `,1043,${id},`)
})

it("console: a refund that awaits approval says so in the lists and on its page, and its rejection shows no fee", async () => {
  const body = { approval_above_sats: 2000 }
  const { id: companyId, key: sender } = await service.company()
  const set = await service.ask("PUT", `/operator/companies/${companyId}/limits`, {
    key: operatorToken,
    body
  })
  assert.strictEqual(set.status, 200, set.text)
  await service.fund(sender, 50_000)
  const [{ id: deposit_id }] = (await service.ask("GET", "/v1/transactions?type=deposit", { key: sender }))
    .body.data
  const { destination } = await service.sandbox((sandbox) =>
    sandbox.destination({ type: "lightning_address" })
  )
  const asked = { deposit_id, amount: 3000, currency: "sats" }
  const linked = await service.ask("POST", "/v1/refunds", { key: sender, body: asked })
  assert.match(linked.body.message ?? "", /cannot await approval.*destination/)
  const { id, withdrawal_id } = (
    await service.ask("POST", "/v1/refunds", { key: sender, body: { ...asked, destination } })
  ).body.data
  const as = await service.signIn(sender)
  const shown = (path: string) => service.page(as, `console/${path}`)
  for (const path of ["refunds", `refunds/${id}`, `payments/in/${deposit_id}`]) {
    const text = await shown(path)
    assert.include(text, "Needs approval", path)
    assert.notInclude(text, "On its way", path)
  }
  assert.match(await shown(`payments/out/${withdrawal_id}`), /<dt>Fee<\/dt><dd>[\d.]+ sats/)
  await service.ask("POST", `/v1/transactions/withdrawals/${withdrawal_id}/reject`, { key: sender })
  assert.match(await shown(`payments/out/${withdrawal_id}`), /<dt>Fee<\/dt><dd>None/)
})

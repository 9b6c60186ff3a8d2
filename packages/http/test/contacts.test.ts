import { afterAll, assert, describe, it } from "@effect/vitest"
import { NounReads } from "@satrail/core/ledger/NounReads"
import * as Memory from "@satrail/memory/Memory"
import { Context, Effect, Layer, Option } from "effect"
import { bad, seen, start } from "./Service.ts"

const service = await start()
afterAll(service.dispose)
const path = "/v1/contacts"
const { key, id: companyId } = await service.company()
const body = { name: "Beans Ltd", destination: "lightning:Satoshi@Wallet.example", metadata: { shelf: "3" } }
const ask = (method: string, path: string, body?: unknown) => service.ask(method, path, { key, ...(body !== undefined && { body }) })
const create = async (fields: object = {}) => {
  const answer = await ask("POST", path, { ...body, ...fields })
  assert.strictEqual(answer.status, 201, answer.text)
  return answer.body.data
}

describe("A contact", () => {
  it("contact: keeps the destination as it was understood, for every way of writing it", async () => {
    const { id, created_at, updated_at, ...rest } = await create()
    assert.deepStrictEqual(rest, {
      name: "Beans Ltd",
      destination: "satoshi@wallet.example",
      recipient_type: "lightning_address",
      status: "active",
      metadata: { shelf: "3" }
    })
    assert.strictEqual(created_at, updated_at)
    assert.deepStrictEqual((await ask("GET", `${path}/${id.toUpperCase()}`)).body.data, { id, created_at, updated_at, ...rest })
    assert.deepStrictEqual((await create({ metadata: null })).metadata, {})
  })

  it("contact: archived and restored, any number of times; again changes nothing", async () => {
    const { id } = await create()
    for (let round = 0; round < 2; round++) {
      for (const [word, status] of [
        ["archive", "archived"],
        ["restore", "active"]
      ] as const) {
        const first = await ask("POST", `${path}/${id}/${word}`)
        assert.deepStrictEqual([first.status, first.body.data.status], [200, status])
        assert.deepStrictEqual((await ask("POST", `${path}/${id}/${word}`)).text, first.text)
        assert.deepStrictEqual((await ask("GET", `${path}/${id}`)).body.data, first.body.data)
      }
    }
  })

  it("contact: archived by eight requests at once it is archived once", async () => {
    const { id } = await create()
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask("POST", `${path}/${id}/archive`)))
    for (const { status, text } of answers) assert.deepStrictEqual([status, text], [200, answers[0]?.text])
  })

  it("contact: where others move it meanwhile, each time that it is read, it is a conflict, and stays as it is", async () => {
    let isBehind = false
    const behind = Layer.effectContext(
      Effect.map(Effect.context<Layer.Success<typeof Memory.layer>>(), (context) => {
        const reads = Context.get(context, NounReads)
        return Context.add(context, NounReads, {
          ...reads,
          get: (noun, companyId, id) =>
            Effect.map(
              reads.get(noun, companyId, id),
              Option.map((row) => (isBehind ? { ...row, revision: 0 } : row))
            )
        })
      })
    ).pipe(Layer.provide(Memory.layer))
    const crowded = await start({ storage: behind })
    const { key } = await crowded.company()
    const { id } = (await crowded.ask("POST", path, { key, body })).body.data
    for (const word of ["archive", "restore"]) await crowded.ask("POST", `${path}/${id}/${word}`, { key })
    isBehind = true
    assert.deepStrictEqual(seen(await crowded.ask("POST", `${path}/${id}/archive`, { key })), bad(409, "conflict"))
    isBehind = false
    assert.strictEqual((await crowded.ask("GET", `${path}/${id}`, { key })).body.data.status, "active")
    await crowded.dispose()
  })

  it("contact: what cannot be paid again is refused, and names the member", async () => {
    const { payment_request } = (await ask("POST", "/v1/bitcoin/deposit/lightning-invoice", { amount: 1, currency: "sats" })).body.data
    const wrong: ReadonlyArray<readonly [fields: object, member: string]> = [
      [{ destination: payment_request }, "destination"],
      [{ destination: "bitcoin:bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080?amount=0.5" }, "destination"],
      [{ destination: "nobody" }, "destination"],
      [{ destination: "" }, "destination"],
      [{ name: "  " }, "name"],
      [{ name: "x".repeat(201) }, "name"],
      [{ metadata: { a: 1 } }, "metadata.a"],
      [{ colour: "red" }, "colour"]
    ]
    const before = (await ask("GET", path)).text
    for (const [fields, member] of wrong) {
      const answer = await ask("POST", path, { ...body, ...fields })
      assert.deepStrictEqual(seen(answer), bad(400, "malformed"), answer.text)
      assert.deepStrictEqual(
        answer.body.error?.issues?.map(({ path }) => path),
        [member]
      )
    }
    const other = await ask("POST", path, { ...body, destination: "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4" })
    assert.deepStrictEqual(seen(other), bad(422, "wrong_network"))
    assert.strictEqual((await ask("GET", path)).text, before)
  })

  it("contact: created once for an idempotency key", async () => {
    const headers = { "idempotency-key": "one-contact" }
    const again = () => service.ask("POST", path, { key, body, headers })
    const first = await again()
    const second = await again()
    assert.deepStrictEqual([second.text, second.headers.get("idempotency-replayed")], [first.text, "true"])
    const another = await service.ask("POST", path, { key, body: { ...body, name: "Another" }, headers })
    assert.deepStrictEqual(seen(another), bad(422, "idempotency_mismatch"))
  })

  it("contact: written with the scope send, read with read, and another company's is not found", async () => {
    const { id } = await create()
    const [reader, sender] = [await service.keyFor(companyId, "read"), await service.keyFor(companyId, "send")]
    const other = await service.company()
    for (const [method, place] of [
      ["POST", path],
      ["POST", `${path}/${id}/archive`],
      ["POST", `${path}/${id}/restore`]
    ] as const)
      assert.deepStrictEqual(seen(await service.ask(method, place, { key: reader, body })), bad(403, "scope_required"))
    assert.strictEqual((await service.ask("POST", `${path}/${id}/archive`, { key: sender })).status, 200)
    for (const [method, place] of [
      ["GET", `${path}/${id}`],
      ["POST", `${path}/${id}/archive`],
      ["POST", `${path}/${id}/restore`]
    ] as const)
      assert.deepStrictEqual(seen(await service.ask(method, place, { key: other.key })), bad(404, "not_found"))
    assert.deepStrictEqual((await service.ask("GET", path, { key: other.key })).body.data, [])
  })
})

describe("The list of contacts", () => {
  it("contacts: listed newest first, each once, page by page, archived ones too", async () => {
    const company = await service.company()
    const made: Array<string> = []
    for (let n = 0; n < 5; n++) made.push((await service.ask("POST", path, { key: company.key, body })).body.data.id)
    await service.ask("POST", `${path}/${made[2]}/archive`, { key: company.key })
    const ids: Array<string> = []
    for (let next: string | undefined = `${path}?limit=2`; next !== undefined;) {
      const { body, headers } = await service.ask("GET", next, { key: company.key })
      ids.push(...body.data.map(({ id }: { readonly id: string }) => id))
      next = /<([^>]*)>; rel="next"/.exec(headers.get("link") ?? "")?.[1]
    }
    // In one millisecond they are in the order of their ids.
    assert.deepStrictEqual(ids, made.toSorted().toReversed())
    for (const limit of ["0", "1001", "x"])
      assert.deepStrictEqual(seen(await service.ask("GET", `${path}?limit=${limit}`, { key: company.key })), bad(400, "malformed"))
  })
})

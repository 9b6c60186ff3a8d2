import { afterAll, assert, describe, it } from "@effect/vitest"
import { link } from "../../../src/audit/core/AuditLog.ts"
import { verify } from "../../../src/audit/core/AuditVerification.ts"
import { Context, Effect } from "effect"
import * as Acting from "@satrail/http/edge/Acting"
import { attemptsPerMinute } from "../../../src/people/http/PasskeySession.ts"
import * as Authenticator from "./Authenticator.ts"
import {
  type Answer,
  bad,
  cookieIn,
  fromConsole,
  nextMillisecond,
  operatorToken,
  seen,
  start,
  stillTime
} from "../../../../http/test/Service.ts"

const service = await start({
  http: { console: true },
  instead: Context.make(Acting.Proxies, 1)
})
afterAll(service.dispose)

let address = 0
const elsewhere = () => ({ "x-forwarded-for": `198.51.${Math.floor(++address / 250)}.${address % 250}` })

/** A request from the console's page. */
const page = async (
  method: string,
  path: string,
  body?: unknown,
  cookie = "",
  headers: Record<string, string> = fromConsole
) => {
  await nextMillisecond()
  return service.ask(method, path, {
    headers: { ...elsewhere(), ...headers, ...(cookie !== "" && { cookie }) },
    ...(body !== undefined && { body })
  })
}
const passkeys = (path: string, body: unknown, cookie?: string) =>
  page("POST", `/console/passkeys${path}`, body, cookie)
const operate = (method: string, path: string, body?: unknown) =>
  service.ask(method, `/operator/people${path}`, { key: operatorToken, ...(body !== undefined && { body }) })

const textIn = (answer: Answer): string =>
  /#join=(inv_\S+)$/.exec(answer.body.data.link)?.[1] ?? assert.fail(answer.text)

const join = async (
  invitation: string,
  device = Authenticator.make(),
  options: Authenticator.Options = {}
) => {
  const asked = await passkeys("/challenge", { for: "join", invitation })
  if (asked.status !== 200) return { answer: asked, device }
  const passkey = device.create(asked.body.data.challenge, options)
  return { answer: await passkeys("/join", { invitation, name: "laptop", passkey }), device }
}

/** A signed-in person from this company (or the operator). */
const member = async (company_id: string | null, role = "admin") => {
  const invited = await operate("POST", "", { company_id, name: `a ${role}`, role })
  const { answer, device } = await join(textIn(invited))
  assert.strictEqual(answer.status, 200, answer.text)
  return { id: invited.body.data.id as string, device, cookie: cookieIn(answer) }
}
type Member = Awaited<ReturnType<typeof member>>

const challengeFor = async (purpose: string, cookie?: string): Promise<string> =>
  (await passkeys("/challenge", { for: purpose }, cookie)).body.data.challenge
const signIn = async ({ id, device }: Pick<Member, "id" | "device">, options: Authenticator.Options = {}) =>
  passkeys("/sign-in", { passkey: device.sign(await challengeFor("sign-in"), id, options) })
const stepUp = async ({ id, device, cookie }: Member, options: Authenticator.Options = {}) =>
  passkeys("/step-up", { passkey: device.sign(await challengeFor("step-up", cookie), id, options) }, cookie)

const refused = bad(401, "unauthorized")
const balance = "/v1/transactions/balance"

describe("people who sign in with a passkey", () => {
  it("people: an invited person adds a passkey and signs in with it, and their role determines the session's access", async () => {
    const { id: company } = await service.company()
    const who = await member(company, "viewer")
    assert.strictEqual((await page("GET", balance, undefined, who.cookie)).status, 200)
    const answer = await signIn(who)
    assert.deepInclude(answer.body.data, {
      kind: "company",
      company_id: company,
      name: "a viewer",
      scopes: ["read"]
    })
    assert.deepStrictEqual(
      [
        answer.body.data.person.role,
        answer.body.data.person.passkeys.length,
        answer.body.data.stepped_up_until
      ],
      ["viewer", 1, null]
    )
    assert.match(
      answer.headers.get("set-cookie") ?? "",
      /^__Host-satrail=p\.[\w.-]+; Path=\/; Max-Age=43200; Secure; HttpOnly; SameSite=Lax$/
    )
    const cookie = cookieIn(answer)
    assert.strictEqual((await page("GET", "/v1/account", undefined, cookie)).status, 200)
    assert.isNotNull((await stepUp({ ...who, cookie })).body.data.stepped_up_until)
    assert.deepStrictEqual(
      seen(await page("POST", "/v1/people", { name: "x", role: "viewer" }, cookie)),
      bad(403, "scope_required")
    )
    assert.deepStrictEqual(seen(await page("GET", "/operator/companies", undefined, cookie)), refused)
  })

  it("people: a signed-in operator can use the operator routes but not a company's routes", async () => {
    const who = await member(null, "operator")
    assert.strictEqual((await page("GET", "/operator/companies", undefined, who.cookie)).status, 200)
    assert.deepStrictEqual(seen(await page("GET", balance, undefined, who.cookie)), refused)
    const open = () => page("POST", "/operator/companies", { name: "New", plan: "free" }, who.cookie)
    assert.deepStrictEqual(seen(await open()), bad(403, "step_up_required"))
    assert.strictEqual((await stepUp(who)).status, 200)
    assert.strictEqual((await open()).status, 201)
    const people = () => page("POST", "/operator/people", { name: "Eve", role: "admin" }, who.cookie)
    assert.deepStrictEqual(seen(await people()), bad(403, "scope_required"))
  })

  it("people: a signature is rejected if it is for another origin or site, if the device did not verify its owner, or if the counter is not new", async () => {
    const { id: company } = await service.company()
    const who = await member(company)
    for (const options of [
      { origin: "https://evil.example" },
      { rpId: "evil.example" },
      { flags: 0 },
      { flags: Authenticator.present }
    ] satisfies Array<Authenticator.Options>) {
      assert.deepStrictEqual(seen(await signIn(who, options)), refused, JSON.stringify(options))
      const invited = textIn(await operate("POST", "", { company_id: company, name: "x", role: "viewer" }))
      assert.deepStrictEqual(
        seen((await join(invited, undefined, options)).answer),
        refused,
        JSON.stringify(options)
      )
    }
    assert.strictEqual((await signIn(who, { counter: 7 })).status, 200)
    for (const counter of [0, 6, 7])
      assert.deepStrictEqual(seen(await signIn(who, { counter })), refused, `${counter}`)
    assert.strictEqual((await signIn(who, { counter: 8 })).status, 200)
  })

  it("people: a signature is accepted once, and a challenge is valid only for its purpose and session", async () => {
    const who = await member((await service.company()).id)
    const passkey = who.device.sign(await challengeFor("sign-in"), who.id)
    const older = who.device.sign(await challengeFor("sign-in"), who.id)
    assert.strictEqual((await passkeys("/sign-in", { passkey: older })).status, 200)
    for (const again of [older, passkey])
      assert.deepStrictEqual(seen(await passkeys("/sign-in", { passkey: again })), refused)
    const forSignIn = who.device.sign(await challengeFor("sign-in"), who.id)
    assert.deepStrictEqual(seen(await passkeys("/step-up", { passkey: forSignIn }, who.cookie)), refused)
    const other = cookieIn(await signIn(who))
    const forOther = who.device.sign(await challengeFor("step-up", other), who.id)
    assert.deepStrictEqual(seen(await passkeys("/step-up", { passkey: forOther }, who.cookie)), refused)
    const made = who.device.sign(Buffer.from("a challenge of their own").toString("base64url"), who.id)
    assert.deepStrictEqual(seen(await passkeys("/sign-in", { passkey: made })), refused)
  })

  it("people: an unknown person, an unknown passkey and a wrong signature return the same response", async () => {
    const who = await member((await service.company()).id)
    const stranger = Authenticator.make()
    const texts = await Promise.all([
      signIn({ id: "01900000-0000-7000-8000-000000000000", device: stranger }),
      signIn({ id: who.id, device: stranger }),
      signIn({
        id: who.id,
        device: { ...stranger, sign: (...given) => ({ ...stranger.sign(...given), id: who.device.id }) }
      })
    ])
    const shown = texts.map(({ status, body, headers }) => [
      status,
      body.message,
      body.error?.code,
      headers.get("set-cookie")
    ])
    assert.deepStrictEqual(shown, [shown[0], shown[0], shown[0]])
    assert.strictEqual(shown[0]?.[0], 401)
  })

  it("people: a stolen invitation works only on the first device that uses it, and an administrator can lock that device out", async () => {
    const { id: company } = await service.company()
    const admin = await member(company)
    await stepUp(admin)
    const invited = await page("POST", "/v1/people", { name: "Mara K.", role: "bookkeeper" }, admin.cookie)
    const [one, other] = await Promise.all([join(textIn(invited)), join(textIn(invited))])
    assert.deepStrictEqual(
      [one.answer.status, other.answer.status].filter((status) => status === 200).length,
      1
    )
    const thief = cookieIn(one.answer.status === 200 ? one.answer : other.answer)
    assert.strictEqual((await page("GET", balance, undefined, thief)).status, 200)
    const recovered = await page(
      "POST",
      `/v1/people/${invited.body.data.id}/recover`,
      undefined,
      admin.cookie
    )
    assert.deepStrictEqual(seen(await page("GET", balance, undefined, thief)), refused)
    assert.strictEqual((await join(textIn(recovered))).answer.status, 200)
  })

  it("people: a stolen session cannot move money, invite people or add a passkey, and removing the person ends the session", async () => {
    const { id: company, key } = await service.company()
    const { cookie, id } = await member(company)
    await service.fund(key, 10_000)
    const invoice = await service.ask("POST", "/v1/bitcoin/deposit/lightning-invoice", {
      key,
      body: { amount: 10, currency: "sats" }
    })
    for (const [method, path, body] of [
      ["POST", "/v1/bitcoin/withdraw/confirm", { destination: invoice.body.data.payment_request }],
      ["POST", "/v1/people", { name: "Eve", role: "viewer" }],
      ["POST", `/v1/people/${id}/recover`, undefined],
      ["POST", "/v1/api-keys", { name: "Eve", scopes: ["read"] }]
    ] as const)
      assert.deepStrictEqual(seen(await page(method, path, body, cookie)), bad(403, "step_up_required"), path)
    const asked = await passkeys("/challenge", { for: "add" }, cookie)
    const passkey = Authenticator.make().create(asked.body.data.challenge)
    assert.deepStrictEqual(
      seen(await passkeys("", { name: "Eve", passkey }, cookie)),
      bad(403, "step_up_required")
    )
    assert.strictEqual((await operate("DELETE", `/${id}`)).status, 200)
    assert.deepStrictEqual(seen(await page("GET", balance, undefined, cookie)), refused)
  })

  it("people: the operator's page of a company shows its people, however many others were removed since", async () => {
    const { id: company } = await service.company()
    const who = await member(company)
    for (let n = 0; n < 100; n++) {
      const { id } = (await operate("POST", "", { company_id: company, name: "gone", role: "viewer" })).body
        .data
      await operate("DELETE", `/${id}`)
    }
    const { cookie } = await member(null)
    assert.include(
      (await page("GET", `/operator/console/companies/${company}`, undefined, cookie)).text,
      `people/${who.id}`
    )
  })

  it("people: a person can sign in with a second device; revoking a device ends all of the person's sessions and the device's access", async () => {
    const who = await member((await service.company()).id)
    await stepUp(who)
    const shown = async () => (await page("GET", "/console/people", undefined, who.cookie)).text
    const [only, several] = [
      "This is your only passkey. Add another one before you revoke it.",
      "Revoking a passkey signs you out everywhere."
    ]
    const alone = await shown()
    assert.include(alone, only)
    assert.notInclude(alone, several)
    const second = Authenticator.make()
    const { challenge } = (await passkeys("/challenge", { for: "add" }, who.cookie)).body.data
    const added = await passkeys("", { name: "phone", passkey: second.create(challenge) }, who.cookie)
    assert.strictEqual(added.body.data.person.passkeys.length, 2, added.text)
    const both = await shown()
    assert.include(both, several)
    assert.notInclude(both, only)
    const cookie = cookieIn(await signIn({ id: who.id, device: second }))
    assert.strictEqual((await page("GET", balance, undefined, cookie)).status, 200)
    assert.strictEqual(
      (await page("DELETE", `/console/passkeys/${second.id}`, undefined, who.cookie)).status,
      200
    )
    for (const ended of [cookie, who.cookie])
      assert.deepStrictEqual(seen(await page("GET", balance, undefined, ended)), refused)
    assert.deepStrictEqual(seen(await signIn({ id: who.id, device: second })), refused)
    assert.strictEqual((await signIn(who)).status, 200)
  })

  it("people: a request from another site, or without the console's header, is rejected", async () => {
    const who = await member((await service.company()).id)
    const passkey = who.device.sign(await challengeFor("sign-in"), who.id)
    for (const headers of [
      { "sec-fetch-site": "cross-site", "x-satrail-console": "1" },
      { "sec-fetch-site": "same-origin" },
      {}
    ] satisfies Array<Record<string, string>>)
      assert.deepStrictEqual(
        seen(await page("POST", "/console/passkeys/sign-in", { passkey }, "", headers)),
        refused
      )
  })

  it("people: the Host header does not determine the domain of a passkey", async () => {
    const asked = await service.ask("POST", "/console/passkeys/challenge", {
      headers: { ...fromConsole, ...elsewhere(), host: "evil.example" },
      body: { for: "sign-in" }
    })
    assert.strictEqual(asked.body.data.rp_id, "pay.example.com")
  })

  it("people: the number of requests from one address is limited", async () => {
    const still = await start({ http: { console: true }, around: stillTime })
    const ask = () =>
      still.ask("POST", "/console/passkeys/challenge", { headers: fromConsole, body: { for: "sign-in" } })
    for (let i = 0; i < attemptsPerMinute; i++) assert.strictEqual((await ask()).status, 200)
    assert.deepStrictEqual(seen(await ask()), bad(429, "rate_limited"))
    await still.dispose()
  })

  it("people: the audit log names the person who acted, and never contains an invitation", async () => {
    const { id: company } = await service.company()
    const admin = await member(company)
    await stepUp(admin)
    const invited = await page("POST", "/v1/people", { name: "Mara K.", role: "viewer" }, admin.cookie)
    await page("POST", `/v1/people/${invited.body.data.id}/recover`, undefined, admin.cookie)
    await page("DELETE", `/v1/people/${invited.body.data.id}`, undefined, admin.cookie)
    await service.run(link)
    const entries = await page("GET", "/v1/audit?limit=50", undefined, admin.cookie)
    const rows: ReadonlyArray<{
      readonly verb: string
      readonly actor: string
      readonly actor_name: string
    }> = entries.body.data
    const by = (verb: string) =>
      rows.filter((row) => row.verb === verb).map(({ actor, actor_name }) => [actor, actor_name])
    for (const verb of [
      "people.invitePerson",
      "people.recoverPerson",
      "people.removePerson",
      "console.join",
      "console.stepUp"
    ])
      assert.deepStrictEqual(by(verb), [["person", "a admin"]], verb)
    assert.notInclude(entries.text, textIn(invited))
  })
})

describe("managing people through the API", () => {
  it("people: a payment that a person requested shows their name before the audit log has it", async () => {
    const { id: company, key } = await service.company()
    await service.ask("PUT", `/operator/companies/${company}/limits`, {
      key: operatorToken,
      body: { approval_above_sats: 1000 }
    })
    const who = await member(company, "operator")
    assert.strictEqual((await stepUp(who)).status, 200)
    await service.fund(key, 50_000)
    const { destination } = await service.sandbox((sandbox) =>
      sandbox.destination({ type: "lightning_address" })
    )
    const asked = { destination, amount: 2000, currency: "sats" }
    const { status, text, body } = await page("POST", "/v1/bitcoin/withdraw/confirm", asked, who.cookie)
    assert.strictEqual(status, 201, text)
    assert.deepStrictEqual(
      (await page("GET", `/v1/audit?subject=${body.data.id}`, undefined, who.cookie)).body.data,
      []
    )
    const shown = await service.page(await service.signIn(key), `console/payments/out/${body.data.id}`)
    assert.strictEqual(/<dt>Requested by<\/dt><dd>([^<]*)/.exec(shown)?.[1], "a operator")
  })

  it("people: an operator's invitation to an active company works only after another operator approves it", async () => {
    const { id: company, key } = await service.company()
    await service.fund(key, 100)
    const tokenOf = async (name: string) =>
      (
        await service.ask("POST", "/operator/tokens", {
          key: operatorToken,
          body: { name, scopes: ["companies"] }
        })
      ).body.data.token
    const [ada, bob] = [await tokenOf("Ada"), await tokenOf("Bob")]
    const as = (token: string, path: string, body?: unknown) =>
      service.ask("POST", `/operator/people${path}`, { key: token, ...(body !== undefined && { body }) })
    const invited = await as(ada, "", { company_id: company, name: "Mara K.", role: "admin" })
    assert.deepInclude(invited.body.data, { approval: "pending", requested_by: "Ada" })
    const waiting = (await join(textIn(invited))).answer
    assert.deepStrictEqual(seen(waiting), refused)
    assert.match(waiting.body.message, /needs the approval of a second operator/)
    const { id } = invited.body.data
    assert.deepStrictEqual(seen(await as(ada, `/${id}/approve`)), bad(403, "another_operator_required"))
    assert.strictEqual((await as(bob, `/${id}/approve`)).status, 200)
    assert.strictEqual((await join(textIn(invited))).answer.status, 200)
    const used = (await join(textIn(invited))).answer
    assert.deepStrictEqual(seen(used), refused)
    assert.match(used.body.message, /already used, or a newer one replaced it/)
    assert.deepStrictEqual(
      seen(await as(ada, "", { name: "Eve", role: "viewer" })),
      bad(403, "scope_required")
    )
  })
  it("people: the audit log agrees with every person after all of the above", async () => {
    await member(null)
    await service.run(Effect.repeat(link, { while: (count) => count > 0 }))
    const faults: Array<unknown> = []
    const { records } = await service.run(verify(null, (fault) => Effect.sync(() => faults.push(fault))))
    assert.deepStrictEqual(faults, [])
    assert.isAbove(records, 0)
  })
})

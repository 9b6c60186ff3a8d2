import * as Msat from "@satrail/bitcoin/Msat"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Balance from "@satrail/core/ledger/Balance"
import { Option } from "effect"
import type { Seen } from "./Seen.ts"
import { type Answer, type Ask, type Stage, Violation } from "./Stage.ts"

/** A company, as whoever has its key knows it. */
export interface Company {
  readonly id: CompanyId.CompanyId
  readonly bearer: string
}

/** Something that a customer asked for, and may ask for again. */
export interface Request {
  readonly ask: Ask
  readonly atMillis: number
  /** What was answered, once it was a success. */
  success?: string
}

/** Everybody who asks the service for something, and what they hold it to. */
export interface Customers {
  readonly companies: Array<Company>
  readonly requests: Array<Request>
  /** Asks, and has `made` look at what was answered when it is a success. */
  readonly ask: (ask: Ask, made?: (data: unknown) => void) => void
  /** Asks again what was asked before. */
  readonly repeat: (request: Request, slot: number) => void
  /** Asks for something else with the Idempotency-Key of this request. */
  readonly misuse: (request: Request, slot: number) => void
  /** Nobody gets in with this key any more. */
  readonly isClosed: (bearer: string, slot: number) => void
  /** What the service tells each of them is what is in the books, and what it said was done is there. Only while nothing happens. */
  readonly compare: () => Promise<void>
  /** Another name for an Idempotency-Key. */
  readonly freshKey: () => string
}

/** What a refused request may have done all the same: nothing of it is about money or what was asked for. */
const besides = new Set(["ApiKeyUsed", "DomainChecked", "KeyRangeReserved"])

const claim = (isSo: boolean, promise: string): void => {
  if (!isSo) throw new Violation(promise)
}

/** The member of something that came as JSON. */
export const member = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Object.entries(value).find(([key]) => key === name)?.[1] : undefined

export const text = (value: unknown, ...path: ReadonlyArray<string>): string => {
  const found = path.reduce(member, value)
  return typeof found === "string" ? found : ""
}

/** What is known of a key: the body it came with, and what was answered. */
interface Promised {
  readonly body: string | undefined
  readonly answer: string
}

// A key is forgotten a month after it was used first; nobody repeats anything near that end. A withdrawal's never is.
const keptMillis = 29 * 24 * 3600 * 1000

export const make = (stage: Stage, seen: Seen): Customers => {
  const companies: Array<Company> = []
  const requests: Array<Request> = []
  const promised = new Map<string, Promised>()
  let keys = 0

  /** What every answer has to be, whatever was asked. */
  const judge = (ask: Ask, { status, text: answered, isReplayed }: Answer, asking: number, wasPromised: boolean): unknown => {
    const what = `${ask.method} ${ask.path} with ${ask.body ?? "nothing"}`
    const body: unknown = JSON.parse(answered)
    const isWallet = ask.path.startsWith("/lnurl") || ask.path.startsWith("/.well-known")
    claim(isWallet || member(body, "status") === status, `an answer is an envelope with its status: ${what} got ${answered}`)
    claim(text(body, "error", "code") !== "internal", `nothing crashes: ${what} got ${answered}`)
    const refused = isWallet ? text(body, "status") === "ERROR" && !/try again/.test(answered) : status >= 400 && status < 500
    seen.absorb()
    const applied = seen.appliedFor(asking).filter((tag) => !besides.has(tag))
    if (refused && applied.length > 0)
      throw new Violation(`what is refused changes nothing: ${what} got ${answered} and did ${applied.join()}`)
    const before = ask.once === undefined ? undefined : promised.get(`${ask.bearer} ${ask.once}`)
    if (before?.body === ask.body && before !== undefined) {
      if (status < 300) claim(before.answer === answered, `a repeated request gets the same answer: ${what} got ${answered}`)
      // Of two at once either may have been the first.
      if (wasPromised) {
        claim(status < 300 || status >= 500, `a repeated request is not refused: ${what} got ${answered}`)
        if (status < 300) claim(isReplayed && applied.length === 0, `a repeated request is a replay: ${what} did ${applied.join()}`)
      }
    } else if (before !== undefined) {
      claim(status >= 400, `a key is not used for something else: ${what} got ${answered}`)
    } else if (ask.once !== undefined && status < 300) {
      promised.set(`${ask.bearer} ${ask.once}`, { body: ask.body, answer: answered })
    }
    return status < 300 && text(body, "status") !== "ERROR" ? (isWallet ? body : member(body, "data")) : undefined
  }

  const send = (request: Request, ask: Ask, made: (data: unknown) => void) => {
    const wasPromised = promised.has(`${ask.bearer} ${ask.once}`)
    stage.ask(ask, (answer, asking) => {
      const data = answer && judge(ask, answer, asking, wasPromised)
      if (data === undefined || answer === undefined) return
      if (request.success === undefined) made(data)
      request.success = answer.text
    })
  }

  const madeBy = new Map<Request, (data: unknown) => void>()
  const begin = (ask: Ask, atMillis: number, made: (data: unknown) => void) => {
    const request: Request = { ask, atMillis }
    if (ask.method === "POST") {
      requests.push(request)
      madeBy.set(request, made)
    }
    send(request, ask, made)
  }
  const isKept = ({ ask, atMillis }: Request) => stage.world.time.nowMillis() - atMillis <= keptMillis || ask.path.endsWith("/confirm")

  return {
    companies,
    requests,
    ask: (ask, made = () => {}) => begin(ask, stage.world.time.nowMillis(), made),
    misuse: (request, slot) => {
      // As old as its key.
      if (isKept(request)) begin({ ...request.ask, slot, body: request.ask.body?.replace("{", "{ ") }, request.atMillis, () => {})
    },
    repeat: (request, slot) => {
      if (!isKept(request)) return
      // Without a key it is another request, which happens to say the same.
      const one: Request = request.ask.once === undefined ? { ask: request.ask, atMillis: request.atMillis } : request
      send(one, { ...request.ask, slot }, madeBy.get(request) ?? (() => {}))
    },
    isClosed: (bearer, slot) =>
      stage.ask({ slot: slot + 1, method: "GET", path: "/v1/transactions/balance", bearer }, (answer) =>
        claim(answer === undefined || answer.status >= 400, "a revoked key opens nothing")
      ),
    compare: async () => {
      const { records } = stage.world
      for (const { id, bearer } of companies) {
        const balance = await stage.world.read(records.balance(id))
        const rows = await stage.world.read(records.transactions(id, { limit: 1000 }))
        const told = async (path: string): Promise<unknown> => {
          let data: unknown
          stage.ask({ slot: 0, method: "GET", path, bearer }, (answer) => {
            claim(answer?.status === 200, `whoever asks is answered: ${path} got ${answer?.text}`)
            data = member(JSON.parse(answer?.text ?? "null"), "data")
          })
          await stage.pass(1000)
          return data
        }
        const sats = Number(Msat.toSats(Balance.available(balance)))
        claim(member(await told("/v1/transactions/balance"), "balance") === sats, `a company is told what it has: ${id} has ${sats}`)
        const lines = await told("/v1/transactions?limit=1000")
        const shown = Array.isArray(lines)
          ? lines.map((line) => `${text(line, "id")} ${text(line, "status")} ${String(member(line, "amount_sats"))}`)
          : []
        const booked = rows.map(({ id, status, amount }) => `${id} ${status} ${Msat.toSats(amount)}`)
        claim(shown.join() === booked.join(), `a company is told what came and went: ${id} is told ${shown.join()} of ${booked.join()}`)
      }
      for (const { ask, success } of requests) {
        const owner = companies.find(({ bearer }) => bearer === ask.bearer)?.id
        const id = success === undefined ? "" : text(JSON.parse(success), "data", "id")
        if (owner === undefined || id === "") continue
        const isThere = (found: Option.Option<unknown>) => claim(Option.isSome(found), `what was answered is there: ${ask.path} ${id}`)
        if (ask.path.endsWith("/confirm")) isThere(await stage.world.read(records.withdrawal(owner, id)))
        if (ask.path.endsWith("/lightning-invoice")) isThere(await stage.world.read(records.invoice(owner, id)))
        if (ask.path.endsWith("/vouchers")) isThere(await stage.world.read(records.voucher(owner, id)))
      }
    },
    freshKey: () => `key-${keys++}`
  }
}

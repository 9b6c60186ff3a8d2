import * as Msat from "@satrail/bitcoin/Msat"
import { records as features } from "../features/checks.ts"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Balance from "@satrail/core/ledger/Balance"
import { Option } from "effect"
import type { Seen } from "../checks/Seen.ts"
import { claim } from "../checks/Violation.ts"
import * as Answers from "./Answers.ts"
import { member, text } from "./Json.ts"
import type { Ask, Stage } from "./Stage.ts"
import * as Stopped from "./Stopped.ts"
import * as Thresholds from "./Thresholds.ts"

/** A company, as whoever has its key knows it. */
export interface Company {
  readonly id: CompanyId.CompanyId
  readonly bearer: string
  /** Another key of it, which asks for nothing by itself. */
  readonly another: string
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

/** What a company is answered when nothing is on its way. */
const shown = async (stage: Stage, path: string, bearer: string): Promise<unknown> => {
  let data: unknown
  stage.ask({ slot: 0, method: "GET", path, bearer }, (answer) => {
    claim(answer?.status === 200, `whoever asks is answered: ${path} got ${answer?.text}`)
    data = member(JSON.parse(answer?.text ?? "null"), "data")
  })
  await stage.pass(1000)
  return data
}

/** A company is told what is in the books. */
const compareBooks = async (stage: Stage, { id, bearer }: Company): Promise<void> => {
  const { records, read } = stage.world
  const balance = await read(records.balance(id))
  const rows = await read(records.transactions(id, { limit: 1000 }))
  const sats = Number(Msat.toSats(Balance.available(balance)))
  const told = await shown(stage, "/v1/transactions/balance", bearer)
  claim(member(told, "balance") === sats, `a company is told what it has: ${id} has ${sats}`)
  const lines = await shown(stage, "/v1/transactions?limit=1000", bearer)
  const listed = Array.isArray(lines)
    ? lines.map((line) => `${text(line, "id")} ${text(line, "status")} ${String(member(line, "amount_sats"))}`)
    : []
  const booked = rows.map(({ id, status, amount }) => `${id} ${status} ${Msat.toSats(amount)}`)
  claim(listed.join() === booked.join(), `a company is told what came and went: ${id} is told ${listed.join()} of ${booked.join()}`)
}

/** What a company was answered is there. */
const compareAnswer = async (stage: Stage, companies: ReadonlyArray<Company>, { ask, success }: Request): Promise<void> => {
  const { records, read } = stage.world
  const owner = companies.find(({ bearer }) => bearer === ask.bearer)?.id
  const id = success === undefined ? "" : text(JSON.parse(success), "data", "id")
  if (owner === undefined || id === "") return
  const isThere = (found: Option.Option<unknown>) => claim(Option.isSome(found), `what was answered is there: ${ask.path} ${id}`)
  if (ask.path.endsWith("/confirm")) isThere(await read(records.withdrawal(owner, id)))
  if (ask.path.endsWith("/lightning-invoice")) isThere(await read(records.invoice(owner, id)))
  for (const { noun } of features) if (ask.path.endsWith(`/${noun.name}`)) isThere(await read(records.get(noun, owner, id)))
}

// A key is forgotten a month after it was used first; nobody repeats anything near that end. A withdrawal's never is.
const keptMillis = 29 * 24 * 3600 * 1000

export const make = (stage: Stage, seen: Seen): Customers => {
  const companies: Array<Company> = []
  const requests: Array<Request> = []
  const answers = Answers.make(seen)
  const madeBy = new Map<Request, (data: unknown) => void>()
  const held = [Stopped.make(), Thresholds.make()]
  let keys = 0

  const isKept = ({ ask, atMillis }: Request) => stage.world.time.nowMillis() - atMillis <= keptMillis || ask.path.endsWith("/confirm")

  const send = (request: Request, ask: Ask, made: (data: unknown) => void) => {
    const wasPromised = answers.isPromised(ask)
    const companyId = companies.find(({ bearer }) => bearer === ask.bearer)?.id
    const holds = held.map(({ asked }) => asked(ask, companyId))
    stage.ask(ask, (answer, asking) => {
      for (const hold of holds) hold(answer)
      const data = answer && answers.judge(ask, answer, asking, wasPromised, isKept(request))
      if (data === undefined || answer === undefined) return
      if (request.success === undefined) made(data)
      request.success = answer.text
    })
  }

  const begin = (ask: Ask, atMillis: number, made: (data: unknown) => void) => {
    const request: Request = { ask, atMillis }
    if (ask.method === "POST") {
      requests.push(request)
      madeBy.set(request, made)
    }
    send(request, ask, made)
  }
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
      for (const company of companies) await compareBooks(stage, company)
      for (const request of requests) await compareAnswer(stage, companies, request)
    },
    freshKey: () => `key-${keys++}`
  }
}

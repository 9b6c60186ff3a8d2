import * as Msat from "@satrail/bitcoin/Msat"
import type { Feature } from "../features/Feature.ts"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Balance from "@satrail/core/ledger/Balance"
import { Option } from "effect"
import type { Seen } from "../checks/Seen.ts"
import { claim } from "../checks/Violation.ts"
import * as Answers from "./Answers.ts"
import { member, text } from "./Json.ts"
import type { Ask, Stage } from "./Stage.ts"
import * as Stopped from "./Stopped.ts"

/** A company as its key holders see it. */
export interface Company {
  readonly id: CompanyId.CompanyId
  readonly bearer: string
  /** Another key of the company, used only for requests that need a second key. */
  readonly another: string
}

/** A customer's request, which may be repeated. */
export interface Request {
  readonly ask: Ask
  readonly atMillis: number
  /** The successful response, if any. */
  success?: string
}

/** All customers, and the guarantees that they check. */
export interface Customers {
  readonly companies: Array<Company>
  readonly requests: Array<Request>
  /** Sends a request and passes a successful response to `made`. */
  readonly ask: (ask: Ask, made?: (data: unknown) => void) => void
  /** Repeats an earlier request. */
  readonly repeat: (request: Request, slot: number) => void
  /** Sends a different request with the Idempotency-Key of this one. */
  readonly misuse: (request: Request, slot: number) => void
  /** Checks that this key no longer grants access. */
  readonly isClosed: (bearer: string, slot: number) => void
  /**
   * Checks that responses to each customer match the books, and that every returned record exists. Call it only
   * while nothing is in flight.
   */
  readonly compare: () => Promise<void>
  /** Returns a new Idempotency-Key. */
  readonly freshKey: () => string
}

/** Reads a resource as a company. Call it only while nothing is in flight. */
const shown = async (stage: Stage, path: string, bearer: string): Promise<unknown> => {
  let data: unknown
  stage.ask({ slot: 0, method: "GET", path, bearer }, (answer) => {
    claim(answer?.status === 200, `every request gets a response: ${path} got ${answer?.text}`)
    data = member(JSON.parse(answer?.text ?? "null"), "data")
  })
  await stage.pass(1000)
  return data
}

/** Checks that a company's responses match the books. */
const compareBooks = async (stage: Stage, { id, bearer }: Company): Promise<void> => {
  const { records, read } = stage.world
  const balance = await read(records.balance(id))
  const rows = await read(records.transactions(id, { limit: 1000 }))
  const sats = Number(Msat.toSats(Balance.available(balance)))
  const told = await shown(stage, "/v1/transactions/balance", bearer)
  claim(member(told, "balance") === sats, `a company reads its balance: ${id} has ${sats}`)
  const lines = await shown(stage, "/v1/transactions?limit=1000", bearer)
  const listed = Array.isArray(lines)
    ? lines.map(
        (line) => `${text(line, "id")} ${text(line, "status")} ${String(member(line, "amount_sats"))}`
      )
    : []
  const booked = rows.map(({ id, status, amount }) => `${id} ${status} ${Msat.toSats(amount)}`)
  claim(
    listed.join() === booked.join(),
    `a company reads all its transactions: ${id} reads ${listed.join()} of ${booked.join()}`
  )
}

/** Checks that a record returned to a company exists. */
const compareAnswer = async (
  stage: Stage,
  features: ReadonlyArray<Feature>,
  companies: ReadonlyArray<Company>,
  { ask, success }: Request
): Promise<void> => {
  const { records, read } = stage.world
  const owner = companies.find(({ bearer }) => bearer === ask.bearer)?.id
  const id = success === undefined ? "" : text(JSON.parse(success), "data", "id")
  if (owner === undefined || id === "") return
  const isThere = (found: Option.Option<unknown>) =>
    claim(Option.isSome(found), `a returned record exists: ${ask.path} ${id}`)
  if (ask.path.endsWith("/confirm")) isThere(await read(records.withdrawal(owner, id)))
  if (ask.path.endsWith("/lightning-invoice")) isThere(await read(records.invoice(owner, id)))
  for (const { noun } of features.flatMap(({ records: its = [] }) => its))
    if (ask.path.endsWith(`/${noun.name}`)) isThere(await read(records.get(noun, owner, id)))
}

// A key is forgotten a month after its first use, so nothing is repeated close to that time. A withdrawal's
// key is never forgotten.
const keptMillis = 29 * 24 * 3600 * 1000

/** Returns a body with another meaning: with another number, or a longer text. */
const differing = (body: string | undefined): string | undefined =>
  /:\d/.test(body ?? "")
    ? body?.replace(/(?<=:)\d+/, (number) => `${Number(number) + 1}`)
    : body?.replace(/(?<=:"[^"]*)(?=")/, "x")

export const make = (stage: Stage, seen: Seen, features: ReadonlyArray<Feature>): Customers => {
  const companies: Array<Company> = []
  const requests: Array<Request> = []
  const answers = Answers.make(seen, features)
  const madeBy = new Map<Request, (data: unknown) => void>()
  const follows = [Stopped.make().asked, ...features.flatMap(({ follow }) => follow?.() ?? [])]
  let keys = 0

  const isKept = ({ ask, atMillis }: Request) =>
    stage.world.time.nowMillis() - atMillis <= keptMillis || ask.path.endsWith("/confirm")

  const send = (request: Request, ask: Ask, made: (data: unknown) => void) => {
    const wasPromised = answers.isPromised(ask)
    const companyId = companies.find(({ bearer }) => bearer === ask.bearer)?.id
    const checks = follows.map((follow) => follow(ask, companyId))
    stage.ask(ask, (answer, asking) => {
      for (const check of checks) check(answer)
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
      // A request that misuses a key counts as being as old as the key.
      if (isKept(request))
        begin({ ...request.ask, slot, body: differing(request.ask.body) }, request.atMillis, () => {})
    },
    repeat: (request, slot) => {
      if (!isKept(request)) return
      // Without a key, this is a new request with the same content.
      const one: Request =
        request.ask.once === undefined ? { ask: request.ask, atMillis: request.atMillis } : request
      send(one, { ...request.ask, slot }, madeBy.get(request) ?? (() => {}))
    },
    isClosed: (bearer, slot) =>
      stage.ask({ slot: slot + 1, method: "GET", path: "/v1/transactions/balance", bearer }, (answer) =>
        claim(answer === undefined || answer.status >= 400, "a revoked key is rejected")
      ),
    compare: async () => {
      for (const company of companies) await compareBooks(stage, company)
      for (const request of requests) await compareAnswer(stage, features, companies, request)
    },
    freshKey: () => `key-${keys++}`
  }
}

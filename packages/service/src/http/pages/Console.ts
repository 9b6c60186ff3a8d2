import { Refused } from "@satrail/ui/console/Api"
import * as Menu from "../../console/Menu.ts"
import * as Operator from "../../console/operator/Menu.ts"
import { pages as operatorPages } from "../../console/operator/index.ts"
import type { AnyVisit, OperatorVisit, Page, Visit } from "@satrail/ui/console/Page"
import { pages } from "../../console/pages/index.ts"
import * as Site from "../../console/Site.ts"
import { Clock, Effect, Layer } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { cookieName } from "@satrail/http/edge/Exchange"
import * as Extension from "@satrail/http/edge/Extension"
import * as Inside from "@satrail/http/edge/Inside"
import * as PaymentPage from "@satrail/http/edge/PaymentPage"
import { notFound } from "@satrail/http/edge/Refusals"
import * as Feature from "@satrail/http/api/Feature"
import { features } from "../../features/http.ts"
import * as Routing from "@satrail/http/wire/Routing"
import type { About } from "./Home.ts"
import * as ConsoleApi from "@satrail/http/pages/ConsoleApi"
import * as ConsoleReads from "./ConsoleReads.ts"
import {
  cookie,
  filesAt,
  isCurrency,
  make as visitOf,
  pageAt,
  paths,
  preferencesOf,
  upFrom
} from "./ConsoleVisit.ts"

const { path } = ConsoleApi
export { path } from "@satrail/http/pages/ConsoleApi"

type Request = HttpServerRequest.HttpServerRequest

/**
 * Returns whether a form on one of our own pages sent the request. Browsers state the origin of every form
 * request, and other origins of the same site are not ours.
 */
const isOwnForm = ({ headers }: Request): boolean => {
  const { "sec-fetch-site": site, origin, host } = headers
  if (site !== undefined) return site === "same-origin"
  return origin !== undefined && URL.canParse(origin) && new URL(origin).host === host
}

/** Returns whether a page of another origin led to this address. */
const isLinkedFromElsewhere = ({ headers }: Request): boolean =>
  ["cross-site", "same-site"].includes(headers["sec-fetch-site"] ?? "")

const html = (request: Request, text: string, status = 200, headers: Readonly<Record<string, string>> = {}) =>
  HttpServerResponse.setHeaders(PaymentPage.answer(request, text, status), {
    "cross-origin-opener-policy": "same-origin",
    "x-frame-options": "DENY",
    ...headers
  })

const elsewhere = (location: string, headers: Readonly<Record<string, string>> = {}) =>
  HttpServerResponse.empty({ status: 303, headers: { location, "cache-control": "no-store", ...headers } })

const signedOut = "You were signed out because the session ended or its key was revoked."
const goOn = "Sign in to continue with what you typed."

/** Maximum length of a form that is kept, encoded. A stranger can send one, and the page repeats it twice. */
const maxKept = 8192

/**
 * What was typed into a form that was sent without a session, to be shown again at this address. A search or a long
 * form is not kept.
 */
const keptOf = (to: string, form: URLSearchParams | undefined): Site.Kept | undefined => {
  // An emptied field stays empty, because it may mean something else than the value before.
  const fields = [...(form ?? [])].filter(([name]) => !["credential", Site.shownAgain].includes(name))
  const isTyped = fields.some(([name, value]) => name !== "once" && value !== "") && form?.has("q") !== true
  const kept = new URLSearchParams(fields)
  return isTyped && kept.toString().length <= maxKept ? { to, fields: kept } : undefined
}

type Response = HttpServerResponse.HttpServerResponse

/** Makes a page for a visit, or returns undefined for a visit to the other console. */
type Answers = (visit: Visit | OperatorVisit, at: string, isPost: boolean) => Promise<Site.Answer> | undefined

interface Route {
  readonly at: `/${string}`
  readonly page: Pick<Page, "path">
  readonly isForm: boolean
  readonly answers: Answers
}

const routesBelow = <V extends AnyVisit>(
  root: `/${string}`,
  all: ReadonlyArray<Page<V>>,
  around: (visit: V) => Promise<Site.Surroundings>,
  isOwn: (visit: Visit | OperatorVisit) => visit is (Visit | OperatorVisit) & V
): ReadonlyArray<Route> =>
  [...all, Site.unknown].map((page) => ({
    at: page.path === "" ? root : `${root}/${page.path}`,
    page,
    isForm: page.post !== undefined,
    answers: (visit, at, isPost) =>
      isOwn(visit)
        ? Site.answer<V>({ visit, page, around, files: filesAt(upFrom(at)), path: at }, isPost)
        : undefined
  }))

const routes: ReadonlyArray<Route> = [
  ...routesBelow(paths.company, pages, Menu.surroundings, (visit): visit is Visit => "account" in visit),
  ...routesBelow(
    paths.operator,
    operatorPages,
    Operator.surroundings,
    (visit): visit is OperatorVisit => "of" in visit
  )
]

/** Maximum length of an unknown address that gets a page. Longer ones get the short response of other unknown routes. */
const maxUnknown = 200

const make = Effect.fnUntraced(function* (outer: HttpRouter.HttpRouter, isSandbox: boolean) {
  const inside = Inside.make(outer)
  const reads = yield* ConsoleReads.make
  const run = Effect.runPromiseWith(yield* Effect.context<never>())
  const sendFor = (request: Request) => ConsoleApi.sending(inside, run, request)

  const actionAt = (at: string) => `${upFrom(at)}console/sign-in`

  /** Shows why there is no page: there is no session, or the service is unavailable. */
  const failed = (request: Request, at: string, error: unknown, form?: URLSearchParams): Response => {
    if (!(error instanceof Refused)) throw error
    const around = { files: filesAt(upFrom(at)), preferences: preferencesOf(request) }
    const page = pageAt(request.url)
    const kept = keptOf(upFrom(at) + page, form)
    const asked = { action: actionAt(at), back: `/${page}`, kept }
    if (error.status === 401)
      return html(
        request,
        Site.signIn(around, { ...asked, notice: kept ? `${signedOut} ${goOn}` : signedOut })
      )
    if (error.status === 403)
      return html(request, Site.signIn(around, { ...asked, problem: error.message }), 403)
    return html(request, Site.away(around, error.message, form), error.status === 429 ? 429 : 503)
  }

  const answering = async (
    request: Request,
    { page, answers }: Route,
    nowMillis: number,
    form?: URLSearchParams
  ): Promise<Response> => {
    // The path as sent, because a normalized one could be much shorter.
    const [at = ""] = request.url.split("?", 1)
    // The page repeats its address.
    if (page === Site.unknown && at.length > maxUnknown) return notFound
    // Pages have no trailing slash. An unknown address may have one, and Edge.ts handles only addresses without a route.
    const other = Routing.withoutSlash(request.url)
    if (other !== undefined) return elsewhere(other.location)
    // Without a session there is nothing to request.
    if (request.cookies[cookieName] === undefined) {
      const around = { files: filesAt(upFrom(at)), preferences: preferencesOf(request) }
      const page = pageAt(request.url)
      const kept = keptOf(upFrom(at) + page, form)
      const notice = form && {
        notice: `You are signed out, so nothing was changed. ${kept ? goOn : "Sign in, then try again."}`
      }
      return html(request, Site.signIn(around, { action: actionAt(at), back: `/${page}`, kept, ...notice }))
    }
    try {
      const asked = {
        send: sendFor(request),
        reads,
        at,
        page,
        nowMillis,
        form: form ?? new URLSearchParams(),
        isSandbox
      }
      const visit = await visitOf(request, asked)
      const answer = await answers(visit, at, form !== undefined && !form.has(Site.shownAgain))
      if (answer === undefined) return elsewhere(upFrom(at) + paths[visit.user.kind].slice(1))
      if ("redirect" in answer)
        return elsewhere(answer.isBeside === true ? visit.beside(answer.redirect) : visit.to(answer.redirect))
      if ("html" in answer) return html(request, answer.html, answer.status)
      // Other sites can link to pages, but can't start downloads.
      if (isLinkedFromElsewhere(request)) return elsewhere(upFrom(at) + at.slice(1, at.lastIndexOf("/")))
      const { name, contentType, text } = answer.file
      const headers = { "content-disposition": `attachment; filename="${name}"`, "cache-control": "no-store" }
      return HttpServerResponse.text(text, { contentType, headers })
    } catch (error) {
      return failed(request, at, error, form)
    }
  }

  const signIn = async (request: Request, form: URLSearchParams): Promise<Response> => {
    const back = `/${pageAt(form.get("back") ?? "")}`
    const kept = keptOf(`..${back}`, new URLSearchParams(form.get("kept") ?? ""))
    const around = { files: filesAt("../"), preferences: preferencesOf(request) }
    try {
      const { headers } = await sendFor(request)("POST", `${path}/session`, {
        credential: form.get("credential") ?? ""
      })
      const cookie = { "set-cookie": headers["set-cookie"] ?? "" }
      return kept === undefined
        ? elsewhere(`..${back}`, cookie)
        : html(request, Site.signedIn(around, kept), 200, cookie)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      const problem = error.fields.issues?.[0]?.message ?? error.message
      return html(request, Site.signIn(around, { action: "sign-in", back, problem, kept }), error.status)
    }
  }

  const signOut = async (request: Request): Promise<Response> => {
    const { headers } = await run(
      inside(request, { method: "DELETE", path: `${path}/session`, headers: ConsoleApi.own })
    )
    return elsewhere("../console", { "set-cookie": headers["set-cookie"] ?? "" })
  }
  return { answering, signIn, signOut }
})

/** Stores a preference of the person, and shows their page again. */
const preferring = (form: URLSearchParams): Response => {
  const [theme, currency] = [form.get("theme"), form.get("currency")]
  const isTheme = theme === "light" || theme === "dark"
  return elsewhere(`../${pageAt(form.get("back") ?? "")}`, {
    ...(theme !== null && { "set-cookie": cookie("satrail_theme", isTheme ? theme : "system") }),
    ...(currency !== null && isCurrency(currency) && { "set-cookie": cookie("satrail_currency", currency) })
  })
}

/** Reads a form sent from one of our own pages. */
const posted = Effect.fnUntraced(function* (
  request: Request,
  act: (form: URLSearchParams, nowMillis: number) => Promise<Response> | Response
) {
  if (!isOwnForm(request)) return html(request, "This form was sent from a page of another origin.", 403)
  const form = new URLSearchParams(yield* Effect.orDie(request.text))
  const nowMillis = yield* Clock.currentTimeMillis
  return yield* Effect.promise(async () => act(form, nowMillis))
})

const routesOf = (outer: HttpRouter.HttpRouter, isSandbox: boolean) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const { answering, signIn, signOut } = yield* make(outer, isSandbox)
      for (const route of routes) {
        yield* router.add("GET", route.at, (request) =>
          Effect.flatMap(Clock.currentTimeMillis, (nowMillis) =>
            Effect.promise(() => answering(request, route, nowMillis))
          )
        )
        if (route.isForm)
          yield* router.add("POST", route.at, (request) =>
            posted(request, (form, nowMillis) => answering(request, route, nowMillis, form))
          )
      }
      yield* router.add("GET", "/operator", Effect.succeed(elsewhere("operator/console")))
      yield* router.add("POST", `${path}/sign-in`, (request) =>
        posted(request, (form) => signIn(request, form))
      )
      yield* router.add("POST", `${path}/sign-out`, (request) => posted(request, () => signOut(request)))
      yield* router.add("POST", `${path}/theme`, (request) => posted(request, preferring))
    })
  )

/** Serves the console, where users sign in. Like any client, it uses the API. */
export const extension = (outer: HttpRouter.HttpRouter, { simulated = [] }: About = {}) =>
  Extension.make(
    Layer.mergeAll(
      routesOf(outer, simulated.includes("the Lightning network")),
      ...Feature.joined(features, "console")
    )
  )

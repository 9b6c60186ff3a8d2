import { type ComponentChildren, h } from "preact"
import { type Fields, Refused } from "@satrail/ui/console/Api"
import { features } from "../features/console.ts"
import * as Formats from "@satrail/ui/console/Format"
import * as Frame from "@satrail/ui/console/Frame"
import {
  type AnyVisit,
  confirmed,
  type Elsewhere,
  type File,
  may,
  type Page,
  type Shown,
  whoMay,
  withQuery
} from "@satrail/ui/console/Page"
import {
  again,
  button,
  confirm,
  empty,
  field,
  formPanel,
  note,
  panel,
  plain
} from "@satrail/ui/console/Parts"
import { amounts } from "./pages/Limits.ts"

/** A response of the console. */
export type Answer = { readonly status: number; readonly html: string } | Elsewhere | File

/** Returns the parts of a path that matches a page's, by name. */
export const match = (pattern: string, path: string): Readonly<Record<string, string>> | undefined => {
  const [wanted, given] = [pattern.split("/"), path.split("/")]
  if (wanted.length !== given.length) return undefined
  const params: Record<string, string> = {}
  for (const [n, part] of wanted.entries()) {
    const value = given[n] ?? ""
    if (part.startsWith(":")) params[part.slice(1)] = decodeURIComponent(value)
    else if (part !== value) return undefined
  }
  return params
}

/** A message is a predicate, such as "must be a UUID", or a sentence. */
const issueOf = ({ path, message }: NonNullable<Fields["issues"]>[number]): string =>
  message.startsWith(path) || /^\p{Lu}/u.test(message) ? message : `${path.replaceAll("_", " ")} ${message}`

/** A rejected form gets a new idempotency key, so sending it again could pay a second time. */
const changed =
  "This form was already sent with other values, and that request may have taken effect. Check this before you send it again."

const limits = new Map<string, string>([...amounts, ["recipient_types", "Payees"], ["recipients", "Only to"]])

/** Groups the digits of amounts. Issues have no other field with the amounts they name. */
const grouped = (message: string): string =>
  message.replaceAll(/(?<![\d.,])\d{4,}(?= sats\b)/g, (sats) => Formats.sats(Number(sats)))

/** The message of an error response, with the values of its fields as the pages show them. */
export const wordsOf = ({ code, message, fields }: Refused, say: Formats.Format): string => {
  const {
    issues = [],
    limit,
    remaining_sats: left,
    frees_at: at,
    needed_sats: needed,
    available_sats: available
  } = fields
  if (code === "idempotency_mismatch") return changed
  if (limit !== undefined)
    return [
      message.replace(`"${limit}"`, `“${limits.get(limit) ?? limit}”`),
      ...(left === undefined ? [] : [`It allows ${Formats.exactSats(left)}, including fees.`]),
      ...(typeof at === "string"
        ? [`It allows this amount from ${say.since(Date.parse(at))} on, if nothing else is sent.`]
        : [])
    ].join(" ")
  if (needed !== undefined && available !== undefined)
    return `The balance is too low: the amount plus fee is ${Formats.exactSats(needed)}, and the available balance is ${Formats.exactSats(available)}.`
  return grouped(
    issues.length === 0 ? message : issues.map((issue) => Formats.capital(issueOf(issue))).join(". ")
  )
}

/** Only a form with an idempotency key can be sent again without a second effect. A search has no effect. */
const keptOf = (given: URLSearchParams): string => {
  if (given.has("q")) return "What you typed is kept. Nothing was changed."
  return given.has("once")
    ? "What you typed is kept. You can safely try again; the request takes effect only once."
    : "What you typed is kept. The request may have taken effect: check this before you try again."
}

const refusedPage = (
  error: Refused,
  { to, say, user }: AnyVisit,
  given: URLSearchParams | undefined
): Shown => {
  if (error.status === 404)
    return {
      title: "Not found",
      body: plain(
        "Not found",
        empty(
          "search",
          "Page not found",
          "The address is wrong, or the record belongs to another company.",
          button(to(""), user.kind === "company" ? "Overview" : "Now", "main")
        )
      )
    }
  if (error.status === 403)
    return {
      title: "Not allowed",
      body: plain(
        "Not allowed",
        empty(
          "lock",
          "You are not allowed to do this",
          error.message,
          user.kind === "company" &&
            features.map(({ rights }) => rights && button(to(rights.path), rights.text))
        )
      )
    }
  const words = wordsOf(error, say).replace(/\.?$/, ".")
  return {
    title: "Not available",
    body: plain(
      "Not available",
      given !== undefined
        ? empty("warn", "The request did not succeed", `${words} ${keptOf(given)}`, again(given))
        : error.status >= 500 || error.status === 429
          ? empty(
              "warn",
              "This page is not available right now",
              `${words} Nothing was changed.`,
              again(given)
            )
          : empty("warn", "This page can’t be shown", words)
    )
  }
}

/** Any other address below a console. */
export const unknown: Page<AnyVisit> = {
  path: ":unknown/*",
  nav: "",
  get: () => {
    throw new Refused(404, "not_found", "No such page.")
  }
}

/** The part of the frame that differs between the consoles. */
export type Surroundings = Pick<
  Frame.Around,
  "owner" | "at" | "sections" | "placeholder" | "banners" | "live"
>

export interface Made<V extends AnyVisit> {
  readonly visit: V
  readonly page: Page<V>
  readonly around: (visit: V) => Promise<Surroundings>
  readonly files: Frame.Files
  /** The page's path without its query. */
  readonly path: string
}

/** Handles a request of a signed-in person. */
export const answer = async <V extends AnyVisit>(
  { visit, page, around, files, path }: Made<V>,
  isPost: boolean
): Promise<Answer> => {
  const { user, preferences, say, to, beside } = visit
  let status = 200
  const shown = await run(page, visit, isPost).catch((error: unknown) => {
    if (!(error instanceof Refused)) throw error
    status = error.status
    return refusedPage(error, visit, isPost && status >= 500 ? visit.form : undefined)
  })
  if ("redirect" in shown || "file" in shown) return shown
  const frame: Frame.Around = {
    ...(await around(visit)),
    files,
    to,
    beside,
    preferences,
    user: user.name,
    role: user.role ?? (user.scopes.includes("all") ? "all scopes" : user.scopes.join(", ")),
    nav: page.nav,
    sought: visit.query.get("q") ?? "",
    rate:
      say.price === undefined || say.price.currency === Formats.bitcoin
        ? ""
        : `1 BTC = ${Formats.fiatText(say.price.perBitcoin, say.price.currency)}`,
    currency: say.price?.currency ?? "",
    // A response to a bad request stays small, whatever its query.
    currencies: (status < 400 && say.price?.currencies) || [],
    path: status < 400 ? withQuery(path, visit.query, {}) : path
  }
  return { status, html: Frame.whole(shown, frame) }
}

/** Asks the person to confirm their identity, and then sends the same form again. */
const confirmPage = ({ form: given, user, to, params }: AnyVisit, { path }: Page<never>): Shown => ({
  title: "Confirm it’s you",
  body: formPanel(
    {
      action: to(path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ""))),
      label: "Confirm it’s you"
    },
    [
      [...given].map(([name, value]) => name !== "credential" && h("input", { type: "hidden", name, value })),
      confirm("Confirm and continue", {
        isConfirmed: user.passkeys === null ? false : "passkey",
        why: "Nothing has been changed yet.",
        ...(user.kind === "operator" && { label: "Your operator token" })
      })
    ]
  )
})

/** The heading above the reason why a form was rejected. */
const failed = ({ status, code }: Refused): string =>
  code === "idempotency_mismatch"
    ? "Already sent"
    : status === 400
      ? "Check what you entered"
      : "Nothing was changed"

/** A rejected form is shown again with the reason and the text that the person entered. */
const run = async <V extends AnyVisit>(page: Page<V>, visit: V, isPost: boolean) => {
  const { get, post, needs } = page
  if (needs !== undefined && !may(visit, needs))
    throw new Refused(403, "scope_required", whoMay("do this", needs))
  if (!isPost || post === undefined) return get(visit)
  try {
    await confirmed(visit)
    return await post(visit)
  } catch (error) {
    if (!(error instanceof Refused) || error.status === 401 || error.status >= 500) throw error
    if (error.code === "step_up_required") return confirmPage(visit, page)
    const problem = wordsOf(error, visit.say)
    const shown = await get({ ...visit, problem })
    return "body" in shown
      ? { ...shown, body: [note("bad", failed(error), h("p", null, problem)), shown.body] }
      : shown
  }
}

interface Asked {
  readonly problem?: string
  readonly action: string
  readonly back: string
  readonly notice?: string
  /** The fields of a form that was sent without a session. */
  readonly kept?: Kept | undefined
}

/** The form that `back` shows again, with what was typed. Not sent by itself: who signs in may act for another company. */
export interface Kept {
  readonly to: string
  readonly fields: URLSearchParams
}

/** The name of the field that makes a page show the other fields instead of acting on them. */
export const shownAgain = "shown_again"

const keptForm = ({ to, fields }: Kept, ...children: ReadonlyArray<ComponentChildren>) =>
  h(
    "form",
    { id: "kept", method: "post", action: to },
    [[shownAgain, "1"] as const, ...fields].map(([name, value]) =>
      h("input", { type: "hidden", name, value })
    ),
    children
  )

/** The page after signing in from a form that was sent without a session. */
export const signedIn = (around: Pick<Frame.Around, "files" | "preferences">, kept: Kept): string =>
  Frame.alone(
    "Signed in · satrail",
    around,
    h("h1", null, "satrail"),
    note("info", "You are signed in, and what you typed is kept. Check it before you send it."),
    keptForm(kept, h("button", { class: "btn main lg wide", autoFocus: true }, "Back to the form"))
  )

/** The sign-in page. Signing in leads to the page at `back`. */
export const signIn = (
  around: Pick<Frame.Around, "files" | "preferences">,
  { problem, action, back, notice, kept }: Asked
): string =>
  Frame.alone(
    "Sign in · satrail",
    around,
    h("h1", null, "satrail"),
    notice !== undefined && note("info", notice),
    problem !== undefined && note("bad", problem),
    h(
      "section",
      { class: "panel", id: "join", hidden: true, "aria-label": "Invitation" },
      h("header", null, h("h2", null, "Accept your invitation")),
      h("form", { class: "body fields" }, [
        h("p", null, "Add a passkey on this device. You will use it to sign in."),
        field({
          label: "Name of this device",
          name: "device",
          required: true,
          maxLength: 40,
          hint: "For example, laptop"
        }),
        h(
          "button",
          { class: "btn main lg wide", type: "button", "data-passkey": "join" },
          "Add a passkey and sign in"
        )
      ])
    ),
    h(
      "p",
      { class: "live" },
      h(
        "button",
        { class: "btn main lg wide", type: "button", "data-passkey": "sign-in" },
        "Sign in with a passkey"
      )
    ),
    panel(
      "Sign in with a key",
      {},
      h(
        "form",
        { class: "body fields", method: "post", action },
        h("input", { type: "hidden", name: "back", value: back }),
        kept !== undefined && h("input", { type: "hidden", name: "kept", value: kept.fields.toString() }),
        field({
          label: "API key or operator token",
          name: "credential",
          type: "password",
          required: true,
          autocomplete: "current-password",
          hint: "Sent once, and not stored in the browser"
        }),
        h("button", { class: "btn lg wide" }, "Sign in")
      )
    ),
    kept !== undefined && keptForm(kept)
  )

/** The page shown while the service, or its store, does not respond. `given` is the form that was sent. */
export const away = (
  around: Pick<Frame.Around, "files" | "preferences">,
  message: string,
  given: URLSearchParams | undefined
): string =>
  Frame.alone(
    "Not available · satrail",
    around,
    h("h1", null, "satrail"),
    plain(
      "Not available",
      empty(
        "warn",
        "The console is not available right now",
        given === undefined
          ? `${message} Payments continue. Try again in a moment.`
          : `${message} ${keptOf(given)}`,
        again(given)
      )
    )
  )

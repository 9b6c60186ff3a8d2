import { Installation, originOf } from "@satrail/core/accounts/Installation"
import { Logos, type Shown } from "@satrail/core/receiving/Logos"
import * as Picture from "@satrail/core/receiving/Picture"
import { Effect, Option, Result, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { companyId, Scopes } from "../Authentication.ts"
import * as Envelope from "../Envelope.ts"
import * as Errors from "../Errors.ts"
import { Example, type World } from "../Examples.ts"
import * as Scalars from "../Scalars.ts"
import * as Section from "../Section.ts"
import * as View from "../View.ts"

const path = "/v1/logo"

/** Where a logo is, below the pages of checkouts. */
export const fileOf = ({ publicId, picture }: Pick<Shown, "publicId" | "picture">): string => `logo/${publicId}/${picture.hash}`

/** Of one pixel. */
const exampleData = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

const Body = Schema.Struct({
  content_type: Picture.ContentType.annotate({ description: "What the picture is, which its first bytes have to say as well" }),
  data: Scalars.text(exampleData)
    .annotate({
      description: `The picture's bytes in base64: at most ${Picture.limits.bytes} bytes, and ${Picture.limits.pixels} pixels each way`
    })
    .check(Scalars.stated(() => undefined, { pattern: "^[A-Za-z0-9+/]+={0,2}$" }))
}).annotate({ identifier: "SetLogo" })

const view = View.make<{ readonly logo: Shown; readonly origin: string }>()(
  { identifier: "Logo" },
  {
    url: [
      Scalars.text("https://pay.example.com/pay/logo/9f0d1c1e52a54f7c8f430b8f6a6c1042/e3b0c442").annotate({
        description: "Where pages have it from. Another picture has another URL"
      }),
      ({ logo, origin }) => `${origin}/pay/${fileOf(logo)}`
    ],
    content_type: [Picture.ContentType, ({ logo }) => logo.picture.contentType],
    width: [Schema.Int.annotate({ description: "In pixels" }), ({ logo }) => logo.picture.width],
    height: [Schema.Int, ({ logo }) => logo.picture.height],
    updated_at: [Scalars.Instant, ({ logo }) => Scalars.instant(logo.updatedAtMillis)]
  }
)

const example = ({ serviceDomain, companyId, millis }: World) =>
  view.of({
    logo: {
      id: companyId,
      companyId,
      publicId: "9f0d1c1e52a54f7c8f430b8f6a6c1042",
      picture: Result.getOrThrow(Picture.read("image/png", exampleData)),
      createdAtMillis: millis(),
      updatedAtMillis: millis()
    },
    origin: originOf(serviceDomain)
  })

const services = Effect.map(Effect.all([Logos, Installation]), ([logos, { domain, linkHost = domain }]) => ({
  logos,
  shown: (logo: Shown) => view.of({ logo, origin: originOf(linkHost) })
}))

const put = Section.company(
  HttpApiEndpoint.put("setLogo", path, {
    payload: Body,
    success: Envelope.success(200, view.schema),
    error: Errors.of("malformed", "conflict", "store_unavailable")
  })
    .annotate(Scopes, ["admin"])
    .annotate(OpenApi.Summary, "Set the logo")
    .annotate(
      OpenApi.Description,
      "Of the company, on the pages of all its checkouts, in place of the one before. PNG, JPEG or WebP that stands still, as it is; no SVG. Its alternative text is the company's name. Needs the scope `admin`."
    )
    .annotate(Example, (world) => ({
      body: { content_type: "image/png", data: exampleData },
      message: "Logo set",
      data: example(world)
    })),
  services,
  ({ logos, shown }) =>
    Effect.fnUntraced(function* ({ payload: { content_type: contentType, data } }) {
      return Envelope.ok("Logo set", shown(yield* Errors.answered(logos.set(yield* companyId, { contentType, data }))))
    })
)

const get = Section.company(
  HttpApiEndpoint.get("getLogo", path, {
    success: Envelope.success(200, view.schema),
    error: Errors.of("not_found", "store_unavailable")
  })
    .annotate(Scopes, ["read"])
    .annotate(OpenApi.Summary, "Fetch the logo")
    .annotate(OpenApi.Description, "Where it is, and what it is. Needs the scope `read`.")
    .annotate(Example, (world) => ({ message: "Logo", data: example(world) })),
  services,
  ({ logos, shown }) =>
    Effect.fnUntraced(function* () {
      const found = yield* Errors.answered(logos.find(yield* companyId))
      if (Option.isNone(found)) return yield* Effect.fail(Errors.failure("not_found", "The company has no logo"))
      return Envelope.ok("Logo", shown(found.value))
    })
)

const remove = Section.company(
  HttpApiEndpoint.delete("removeLogo", path, {
    success: Envelope.success(200, Schema.Struct({ removed: Schema.Literal(true) })),
    error: Errors.of("store_unavailable")
  })
    .annotate(Scopes, ["admin"])
    .annotate(OpenApi.Summary, "Remove the logo")
    .annotate(OpenApi.Description, "No page has it from now on. Removing it again changes nothing. Needs the scope `admin`.")
    .annotate(Example, () => ({ message: "Logo removed", data: { removed: true } })),
  services,
  ({ logos }) =>
    Effect.fnUntraced(function* () {
      yield* Errors.answered(logos.remove(yield* companyId))
      return Envelope.ok("Logo removed", { removed: true as const })
    })
)

/** The picture on the pages of a company's checkouts. */
export const section = Section.make("logo", { title: "Logo", description: "The picture on the pages of a company's checkouts" }, [
  put,
  get,
  remove
])

import { Clock, Context, Effect, Layer, Option } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import { Entropy } from "../base/Entropy.ts"
import * as Id from "../base/Id.ts"
import type { Invalid } from "../base/Invalid.ts"
import { isText } from "../base/Metadata.ts"
import { type Conflict, Journal, NotFound, type StoreUnavailable } from "../ledger/Journal.ts"
import { NounReads } from "../ledger/NounReads.ts"
import * as Logo from "./Logo.ts"
import * as Picture from "./Picture.ts"

/** A logo that is there. */
export interface Shown extends Logo.Logo {
  readonly picture: Picture.Picture
}

/** The pictures on the pages of companies' checkouts. */
export class Logos extends Context.Service<
  Logos,
  {
    /** In place of the one that there is. `data` is in base64; `Invalid` names the member that is wrong, `content_type` or `data`. */
    readonly set: (
      companyId: CompanyId.CompanyId,
      picture: { readonly contentType: Picture.ContentType; readonly data: string }
    ) => Effect.Effect<Shown, Invalid | Conflict | StoreUnavailable>
    /** Whether there was one or not: there is none afterwards. */
    readonly remove: (companyId: CompanyId.CompanyId) => Effect.Effect<void, StoreUnavailable>
    readonly find: (companyId: CompanyId.CompanyId) => Effect.Effect<Option.Option<Shown>, StoreUnavailable>
    /** For who was shown a page with it: this picture while it is the company's, and no other. */
    readonly open: (publicId: string, hash: string) => Effect.Effect<Picture.Picture, NotFound | StoreUnavailable>
  }
>()("@satrail/core/receiving/Logos") {}

const publicIdBytes = 16

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const nouns = yield* NounReads
  const entropy = yield* Entropy

  const recordOf = (companyId: CompanyId.CompanyId) => nouns.get(Logo.noun, companyId, companyId)

  const put = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, picture: Picture.Picture) {
    const nowMillis = yield* Clock.currentTimeMillis
    const before = yield* recordOf(companyId)
    if (Option.isSome(before)) {
      yield* journal.commit(Logo.changed(before.value, picture, nowMillis))
      return { ...before.value, picture, updatedAtMillis: nowMillis }
    }
    const publicId = Id.toHex(entropy(publicIdBytes))
    const logo = { id: companyId, companyId, publicId, picture, createdAtMillis: nowMillis, updatedAtMillis: nowMillis }
    yield* journal.commit(Logo.created(logo))
    return logo
  })

  return Logos.of({
    set: Effect.fnUntraced(function* (companyId, { contentType, data }) {
      const picture = yield* Effect.fromResult(Picture.read(contentType, data))
      // Another request may have set the first one meanwhile: then there is a record to change.
      return yield* Effect.retry(put(companyId, picture), { times: 1, while: ({ _tag }) => _tag === "Conflict" })
    }),
    remove: Effect.fnUntraced(function* (companyId) {
      const before = yield* recordOf(companyId)
      if (Option.isNone(before)) return
      yield* journal.commit(Logo.changed(before.value, null, yield* Clock.currentTimeMillis))
    }),
    find: (companyId) =>
      Effect.map(
        recordOf(companyId),
        Option.flatMap(({ picture, ...logo }) => (picture === null ? Option.none() : Option.some({ ...logo, picture })))
      ),
    open: Effect.fnUntraced(function* (publicId, hash) {
      const found = isText(publicId) ? yield* nouns.named(Logo.noun, { publicId }) : Option.none()
      const picture = Option.isSome(found) ? found.value.picture : null
      return picture?.hash === hash ? picture : yield* new NotFound({ what: "logo", id: publicId })
    })
  })
})

export const layer = Layer.effect(Logos, make)

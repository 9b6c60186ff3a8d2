import { Effect, Layer, Option } from "effect"
import { Deciders } from "../../accounts/Deciders.ts"
import * as NewCompany from "../../accounts/NewCompany.ts"
import * as Id from "../../base/Id.ts"
import { NounReads } from "../../ledger/NounReads.ts"
import * as Page from "../../ledger/Page.ts"
import * as Person from "./Person.ts"

/** A company with active people counts as in use, even if none of its keys is in use. */
const layerUsers = Layer.effect(
  NewCompany.Users,
  Effect.map(
    NounReads,
    (nouns) => (companyId) =>
      Effect.map(nouns.newestFirst(Person.noun, companyId, null, Page.limit.maximum), (people) =>
        people.some(({ status }) => status === "active")
      )
  )
)

/**
 * A person and the people they invited count as one party. Otherwise, an administrator could approve their own
 * withdrawals as a person whom they invited.
 */
const layerDeciders = Layer.effect(
  Deciders,
  Effect.map(NounReads, (nouns) => {
    const rootOf = (id: string) =>
      Id.is(id)
        ? Effect.map(nouns.named(Person.noun, { id }), Option.match({ onNone: () => id, onSome: Person.rootOf }))
        : Effect.succeed(id)
    return Effect.fnUntraced(function* (one, other) {
      return one === other || (yield* rootOf(one)) === (yield* rootOf(other))
    })
  })
)

export const layer = Layer.merge(layerUsers, layerDeciders)

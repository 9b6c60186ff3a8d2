import { Effect, Layer, Option } from "effect"
import * as CurrentSpender from "@satrail/core/accounts/CurrentSpender"
import { Deciders } from "@satrail/core/accounts/Deciders"
import * as NewCompany from "@satrail/core/accounts/NewCompany"
import * as OperatorRequests from "@satrail/core/accounts/OperatorRequests"
import { allows } from "@satrail/core/accounts/OperatorToken"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import { NounReads } from "@satrail/core/ledger/NounReads"
import * as Page from "@satrail/core/ledger/Page"
import * as Person from "./Person.ts"
import * as Role from "./Role.ts"

/**
 * A company that ever had active people counts as in use, even if none of its keys is in use. Otherwise, one
 * operator could recover or remove its people, and then grant access as if it were new.
 */
const layerUsers = Layer.effect(
  NewCompany.Users,
  Effect.map(NounReads, (nouns) =>
    Effect.fnUntraced(function* (companyId: CompanyId.CompanyId) {
      for (let before: string | null = null; ;) {
        const people: ReadonlyArray<Person.Person> = yield* nouns.newestFirst(
          Person.noun,
          companyId,
          before,
          Page.limit.maximum
        )
        if (people.some(({ status, epoch }) => status === "active" || epoch > 0)) return true
        if (people.length < Page.limit.maximum) return false
        before = people.at(-1)?.id ?? null
      }
    })
  )
)

/**
 * Two people count as one party if the same person or key vouched for both, directly or through others, or if
 * one vouched for the other. Otherwise, an administrator could approve their own withdrawals as a person whom
 * they invited.
 */
const layerDeciders = Layer.effect(
  Deciders,
  Effect.map(NounReads, (nouns) => {
    const partyOf = Effect.fnUntraced(function* (id: string) {
      const party = new Set([id])
      // The loop also visits ids added by earlier rounds.
      for (const each of party) {
        const found = Id.is(each) ? yield* nouns.named(Person.noun, { id: each }) : Option.none()
        if (Option.isSome(found)) for (const sponsor of Person.sponsorsOf(found.value)) party.add(sponsor)
      }
      return party
    })
    return Effect.fnUntraced(function* (one, other) {
      if (one === other) return true
      const party = yield* partyOf(one)
      return [...(yield* partyOf(other))].some((id) => party.has(id))
    })
  })
)

const unlimited: CurrentSpender.Rights = { limits: null }

/** A person may send while they have access and a role that sends. */
const layerSenders = Layer.effect(
  CurrentSpender.RightsOf,
  Effect.map(
    NounReads,
    (nouns) => (id) =>
      Id.is(id)
        ? Effect.map(
            nouns.named(Person.noun, { id }),
            Option.match({
              onNone: () => unlimited,
              onSome: ({ status, role }) => (status === "active" && Role.sends(role) ? unlimited : undefined)
            })
          )
        : Effect.succeed(unlimited)
  )
)

/** A person may operate the service while they have access and a role with the scope. */
const layerOperators = Layer.effect(
  OperatorRequests.MayOperate,
  Effect.map(
    NounReads,
    (nouns) => (id, scope) =>
      Effect.map(
        nouns.named(Person.noun, { id }),
        Option.match({
          onNone: () => true,
          onSome: ({ companyId, status, role }) =>
            companyId === CompanyId.operator &&
            status === "active" &&
            allows({ scopes: Role.scopes[role].operator }, scope)
        })
      )
  )
)

export const layer = Layer.mergeAll(layerUsers, layerDeciders, layerSenders, layerOperators)

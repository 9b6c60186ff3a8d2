import * as Company from "@satrail/core/accounts/Company"
import * as Audit from "@satrail/core/ledger/Audit"
import type { Feature } from "@satrail/core/ledger/Feature"
import * as Nouns from "../core/Nouns.ts"
import { Effect, HashMap, Option, Ref } from "effect"
import { compare } from "@satrail/memory/Reading"
import type { State } from "@satrail/memory/State"

/** Appends an entry to the log. */
export const appended = (
  audit: State["audit"],
  { companyId, atMillis, body }: Audit.Draft
): State["audit"] => {
  const id = BigInt(HashMap.size(audit) + 1)
  return HashMap.set(audit, Number(id), { id, companyId, atMillis, body })
}

const entriesOf = (state: State): Array<Audit.Entry> =>
  HashMap.toValues(state.audit).toSorted((a, b) => compare(a.id, b.id))
const linksOf = (state: State): Array<Audit.Link> =>
  HashMap.toValues(state.links).toSorted((a, b) => compare(a.entryId, b.entryId))
const lastLinked = (state: State): bigint => BigInt(Math.max(0, ...HashMap.keys(state.links)))

const source = "audit head"

/** Implements the port on in-memory state. */
export const over = (
  state: Ref.Ref<State>,
  features: ReadonlyArray<Feature>
): Audit.AuditStore["Service"] => {
  const nouns = Nouns.of(features).filter(({ recorded }) => recorded !== undefined)
  const read = <A>(select: (now: State) => A) => Effect.map(Ref.get(state), select)
  return Audit.AuditStore.of({
    appendAudit: (drafts) =>
      Ref.update(state, (now) => ({ ...now, audit: drafts.reduce(appended, now.audit) })),
    unlinkedAudit: (limit) =>
      read((now) =>
        entriesOf(now)
          .filter(({ id }) => id > lastLinked(now))
          .slice(0, limit)
      ),
    auditHead: read((now) => Audit.headOf(Option.getOrElse(HashMap.get(now.cursors, source), () => ""))),
    linkAudit: (links, head) =>
      Ref.update(state, (now) => ({
        ...now,
        cursors:
          head.entryId > lastLinked(now) ? HashMap.set(now.cursors, source, Audit.textOf(head)) : now.cursors,
        links: links.reduce(
          (all, link) =>
            HashMap.has(all, Number(link.entryId)) ? all : HashMap.set(all, Number(link.entryId), link),
          now.links
        )
      })),
    auditHeads: (companyIds) =>
      read((now) => {
        const newest = linksOf(now).toReversed()
        const heads = companyIds.flatMap((id) => newest.find(({ companyId }) => companyId === id) ?? [])
        return [...heads, ...newest.slice(0, 1)]
      }),
    auditOf: (companyId, before, limit) =>
      read((now) =>
        entriesOf(now)
          .toReversed()
          .map((entry) => ({ entry, link: Option.getOrNull(HashMap.get(now.links, Number(entry.id))) }))
          .filter(({ entry, link }) => companyId === null || (link !== null && entry.companyId === companyId))
          .filter(({ entry }) => before === null || entry.id < before)
          .slice(0, limit)
      ),
    auditChain: (after, limit) =>
      read((now) =>
        linksOf(now)
          .filter(({ entryId }) => entryId > after)
          .slice(0, limit)
          .map((link) => ({ link, entry: Option.getOrNull(HashMap.get(now.audit, Number(link.entryId))) }))
      ),
    strayAudit: (limit) =>
      read((now) =>
        entriesOf(now)
          .filter(
            ({ id, body }, n, all) =>
              (id <= lastLinked(now) && !HashMap.has(now.links, Number(id))) ||
              (body.includes(`,"nonce":"`) && all.slice(0, n).some((one) => one.body === body))
          )
          .slice(0, limit)
      ),
    recordedKinds: nouns.map(({ name }) => name),
    recordedAudit: (after, limit) =>
      read((now) => {
        const all = nouns.flatMap((noun) => {
          const records =
            noun === Company.members
              ? now.companies
              : Option.getOrElse(HashMap.get(now.tables, noun.name), HashMap.empty)
          return HashMap.toValues<string, { readonly id: string }>(records).map((record) =>
            Audit.storedOf(noun, record)
          )
        })
        const placeOf = ({ record, id }: Pick<Audit.Stored, "record" | "id">) => `${record} ${id}`
        return all
          .filter((one) => after === null || placeOf(one) > placeOf(after))
          .toSorted((a, b) => compare(placeOf(a), placeOf(b)))
          .slice(0, limit)
      })
  })
}

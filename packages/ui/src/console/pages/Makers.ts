import { unlessRefused } from "../Api.ts"
import type { Visit } from "../Page.ts"
import type { Fact } from "../Parts.ts"

// The names of the keys and people that created records or decided about them.

/** Returns the result of a read; undefined if there is nothing, or the visitor may not read it. */
const readable = <A>(read: Promise<A>): Promise<A | undefined> =>
  unlessRefused(read, (status) => status < 500)

const nameOf = async ({ api }: Visit, id: string): Promise<string | undefined> => {
  const key = await readable(api.call("GET /v1/api-keys/{id}", { params: { id } }))
  if (key !== undefined) return key.name
  const people = await readable(api.call("GET /v1/people", { query: { limit: 1000 } }))
  return people?.find((person) => person.id === id)?.name
}

/**
 * Returns a function that finds the name of a key or person who changed this record, also after they were revoked or
 * removed. Without a name, it returns the id.
 */
export const namesFor = async (visit: Visit, subject: string) => {
  const entries = await visit.api.call("GET /v1/audit", { query: { subject, limit: 10 } })
  return async (id: string): Promise<string> =>
    // An entry appears in the audit log up to a second after its request.
    entries.find(({ actor_id }) => actor_id === id)?.actor_name ?? (await nameOf(visit, id)) ?? id
}

/** Returns who created a record; null if that is unknown. */
export const makerFact = async (
  visit: Visit,
  { id, created_by }: { readonly id: string; readonly created_by: string | null }
): Promise<Fact | null> =>
  created_by === null ? null : ["Created by", await (await namesFor(visit, id))(created_by)]

import { randomUUID } from "node:crypto"
import Pg from "pg"
import { leave } from "./PgConnection.ts"
import { TransactionPooler } from "./PgError.ts"

// Named statements and settings belong to a server session. A pooler in transaction mode may run each
// transaction in a different session, so statements are missing or already exist, and settings leak to other
// clients. The problem shows only under load, so it is checked for at startup.

/**
 * Number of connections compared (a pooler that runs several processes has one pool in each), number of rounds,
 * and the wait for a session.
 */
const limits = { connections: 8, rounds: 3, answerMillis: 3000 }

/** Returns whether a prepared statement is a duplicate or missing, because it was prepared in another session. */
const isOtherSession = (cause: unknown) =>
  cause instanceof Pg.DatabaseError && (cause.code === "42P05" || cause.code === "26000")

const isNoAnswer = (cause: unknown) => cause instanceof Error && cause.message.includes("timeout")

/** A connection, with the process id that its server reported when it was opened. */
export type Client = Pg.ClientBase & { readonly processID?: number | null }

/**
 * Returns an SQL condition that is true if nothing between this program and the server shares sessions: only then does
 * the process id that was reported when the connection was opened match the session.
 */
export const isDirect = ({ processID }: Client): string => `pg_backend_pid() = ${Number(processID ?? 0)}`

/**
 * Fails if connections don't keep their sessions over several transactions. A direct connection needs one query.
 * `isOneHeld` tells that the caller already has one of its `connections`.
 */
export const probe = async (
  make: () => Pg.Client,
  connections: number,
  isOneHeld: boolean
): Promise<void> => {
  const own = randomUUID()
  const opened: Array<Pg.Client> = []
  const open = async () => {
    const client = make()
    opened.push(client)
    client.on("error", () => {}) // the pending query fails with the same error
    await client.connect()
    return client
  }
  try {
    const first = await open()
    const query = { text: `select ${isDirect(first)} as direct`, query_timeout: limits.answerMillis }
    const isEnough = await first.query<{ readonly direct: boolean }>(query).then(
      ({ rows: [row] }) => row?.direct === true,
      (cause: unknown) => {
        if (isNoAnswer(cause) && isOneHeld && connections === 1) return true // the caller has the only session
        throw cause
      }
    )
    if (isEnough) return

    const pids = new Map<Pg.Client, number>()
    const look = async (client: Pg.Client) => {
      const known = pids.get(client)
      const query = {
        name: `satrail_probe_${own}`,
        text: "select pg_backend_pid() as pid, current_setting('satrail.probe', true) as kept, set_config('satrail.probe', $1, false)",
        values: [`${own} ${opened.indexOf(client)}`],
        query_timeout: limits.answerMillis
      }
      const [now] = (await client.query<{ readonly pid: number; readonly kept: string | null }>(query)).rows
      if (now === undefined) return
      const isShared = [...pids].some(([other, pid]) => other !== client && pid === now.pid)
      if (isShared || (known !== undefined && (now.pid !== known || now.kept !== query.values[0])))
        throw new TransactionPooler()
      pids.set(client, now.pid)
    }
    const looked = (client: Pg.Client) =>
      look(client).catch((cause: unknown) => {
        if (isOtherSession(cause)) throw new TransactionPooler()
        // All sessions are in use, which only happens with a small pool. A connection that has one gets a response.
        if (isNoAnswer(cause) && client !== first && !pids.has(client)) return
        throw cause
      })
    // In session mode, connections that have responded keep their sessions. A connection still waiting for a
    // session proves nothing, so it isn't tried again.
    while (opened.length < Math.min(limits.connections, Math.max(2, connections))) {
      // If fewer connections open than planned, check the open ones.
      const client = pids.size === 0 ? first : await open().catch(() => undefined)
      if (client === undefined) break
      await looked(client)
      if (!pids.has(client)) break
    }
    const clients = [...pids.keys()]
    for (let round = 0; round < limits.rounds; round++) {
      for (const client of clients) await looked(client)
      await Promise.all(clients.map(looked))
    }
  } finally {
    for (const client of opened) leave(client, limits.answerMillis)
  }
}

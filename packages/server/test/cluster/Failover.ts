import * as Client from "@satrail/testing/Client"
import * as PostgresServer from "@satrail/testing/PostgresServer"
import { eventually } from "@satrail/testing/Waiting"
import { setTimeout as pass } from "node:timers/promises"
import type { Callers } from "./Callers.ts"
import * as Road from "./Road.ts"

/** A primary and its standby. The connections of clients and of the standby to the primary can be cut. */
export const make = async (isSynchronous: boolean) => {
  const installation = PostgresServer.find()
  if ("missing" in installation) throw new Error(`there is no PostgreSQL here: ${installation.missing}`)
  const settings = PostgresServer.rewindable
  const first = await PostgresServer.start(installation, { settings })
  const clients = await Road.to(first.port)
  const replication = await Road.to(first.port)
  const second = await PostgresServer.start(installation, { settings, standbyOf: replication.port })
  /** Queries one server directly. */
  const ask = ({ url }: PostgresServer.PostgresServer, text: string): string =>
    Client.query(installation, url, text).trim()
  /** Makes this server acknowledge a commit only after its standby has received it. */
  const synchronize = (server: PostgresServer.PostgresServer) => {
    ask(server, "alter system set synchronous_standby_names = 'ANY 1 (*)'")
    ask(server, "select pg_reload_conf()")
  }
  if (isSynchronous) synchronize(first)
  const postgres: PostgresServer.PostgresServer = {
    ...first,
    url: `postgres://postgres@127.0.0.1:${clients.port},127.0.0.1:${second.port}/postgres?target_session_attrs=read-write`,
    end: async () => {
      clients.end()
      replication.end()
      await Promise.all([first.end(), second.end()])
    }
  }
  return { first, second, clients, replication, ask, synchronize, postgres, isSynchronous }
}

export type Servers = Awaited<ReturnType<typeof make>>

/** How long the primary keeps running after its standby is cut off, before the primary itself is cut off. */
const aloneMillis = 1000

/**
 * Cuts off the standby, stops the primary and promotes the standby. Returns the number of responses while the
 * primary was alone, and the longest time without a response after the primary stopped.
 */
export const dies = async (
  { first, second, clients, replication, isSynchronous }: Servers,
  callers: Callers
) => {
  await callers.grows("answers", callers.answers, 100)
  replication.close()
  await pass(aloneMillis / 2) // commits that the standby already had are acknowledged
  const responses = async () => {
    const before = callers.answers()
    await pass(aloneMillis)
    return callers.answers() - before
  }
  // A busy machine may acknowledge those commits even later.
  const alone = await (isSynchronous
    ? eventually("a primary that acknowledges nothing", responses, (count) => count === 0)
    : responses())
  const goneAt = performance.now()
  clients.close()
  await first.stop("immediate")
  await second.promote()
  await callers.grows("responses from the new primary", callers.answers, 100)
  return { alone, seconds: callers.secondsWithout(goneAt) }
}

import type { Pay } from "../src/index.ts"
import type { Pool } from "pg"

// create table shop.place (name text primary key, event text not null)
export const markPaid = async (pay: Pay<{ order: string }>, pool: Pool) => {
  const { rows } = await pool.query<{ event: string }>("select event from shop.place where name = 'orders'")
  for await (const event of pay.events(rows[0] === undefined ? {} : { after: rows[0].event })) {
    if (event.type !== "deposit.settled") continue
    const client = await pool.connect()
    try {
      await client.query("begin")
      await client.query("update shop.orders set paid = paid + 1 where id = $1", [event.data.metadata.order])
      await client.query(
        "insert into shop.place values ('orders', $1) on conflict (name) do update set event = excluded.event",
        [event.id]
      )
      await client.query("commit")
    } catch (error) {
      await client.query("rollback")
      throw error
    } finally {
      client.release()
    }
  }
}

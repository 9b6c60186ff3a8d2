// Time limits of queries. One timer checks all connections. With a timer per query (`query_timeout` of
// node-postgres), the rows of finished queries stay in memory until a full garbage collection, which took a tenth
// of a list's CPU time.

const everyMillis = 1000

interface Running {
  dueMillis: number
  expire: (() => void) | undefined
}

const running = new Set<Running>()

let timer: NodeJS.Timeout | undefined

const look = (): void => {
  timer = undefined
  const nowMillis = performance.now()
  for (const query of running) {
    const { dueMillis, expire } = query
    if (expire === undefined || dueMillis > nowMillis) continue
    query.expire = undefined
    expire()
  }
  if ([...running].some(({ expire }) => expire !== undefined)) watch()
}

const watch = (): void => {
  timer ??= setTimeout(look, everyMillis).unref()
}

/** The time limit of the query that runs on a connection, up to a second late. A connection runs one at a time. */
export interface Limit {
  readonly begin: (limitMillis: number, expire: () => void) => void
  readonly end: () => void
  /** Ends the limits of a closed connection. */
  readonly close: () => void
}

export const make = (): Limit => {
  const query: Running = { dueMillis: 0, expire: undefined }
  running.add(query)
  return {
    begin: (limitMillis, expire) => {
      query.dueMillis = performance.now() + limitMillis
      query.expire = expire
      watch()
    },
    end: () => {
      query.expire = undefined
    },
    close: () => void running.delete(query)
  }
}

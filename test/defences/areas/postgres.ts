import { type Canary, inSql, postgres } from "../Canary.ts"

export const canaries: ReadonlyArray<Canary> = [
  {
    name: "old-primary-not-cut-off",
    bug: "queries to an unresponsive machine wait for their timeout after another host is promoted",
    file: postgres("client/Primary"),
    in: "make",
    find: "    for (const [client, { cut }] of open) if (isElsewhere(client)) cut()\n",
    replace: "",
    test: "packages/postgres/test/primary.test.ts",
    titles: "hosts: if a machine stops responding"
  },
  {
    name: "page-of-bookings-ends-early",
    bug: "a list of bookings ends at 20,000 entries outside the period",
    file: postgres("reads/Bookings"),
    in: "entries",
    find: "row_number() over (order by e.id) = ${looks} as",
    replace: "row_number() over (order by e.id) = ${looks + 1} as",
    test: "packages/postgres/test/books.slow.test.ts",
    titles: "pglite.* bookings: an entry that follows 20,000"
  },
  {
    name: "first-millisecond-of-a-period",
    bug: "an entry in the first millisecond of a period is missing",
    file: postgres("reads/Bookings"),
    in: "entries",
    find: "at_millis >= $4::bigint and",
    replace: "at_millis > $4::bigint and",
    test: inSql,
    titles: "a period includes its first moment"
  },
  {
    name: "newest-task-first",
    bug: "the newest task is claimed first",
    file: postgres("Tasks"),
    in: "claim",
    find: `where kind = $4 and due_at_millis <= $1::bigint
  order by due_at_millis, id limit`,
    replace: `where kind = $4 and due_at_millis <= $1::bigint
  order by due_at_millis desc, id limit`,
    test: inSql,
    titles: "tasks are claimed longest overdue first"
  },
  {
    name: "room-back-too-late",
    bug: "a payment that fails after its window has passed releases limit usage of a later window",
    file: postgres("statements/Counts"),
    in: "written",
    find: " and s.bucket = e.bucket\n",
    replace: "\n",
    test: inSql,
    titles: "limits: a withdrawal that fails after its window"
  },
  {
    name: "laxer-limit-of-two",
    bug: "of two limits in one flush the higher one applies",
    file: postgres("statements/Counts"),
    in: "boundsOf",
    find: "known.most < limit ? known.most : limit",
    replace: "known.most > limit ? known.most : limit",
    test: "packages/postgres/test/counts.test.ts",
    titles: "limits: if the Changes in one flush"
  },
  {
    name: "later-time-of-two",
    bug: "of two times in one flush the later one applies",
    file: postgres("statements/Counts"),
    in: "boundsOf",
    find: "Math.min(known.since, since)",
    replace: "Math.max(known.since, since)",
    test: "packages/postgres/test/counts.test.ts",
    titles: "limits: if the Changes in one flush"
  },
  {
    name: "old-primary-again",
    bug: "a process reconnects to a primary that a failover has replaced",
    file: postgres("client/Primary"),
    in: "fits",
    find: "return standing.timeline === 0 || standing.timeline >= seen",
    replace: "return true",
    test: "packages/postgres/test/primary.test.ts",
    titles: "hosts: a writable host on the latest timeline|hosts: a process does not return"
  },
  {
    name: "commit-without-its-standby",
    bug: "a commit whose wait for the standby was interrupted is acknowledged",
    file: postgres("client/PgConnection"),
    in: "asking",
    find: "const problem = session.isUnwaited ? unknown() : error",
    replace: "const problem = error",
    test: "packages/postgres/test/server.slow.test.ts",
    titles: "PgClient: a commit not confirmed by the standby",
    needsServer: true
  },
  {
    name: "list-from-anywhere",
    bug: "reads go to a standby that has not replayed the primary's writes",
    file: postgres("Standby"),
    in: "asOf",
    find: "mark.of === of && mark.place <= place",
    replace: "mark.of === of",
    test: "packages/postgres/test/standby.slow.test.ts",
    titles: "standby: the replayed position"
  },
  {
    name: "limit-of-the-snapshot",
    rows: [12],
    bug: "limit usage is read as of the statement's start instead of after the lock is taken",
    file: postgres("migrations/LedgerTables"),
    in: "tables",
    find: "language plpgsql volatile as",
    replace: "language plpgsql stable as",
    test: "packages/postgres/test/twoStores.test.ts",
    titles: "C12: limits:",
    needsServer: true
  },
  {
    name: "balance-of-the-snapshot",
    bug: "a balance's total starts from the row of the snapshot, so money that arrived meanwhile cannot be spent",
    file: postgres("statements/Statements"),
    in: "booked",
    find: "set posted = k.posted_before + d.posted, held = k.held_before + d.held",
    replace: "set posted = b.posted + d.posted, held = b.held + d.held",
    test: "packages/postgres/test/twoStores.test.ts",
    titles: "balance:",
    needsServer: true
  },
  {
    name: "outdated-total-fails",
    bug: "a commit fails if another process added to a record's total while it waited",
    file: postgres("journal/Journal"),
    in: "isOutdatedTotal",
    find: "cause.code === checkViolation",
    replace: "cause.code !== checkViolation",
    test: "packages/postgres/test/twoStores.test.ts",
    titles: "transfer:",
    needsServer: true
  },
  {
    name: "limit-never-counted",
    rows: [12],
    bug: "a commit is checked against its limits but not counted toward them",
    file: postgres("statements/Counts"),
    in: "written",
    find: "times = case when excluded.bucket > s.bucket then 0 else s.times end + excluded.times",
    replace: "times = s.times where false",
    test: inSql,
    titles: "limits:"
  },
  {
    name: "one-hash-twice-sql",
    rows: [11, 14],
    bug: "two withdrawals may pay one payment hash in PostgreSQL",
    file: postgres("journal/Dispatch"),
    in: "dispatched",
    find: "and n not in (select n from used) and n not in (select n from coins where taken)",
    replace: "and n not in (select n from coins where taken)",
    test: inSql,
    titles: "grouped.*C14:"
  },
  {
    name: "balance-not-checked-sql",
    rows: [12],
    bug: "a hold in PostgreSQL is not checked against the balance",
    file: postgres("statements/Statements"),
    in: "granted",
    find: "where need <= left_before",
    replace: "where need is not null",
    test: inSql,
    titles: "grouped.*C12:"
  },
  {
    name: "no-row-lock",
    rows: [12, 13],
    bug: "changes to one balance are ordered only within a process",
    file: postgres("statements/Statements"),
    in: "locked",
    find: "any(array(select company_id from ${of})) order by company_id for no key update",
    replace: "any(array(select company_id from ${of})) order by company_id",
    test: "packages/postgres/test/postgres.test.ts",
    titles: "C13:",
    needsServer: true
  },
  {
    name: "second-payer-unseen-sql",
    rows: [15],
    bug: "in SQL, changes to one balance are ordered only within a process",
    file: postgres("statements/Writes"),
    in: "becomes",
    find: `if (clears.includes(member)) return "null"`,
    replace: "if (clears.includes(member)) return `${of}.${Table.columnOf(member)}`",
    test: inSql,
    titles: "C15:"
  },
  {
    name: "transferred-unclaimed-sql",
    rows: [17],
    bug: "a transfer in PostgreSQL pays an invoice that its withdrawal has not claimed",
    file: postgres("journal/Settlement"),
    in: "transferred",
    find: "n in (select b.n from billed b join asked a using (n) where b.status = 'claimed' and b.claimed_by = a.id)",
    replace: "n in (select b.n from billed b)",
    test: inSql,
    titles: "grouped.*C17:"
  },
  {
    name: "stale-fence-accepted-sql",
    rows: [10, 19],
    bug: "a worker that lost its task in PostgreSQL continues as if it still had the task",
    file: postgres("statements/Statements"),
    in: "fenced",
    find: "where (n, task_id) not in (select n, task_id from fenced where current)",
    replace: "where (n, task_id) not in (select n, task_id from fenced)",
    test: inSql,
    titles: "grouped.*C19:"
  },
  {
    name: "nothing-and-less-sql",
    rows: [35],
    bug: "the ledger's table accepts zero and negative postings",
    file: postgres("migrations/LedgerTables"),
    in: "tables",
    find: `  to_account text not null check (to_account <> from_account),
  amount bigint not null check (amount > 0),`,
    replace: `  to_account text not null check (to_account <> from_account),
  amount bigint not null,`,
    test: "packages/postgres/test/embedded.test.ts",
    titles: "C35:"
  },
  {
    name: "deposit-twice-sql",
    rows: [42],
    bug: "an output that is seen twice becomes two deposits in PostgreSQL",
    file: postgres("migrations/MoneyTables"),
    in: "tables",
    find: "create unique index deposits_outpoint",
    replace: "create index deposits_outpoint",
    test: inSql,
    titles: "grouped.*C42:"
  },
  {
    name: "deposit-by-txid-sql",
    rows: [43],
    bug: "in PostgreSQL a deposit is identified by its transaction instead of its output",
    file: postgres("migrations/MoneyTables"),
    in: "tables",
    find: "on satrail.deposits (chain_tx_id, vout) where",
    replace: "on satrail.deposits (chain_tx_id) where",
    test: inSql,
    titles: "grouped.*C43:"
  },
  {
    name: "anybodys-id-sql",
    rows: [53],
    bug: "anyone who knows an id can read its record in PostgreSQL",
    file: postgres("statements/Reads"),
    in: "get",
    find: "where t.${of} = a.company_id and t.id = a.id",
    replace: "where t.id = a.id",
    test: inSql,
    titles: "grouped.*C53:"
  },
  {
    name: "export-skips-at-a-page",
    bug: "an export treats a page that reached its scan limit as the last one",
    file: postgres("reads/Bookings"),
    in: "reads",
    find: `rows.length === query.limit || rows.some(({ isLast }) => isLast === "true")`,
    replace: `rows.length > query.limit || rows.some(({ isLast }) => isLast === "true")`,
    test: inSql,
    titles: "each page of entries"
  },
  {
    name: "frozen-company-sends",
    bug: "a commit in PostgreSQL does not check whether the company is frozen",
    file: postgres("statements/Statements"),
    in: "fresh",
    find: `["company_id not in (select company_id from locked where frozen)"]`,
    replace: "[]",
    test: inSql,
    titles: "freeze:"
  },
  {
    name: "fees-of-before",
    bug: "PostgreSQL charges a fee computed before the company's fees changed",
    file: postgres("statements/Statements"),
    in: "fresh",
    find: "...(carried.unlessFeesMoved ? [isPriced] : [])",
    replace: "",
    test: inSql,
    titles: "fees:"
  },
  {
    name: "fees-of-another-company",
    bug: "one company's custom fees apply to every company",
    file: postgres("reads/Company"),
    in: "changed",
    find: "where t.id = f.id and g.${member}::text",
    replace: "where g.${member}::text",
    test: inSql,
    titles: "fees: changing one company's fees"
  },
  {
    name: "claim-not-written",
    rows: [19],
    bug: "a task claimed when it is enqueued has the token of an unclaimed task",
    file: postgres("statements/Statements"),
    in: "enqueued",
    find: "job_due_at_millis, num_nonnulls(job_holder), num_nonnulls(job_holder)",
    replace: "job_due_at_millis, 0, 0",
    test: inSql,
    titles: "a task claimed when it is enqueued"
  },
  {
    name: "operator-events-kept",
    bug: "an old event of the operator blocks the deletion of all old events",
    file: postgres("reads/EventStore"),
    in: "forgetEvents",
    find: "from old where company_id <> '${Id.nil}' group by 1",
    replace: "from old group by 1",
    test: inSql,
    titles: "the operator's events are deleted"
  }
]

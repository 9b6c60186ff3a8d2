import "@satrail/bitcoin/checkRuntime"

export * as Storage from "./postgres/Storage.ts"
export * as HostTransaction from "@satrail/postgres/client/HostTransaction"
export * as Migrations from "./postgres/migrations/Migrations.ts"
export * as PgClient from "@satrail/postgres/client/PgClient"
export * as Hosts from "@satrail/postgres/client/Hosts"
export * as Primary from "@satrail/postgres/client/Primary"
export * as PgliteClient from "@satrail/postgres/client/PgliteClient"
export * as DirectoryLock from "@satrail/postgres/client/DirectoryLock"
export * as Commits from "@satrail/postgres/journal/Commits"
// For a program's own features.
export * as Feature from "@satrail/postgres/client/Feature"

/**
 * The commands that run locally, on settings, files and the database. They load the service; all other commands
 * only call a running one.
 */
export const local: ReadonlyArray<string> = ["start", "dev", "check", "migrate", "verify", "names", "wallet"]

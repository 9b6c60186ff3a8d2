import * as Program from "../Program.ts"
import * as Server from "../Server.ts"

/** The service, until SIGINT or SIGTERM. */
export const start = () => Program.main(Server.services)

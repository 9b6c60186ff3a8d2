import * as Program from "../Program.ts"
import * as Server from "../Server.ts"

/** The service, until it is told to stop. */
export const start = () => Program.main(Server.services)

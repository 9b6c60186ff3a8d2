import * as Program from "../serving/Program.ts"
import * as Server from "../serving/Server.ts"

/** Runs the service until SIGINT or SIGTERM. */
export const start = () => Program.main(Server.services)

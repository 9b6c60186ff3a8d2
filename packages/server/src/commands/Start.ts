import * as Program from "../serving/Program.ts"
import * as Server from "../serving/Server.ts"

export const start = () => Program.main(Server.services)

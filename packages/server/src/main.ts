import * as Program from "./serving/Program.ts"
import * as Server from "./serving/Server.ts"

Program.run(Server.services)

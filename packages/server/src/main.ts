import * as Program from "./Program.ts"
import * as Server from "./Server.ts"

Program.run(Server.services)

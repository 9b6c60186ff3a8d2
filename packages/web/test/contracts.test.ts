import * as Resolver from "@satrail/contracts/Resolver"
import * as Recipients from "./Recipients.ts"

Resolver.suite("web", Recipients.layer)

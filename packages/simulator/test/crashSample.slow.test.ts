import { crashes, some } from "./crashes.ts"

crashes("a process that dies or gets no response, at a sample of crash points", some)

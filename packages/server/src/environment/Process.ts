import { oneOf, type Reader, type Variable, whole } from "./Variable.ts"

/** Where this process listens and keeps its files, how it stops, and what it logs. */
export interface Process {
  readonly port: number
  readonly host: string
  readonly dataDirectory: string
  readonly drainSeconds: number
  readonly shutdownSeconds: number
  readonly logFormat: "auto" | "json" | "pretty"
  readonly logLevel: "Debug" | "Info" | "Warn" | "Error"
}

export const dataDirectory: Variable<string> = {
  name: "SATRAIL_DATA",
  meaning: "The directory for the embedded database, the sandbox and demo.json; it is made when it is missing",
  fallback: "./.satrail",
  wants: "a directory's path",
  read: (text) => text
}

export const listening = {
  port: { name: "PORT", meaning: "The port to listen on; 0 takes a free one", fallback: "8080", ...whole(0, 65_535) },
  host: {
    name: "HOST",
    meaning: "The address to listen on; 127.0.0.1 is this machine only",
    fallback: "127.0.0.1",
    wants: "an IP address or a host name",
    read: (text) => (/^[\w.:-]+$/.test(text) ? text : undefined)
  } satisfies Variable<string>,
  dataDirectory
}

export const life = {
  drainSeconds: {
    name: "SATRAIL_DRAIN_SECONDS",
    meaning:
      "How long a stop goes on answering while /readyz says 503 already, for whoever sends requests here to notice and turn to others",
    fallback: "0",
    ...whole(0, 600)
  },
  shutdownSeconds: {
    name: "SATRAIL_SHUTDOWN_SECONDS",
    meaning: "How long a stop waits for what is under way before it ends all the same; nothing is lost by that",
    fallback: "20",
    ...whole(1, 600)
  },
  logFormat: {
    name: "SATRAIL_LOG_FORMAT",
    meaning: "How the log on standard error looks; auto: pretty on a terminal, JSON elsewhere",
    fallback: "auto",
    ...oneOf("auto", "json", "pretty")
  },
  logLevel: {
    name: "SATRAIL_LOG_LEVEL",
    meaning: "The least urgent that is logged",
    fallback: "info",
    ...oneOf("debug", "info", "warn", "error")
  }
}

const levels = { debug: "Debug", info: "Info", warn: "Warn", error: "Error" } as const

export const read = ({ required }: Reader): Process => ({
  port: required(listening.port),
  host: required(listening.host),
  dataDirectory: required(dataDirectory),
  drainSeconds: required(life.drainSeconds),
  shutdownSeconds: required(life.shutdownSeconds),
  logFormat: required(life.logFormat),
  logLevel: levels[required(life.logLevel)]
})

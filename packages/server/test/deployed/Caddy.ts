import { assert } from "@effect/vitest"
import { eventually } from "@satrail/testing/Waiting"
import { existsSync } from "node:fs"
import path from "node:path"
import { run, type Running } from "./Machine.ts"
import { ask, type Public } from "./Public.ts"

/** The path of Caddy, or undefined if it is not installed. */
export const command = [...(process.env["PATH"] ?? "").split(path.delimiter), "/usr/bin"]
  .map((folder) => path.join(folder, "caddy"))
  .find(existsSync)

/** The domain of these deployments. Caddy creates its certificate. */
export const host = "satrail.localhost"

export interface Options {
  readonly command: string
  readonly config: string
  /** Caddy's data directory. */
  readonly home: string
  readonly ports: { readonly http: number; readonly https: number; readonly internal: number }
  readonly env: Readonly<Record<string, string>>
}

/** Starts Caddy with an unmodified Caddyfile. The environment sets the values for this machine. */
export const start = async ({
  command,
  config,
  home,
  ports,
  env
}: Options): Promise<{ readonly running: Running; readonly to: Public }> => {
  const running = run(command, ["run", "--config", config, "--adapter", "caddyfile"], {
    HOME: home,
    PATH: process.env["PATH"] ?? "",
    PUBLIC_BIND: "127.0.0.1",
    ...env,
    SATRAIL_DOMAIN: host,
    CERTIFICATE_ISSUER: "internal",
    CADDY_ADMIN: "off",
    HTTP_PORT: String(ports.http),
    HTTPS_PORT: String(ports.https),
    INTERNAL_PORT: String(ports.internal)
  })
  const to = {
    port: ports.https,
    host,
    authority: path.join(home, ".local/share/caddy/pki/authorities/local/root.crt")
  }
  // Caddy creates the certificate's file, then writes it, and listens later.
  await eventually(
    "a response through the proxy",
    async () =>
      running.isOver()
        ? assert.fail(running.said())
        : (await ask(to, "GET", "/healthz").catch(() => undefined))?.status,
    (status) => status !== undefined
  )
  return { running, to }
}

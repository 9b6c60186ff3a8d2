import { assert } from "@effect/vitest"
import { eventually } from "@satrail/testing/Waiting"
import { once } from "node:events"
import { existsSync, readFileSync } from "node:fs"
import { createServer } from "node:net"
import path from "node:path"
import { run, type Running } from "./Machine.ts"
import type { Public } from "./Public.ts"

/** The path of Caddy, or undefined if it is not installed. */
export const command = [...(process.env["PATH"] ?? "").split(path.delimiter), "/usr/bin"]
  .map((folder) => path.join(folder, "caddy"))
  .find(existsSync)

/** The domain of these deployments. Caddy creates its certificate. */
export const host = "satrail.localhost"

export const portOf = (server: { readonly address: () => unknown }): number => {
  const address = server.address()
  return typeof address === "object" && address !== null && "port" in address ? Number(address.port) : 0
}

export const freePorts = async (count: number): Promise<ReadonlyArray<number>> => {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, "127.0.0.1")
      await once(server, "listening")
      return server
    })
  )
  const ports = servers.map(portOf)
  for (const server of servers) {
    server.close()
    await once(server, "close")
  }
  return ports
}

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
  const authority = path.join(home, ".local/share/caddy/pki/authorities/local/root.crt")
  // Caddy creates the file empty and writes it afterwards. Without a certificate in it, every connection would fail.
  await eventually(
    "the proxy",
    async () => (running.isOver() ? assert.fail(running.said()) : existsSync(authority) && readFileSync(authority, "utf8")),
    (certificate) => certificate !== false && certificate.includes("-----END CERTIFICATE-----")
  )
  return { running, to: { port: ports.https, host, authority } }
}

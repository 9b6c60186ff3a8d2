import type { Framework, Kind } from "../Choices.ts"
import { pay } from "./pay.ts"

// The code that receives requests, which is the same for every kind of project.

/**
 * Builds a template's import statements. The statements are not written literally, because tools would treat
 * them as imports of this module.
 */
const imports = (...all: ReadonlyArray<readonly [what: string, from: string]>): string =>
  [...all, ["{ service }", "./pay.ts"]].map(([what, from]) => `import ${what} from "${from}"\n`).join("")

/** The files of a framework, and the fields that it adds to package.json. */
export interface Server {
  readonly files: (kind: Kind) => Readonly<Record<string, string>>
  readonly scripts: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
  readonly compilerOptions: Readonly<Record<string, unknown>>
  readonly env: string
}

const close = `
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, async () => {
    await stop()
    await pay.close()
  })
}
`

const opened = `
const port = Number(process.env.PORT ?? 3000)
const host = process.env.HOST ?? "localhost"

const fail = (message: string): never => {
  console.error(message)
  process.exit(1)
}
const failed = ({ message }: Error) => fail(\`\${message}. Set another PORT in .env.\`)
const { pay, checkout } = await service().catch(({ message }: Error) => fail(message))
`

const said = "console.log(`Open http://${host}:${port} to create a checkout that you can pay.`)"

const none = `${imports(["{ createServer, type ServerResponse }", "node:http"])}${opened}
const home = async (response: ServerResponse) => {
  const { pathname } = new URL((await checkout()).url)
  response.writeHead(303, { location: pathname }).end()
}

// The service handles its pages, its HTTP API and its console.
const server = createServer((request, response) => {
  const answered = request.url === "/" ? home(response) : pay.handler(request, response)
  answered.catch((error: Error) => {
    console.error(error.message)
    response.destroy()
  })
})
server.once("error", failed).listen(port, host, () => ${said})

const stop = async () => {
  server.close()
  server.closeAllConnections()
}
${close}`

const express = `${imports(["express", "express"])}${opened}
const app = express()
app.get("/", async (_request, response) => {
  const { pathname } = new URL((await checkout()).url)
  response.redirect(303, pathname)
})
// The service handles its pages, its HTTP API and its console. Other paths go to the routes after it. Add body parsers after it, too.
app.use((request, response, next) => pay.handler(request, response, next))
const server = app.listen(port, host, (error) => {
  if (error) return failed(error)
  ${said}
})

const stop = async () => {
  server.close()
  server.closeAllConnections()
}
${close}`

const fastify = `${imports(["fastify", "fastify"])}${opened}
// Without this option, closing the server waits for open payment pages, for up to 15 minutes.
const app = fastify({ forceCloseConnections: true })
app.get("/", async (_request, reply) => {
  const { pathname } = new URL((await checkout()).url)
  return reply.redirect(pathname, 303)
})
// The service handles its pages, its HTTP API and its console, in a scope in which Fastify does not parse bodies.
app.register(async (scope) => {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser("*", (_request, _body, done) => done(null))
  scope.all("/*", async (request, reply) => {
    reply.hijack()
    await pay.handler(request.raw, reply.raw)
  })
})
await app.listen({ port, host }).catch(failed)
${said}

const stop = () => app.close()
${close}`

const hono = `${imports(["{ serve }", "@hono/node-server"], ["{ Hono }", "hono"])}${opened}
const app = new Hono()
app.get("/", async (context) => {
  const { pathname } = new URL((await checkout()).url)
  return context.redirect(pathname, 303)
})
// The service handles its pages, its HTTP API and its console.
app.all("*", (context) => pay.handler(context.req.raw))
const server = serve({ fetch: app.fetch, port, hostname: host }, () => ${said})
server.once("error", failed)

const stop = async () => {
  server.close()
}
${close}`

const route = (kind: Kind) => `${pay(kind).replace("export const service", "const service")}
const handler = async (request: Request) => {
  const { pay, checkout } = await service()
  request.headers.delete("accept-encoding") // otherwise Next.js would compress a compressed response again
  if (new URL(request.url).pathname !== "/") return pay.handler(request)
  const { pathname } = new URL((await checkout()).url)
  return new Response(null, { status: 303, headers: { location: pathname } })
}

export const dynamic = "force-dynamic"
export { handler as DELETE, handler as GET, handler as PATCH, handler as POST, handler as PUT }
`

const nextConfig = `import type { NextConfig } from "next"

// Node loads satrail and its database, so they are not bundled.
const config: NextConfig = { serverExternalPackages: ["satrail"] }
export default config
`

const ofNode = {
  scripts: {
    dev: "node --watch --env-file-if-exists=.env src/main.ts",
    start: "node --env-file-if-exists=.env src/main.ts",
    check: "tsc"
  },
  compilerOptions: {
    module: "nodenext",
    allowImportingTsExtensions: true,
    erasableSyntaxOnly: true,
    lib: ["ES2024"],
    types: ["node"]
  },
  env: "PORT=3000\n"
}

const node = (
  main: string,
  dependencies: Readonly<Record<string, string>> = {},
  devDependencies: Readonly<Record<string, string>> = {}
): Server => ({
  ...ofNode,
  files: (kind) => ({ "src/pay.ts": pay(kind), "src/main.ts": main }),
  dependencies,
  devDependencies
})

export const servers: { readonly [framework in Framework]: Server } = {
  none: node(none),
  express: node(express, { express: "^5.0.0" }, { "@types/express": "^5.0.0" }),
  fastify: node(fastify, { fastify: "^5.0.0" }),
  hono: node(hono, { "@hono/node-server": "^1.13.0", hono: "^4.6.0" }),
  next: {
    files: (kind) => ({ "next.config.ts": nextConfig, "app/[[...path]]/route.ts": route(kind) }),
    scripts: { dev: "next dev", build: "next build", start: "next start", check: "tsc" },
    dependencies: { next: "^16.0.0", react: "^19.0.0", "react-dom": "^19.0.0" },
    devDependencies: { "@types/react": "^19.0.0" },
    compilerOptions: {
      module: "esnext",
      moduleResolution: "bundler",
      lib: ["DOM", "ES2024"],
      jsx: "react-jsx",
      esModuleInterop: true,
      isolatedModules: true,
      resolveJsonModule: true,
      allowJs: true,
      incremental: true,
      plugins: [{ name: "next" }]
    },
    env: ""
  }
}

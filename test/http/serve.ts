import { connect, type Socket } from 'node:net';
import type { Test } from 'tap';
import { z } from 'zod';
import { createListeners, type Listeners } from '../../src/http/listeners.ts';
import type { Route } from '../../src/http/route.ts';
import { createHttpService, type HttpDeps, type HttpService } from '../../src/http/service.ts';
import { chooseHttpServer } from '../../src/http/uws.ts';
import { type AuthenticatorDeps, createAuthenticator } from '../../src/identity/authenticator.ts';
import { createGuesses } from '../../src/identity/guesses.ts';
import { Unauthorized } from '../../src/schema/outcome.ts';
import { HTTP_SERVER } from './listener.ts';

/** A real server on a free port, and clients that see every byte. */

export const ADMIN_TOKEN = 'correct-horse';
/** The HTTP server that the tests run on. */
export const LISTENER = chooseHttpServer(HTTP_SERVER, { info() {} });
export const ORIGIN = 'http://console.test:3002';

export type Observed = { method: string; route: string; status: number; seconds: number };

/** A service and its sockets, which end together. */
export type HttpServer = Pick<HttpService, 'answer' | 'complete' | 'suspend' | 'resume'> &
  Pick<Listeners, 'listen' | 'fetch' | 'answerWith'> & {
    stopListening(): void;
    close(): void;
  };

export type Served = {
  server: HttpServer;
  port: number;
  url: string;
  observed: Observed[];
  errors: { event: string; data: object }[];
  inFlight(): number;
  streams(): number;
  /** Bytes of long request bodies that have not ended. */
  received(): number;
  /** Bytes of long responses that wait for their readers. */
  unsent(): number;
};

export type ServeOptions = { settings?: Partial<HttpDeps['settings']> } & Partial<
  Omit<HttpDeps, 'settings' | 'routes' | 'authenticate' | 'observeAuth'> & Omit<AuthenticatorDeps, 'guesses'>
>;

const QUIET: HttpDeps['log'] = {
  error() {},
  warn() {},
  info() {},
  debug() {},
  isLevelEnabled: () => false,
};

export const serve = async (t: Test, routes: Route[], given: ServeOptions = {}): Promise<Served> => {
  const { adminToken, scope_id, resolveScope, authenticate, anonymous, ...options } = {
    adminToken: ADMIN_TOKEN,
    scope_id: 'default',
    anonymous: 'always' as const,
    ...given,
  };
  const observed: Observed[] = [];
  const errors: { event: string; data: object }[] = [];
  let inFlight = 0;
  let streams = 0;
  let unsent = 0;
  let received = 0;
  const deps: HttpDeps = {
    routes,
    isLocalListener: true,
    authenticate: createAuthenticator({
      adminToken,
      scope_id,
      resolveScope,
      authenticate,
      anonymous,
      judgeKey: refuseKey,
      judgeSession: refuseKey,
      judgeTicket: refuseKey,
      actFor: (principal) => principal,
      guesses: createGuesses({ token: adminToken, observe() {}, log: options.log ?? QUIET }),
    }),
    observeAuth: { admitted() {}, rejected() {}, denied() {} },
    observe: {
      request: (method, route, status, seconds) => observed.push({ method, route, status, seconds }),
      inFlight: (delta) => {
        inFlight += delta;
      },
      stream: (delta) => {
        streams += delta;
      },
      received: (delta) => {
        received += delta;
      },
      unsent: (delta) => {
        unsent += delta;
      },
    },
    log: { ...QUIET, error: (event, data = {}) => errors.push({ event, data }) },
    openApi: { title: 'Test', version: '1.2.3' },
    ...options,
    settings: {
      body_limit_bytes: 1000,
      attachment_body_limit_bytes: 5000,
      eval_body_limit_bytes: 5000,
      max_concurrent_requests: 100,
      sse_heartbeat_ms: 60_000,
      sse_buffer_size: 10,
      response_buffer_bytes: 1 << 28,
      request_buffer_bytes: 1 << 28,
      body_timeout_ms: 120_000,
      cors_allowed_origins: [ORIGIN],
      trust_forwarded_headers: true,
      trusted_proxies: ['loopback'],
      ...options.settings,
    },
  };
  const server = createServer(deps);
  const { port = 0 } = await server.listen(LISTENER, { host: '127.0.0.1', port: 0 });
  t.teardown(() => server.close());
  return {
    server,
    port,
    url: `http://127.0.0.1:${port}`,
    observed,
    errors,
    inFlight: () => inFlight,
    streams: () => streams,
    unsent: () => unsent,
    received: () => received,
  };
};

const createServer = (deps: HttpDeps): HttpServer => {
  const { answer, drain, complete, suspend, resume, ...service } = createHttpService(deps);
  const listeners = createListeners({ tls: deps.settings.tls, log: deps.log });
  const { listen, fetch, answerWith } = listeners;
  answerWith(answer);
  return {
    ...{ answer, complete, suspend, resume, listen, fetch, answerWith },
    stopListening() {
      drain();
      listeners.stop();
    },
    close() {
      service.close();
      listeners.close();
    },
  };
};

export type Wire = {
  socket: Socket;
  text(): string;
  closed(): boolean;
  send(text: string | Buffer): void;
  /** Resolves when the received data contains this text. */
  until(text: string): Promise<string>;
  end(): Promise<string>;
};

/** A client that sends raw bytes. */
export const wire = (t: Test, port: number, text: string | Buffer = ''): Wire => {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  let closed = false;
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    closed = true;
  });
  t.teardown(() => socket.destroy());
  const client: Wire = {
    socket,
    text: () => received,
    closed: () => closed,
    send: (more) => socket.write(more),
    until: async (expected) => {
      await when(() => received.includes(expected) || closed);
      if (!received.includes(expected)) throw new Error(`closed before ${expected}: ${received}`);
      return received;
    },
    end: async () => {
      await when(() => closed);
      return received;
    },
  };
  if (text.length > 0) client.send(text);
  return client;
};

export const get = (path: string, ...headers: string[]): string =>
  [`GET ${path} HTTP/1.1`, 'Host: localhost', ...headers, '', ''].join('\r\n');

/** Real time, even if a test fakes timers. */
const { setTimeout: startTimer } = globalThis;

/** Polls until the condition holds; the timeout of the runner is the only limit. */
export const when = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await new Promise((resolve) => startTimer(resolve, 2));
};

export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Waits enough ticks for all work within the process to settle. */
export const settle = async (): Promise<void> => {
  for (let index = 0; index < 20; index += 1) await turn();
};

export type Deferred<Value> = { promise: Promise<Value>; resolve(value: Value): void };

export const defer = <Value = void>(): Deferred<Value> => {
  let resolve: (value: Value) => void = () => {};
  const promise = new Promise<Value>((settled) => {
    resolve = settled;
  });
  return { promise, resolve: (value) => resolve(value) };
};

/** The message of an error body, which must contain nothing else. */
export const errorOf = async (response: Response): Promise<string> => {
  const body: unknown = await response.json();
  return z.strictObject({ error: z.string() }).parse(body).error;
};

const refuseKey = (): never => {
  throw new Unauthorized('invalid credential');
};

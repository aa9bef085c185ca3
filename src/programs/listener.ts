import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js';
import { createOriginCheck } from '../http/cors.ts';
import { isMisframed } from '../http/framing.ts';
import { createHostCheck } from '../http/hosts.ts';
import { listenExclusively, type Served } from '../http/socket.ts';
import type { HttpServerChoice } from '../http/uws.ts';
import { isLoopback } from '../schema/loopback.ts';
import { LIMITS } from './limits.ts';
import { closed, fullness, opened, type Program, type Programs, received, refuse } from './programs.ts';

/**
 * Where other programs report to: a WebSocket on a port of its own, of loopback addresses only.
 *
 * A port and not a path of the service: that may listen to a whole network, and behind a proxy every client looks like
 * one of this machine. Here the system itself turns away who is elsewhere, no route of the service can be reached, and
 * what comes never meets the limits or the rights of its requests. A page in a browser is on this machine whoever wrote
 * it, so its origin must be of this machine too, and the host that it names (DNS rebinding).
 */

export type Listener = {
  /** `ws://host:port` */
  readonly url: string;
  close(): void;
};

type UserData = { programs: Programs; name: string; program: Program | undefined };

const acceptsOrigin = createOriginCheck(['loopback']);

type Place = { programs: Programs; acceptsHost: (host: string) => boolean };

/** Why a connection is not taken: a status line and what to do about it. */
const refusalOf = (
  { programs, acceptsHost }: Place,
  res: HttpResponse,
  req: HttpRequest,
): [status: string, text: string] | undefined => {
  if (!isLoopback(Buffer.from(res.getRemoteAddressAsText()).toString())) {
    return ['403 Forbidden', 'programs of this machine only'];
  }
  if (!acceptsHost(req.getHeader('host')))
    return ['403 Forbidden', 'name a loopback host, such as 127.0.0.1'];
  const origin = req.getHeader('origin');
  if (origin !== '' && !acceptsOrigin(origin)) return ['403 Forbidden', 'pages of this machine only'];
  const full = fullness(programs);
  return full === undefined ? undefined : ['503 Service Unavailable', full];
};

const STOPPING = ['503 Service Unavailable', 'the service stops'] as const;

const answer = (res: HttpResponse, [status, text]: readonly [string, string]): void => {
  res.writeStatus(status).writeHeader('content-type', 'text/plain').end(`${text}\n`, true);
};

/** What follows the slash, for who gives its program a name. */
const nameIn = (path: string): string => {
  try {
    return decodeURIComponent(path.slice(1));
  } catch {
    return path.slice(1);
  }
};

const routesOn = (app: TemplatedApp, served: Served<Place>): void => {
  app.ws<UserData>('/*', {
    maxPayloadLength: LIMITS.cutBytes,
    maxBackpressure: 64 * 1024,
    idleTimeout: 60,
    upgrade(res, req, context) {
      const place = served.by;
      if (isMisframed(req)) {
        res.close();
        return;
      }
      if (!place) {
        answer(res, STOPPING);
        return;
      }
      const refusal = refusalOf(place, res, req);
      if (refusal) {
        answer(res, refusal);
        return;
      }
      const data: UserData = { programs: place.programs, name: nameIn(req.getUrl()), program: undefined };
      const [key, protocol, extensions] = ['key', 'protocol', 'extensions'].map((name) =>
        req.getHeader(`sec-websocket-${name}`),
      );
      res.upgrade(data, key ?? '', protocol ?? '', extensions ?? '', context);
    },
    open(socket) {
      const data = socket.getUserData();
      data.program = opened(data.programs, data.name);
    },
    message(socket, bytes, isBinary) {
      const { programs, program } = socket.getUserData();
      if (!program) return;
      if (isBinary) refuse(program, 'a message is binary');
      else received(programs, program, bytes);
    },
    close(socket) {
      const { programs, program } = socket.getUserData();
      if (program) closed(programs, program);
    },
  });
  app.any('/*', (res, req) => {
    if (isMisframed(req)) res.close();
    else answer(res, ['426 Upgrade Required', 'programs of XState report here, over a WebSocket']);
  });
};

/** @throws Unavailable when the address cannot be had */
export const listenForPrograms = async (
  { uWS }: HttpServerChoice,
  programs: Programs,
  { host, port }: { host: string; port: number },
): Promise<Listener> => {
  if (!uWS) throw new Error('node:http is not implemented yet');
  const app = uWS.App();
  // A loopback address looks at the host, so there is a check.
  const acceptsHost = createHostCheck({ listening: host, names: [], publicUrl: undefined }) ?? isLoopback;
  const served: Served<Place> = { by: { programs, acceptsHost } };
  routesOn(app, served);
  const socket = await listenExclusively(app, host, port, served);
  const name = host.includes(':') ? `[${host}]` : host;
  return {
    url: `ws://${name}:${uWS.us_socket_local_port(socket)}`,
    close() {
      app.close();
      served.by = undefined;
    },
  };
};

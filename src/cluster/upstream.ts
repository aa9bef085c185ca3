import { Agent, type ClientRequest, type IncomingMessage, request as requestPlain } from 'node:http';
import { request as requestSecure, Agent as SecureAgent } from 'node:https';
import type { Socket } from 'node:net';
import { IDLE_MS } from '../http/node-limits.ts';

/** Connections to other members, which are kept open between requests. Redirects are not followed. */
export type Upstreams = {
  /** Throws if `node:http` rejects the path or a header. */
  open(url: URL, head: UpstreamHead): ClientRequest;
  close(): void;
};

/** PEM texts of the accepted authorities, and of the certificate of this member. */
export type UpstreamTls = {
  ca?: string | Buffer | undefined;
  cert?: string | Buffer | undefined;
  key?: string | Buffer | undefined;
};

type UpstreamHead = {
  method: string;
  /** Path and query, in which each character is a byte. */
  path: string;
  /** Names and values in turn; each character of a value is a byte. */
  headers: readonly string[];
};

/** @param tls for members with an `https` URL */
export const createUpstreams = (most: number, tls: UpstreamTls = {}): Upstreams => {
  // Another member closes idle connections after `IDLE_MS`. None may be in use at that moment.
  const options = { keepAlive: true, maxSockets: most, timeout: IDLE_MS / 2 };
  const plain = new Agent(options);
  const secure = new SecureAgent({ ...options, ...tls });
  return {
    open({ protocol, hostname, port }, { method, path, headers }) {
      const isSecure = protocol === 'https:';
      return (isSecure ? requestSecure : requestPlain)({
        protocol,
        hostname: hostname.replace(/^\[|\]$/g, ''),
        port,
        method,
        path,
        headers,
        agent: isSecure ? secure : plain,
      });
    },
    close() {
      plain.destroy();
      secure.destroy();
    },
  };
};

type UpstreamEvents = {
  /** Bytes of the request may have been sent. */
  connected(): void;
  response(message: IncomingMessage): void;
  failed(): void;
};

/** @param patienceMs for the connection */
export const followUpstream = (
  request: ClientRequest,
  patienceMs: number,
  { connected, response, failed }: UpstreamEvents,
): void => {
  const timer = setTimeout(() => request.destroy(new Error('no connection in time')), patienceMs);
  const proceed = (): void => {
    clearTimeout(timer);
    connected();
  };
  request.on('socket', (socket: Socket) => {
    if (request.reusedSocket || !socket.connecting) proceed();
    else socket.once('encrypted' in socket ? 'secureConnect' : 'connect', proceed);
  });
  request.on('response', response);
  request.on('error', failed);
  request.on('close', () => clearTimeout(timer));
};

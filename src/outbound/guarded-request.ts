import type { LookupAddress } from 'node:dns';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { isIP, type LookupFunction } from 'node:net';
import { loadHttps } from '../schema/https.ts';
import { isLocalName } from '../schema/loopback.ts';
import { timerMs } from '../schema/timer.ts';
import type { Resolve } from './public-address.ts';

/**
 * Sends one request to an untrusted address.
 *
 * Guarantees: it connects only to addresses that `mayConnect` allows. The addresses of a name are checked when the
 * socket resolves it, and the socket connects to exactly these, so a name server cannot return different ones later. A
 * name with one forbidden address is rejected. Redirects are not followed, connections are neither shared nor kept, and
 * a response is read only up to its limit.
 */
export type GuardedOptions = {
  method?: string;
  headers: Record<string, string>;
  body?: string | Uint8Array;
  timeoutMs: number;
  largestBytes: number;
  resolve: Resolve;
  mayConnect: (address: string) => boolean;
};

/** The whole response, whatever its status. */
export type GuardedResponse = { status: number; headers: IncomingMessage['headers']; body: Buffer };

/** The connection is refused because of the host name, or because of the resolved `address`. */
export class HostRefused extends Error {
  readonly address: string | undefined;

  constructor(host: string, address?: string) {
    const named = address === undefined || address === host ? host : `${host} (${address})`;
    super(address === undefined ? `host is not allowed: ${host}` : `host has a non-public address: ${named}`);
    this.name = 'HostRefused';
    this.address = address;
  }
}

/** @throws Error with the reason, without headers or the response */
export const sendGuarded = async (url: URL, options: GuardedOptions): Promise<GuardedResponse> => {
  checkHost(url.hostname, options);
  const signal = AbortSignal.timeout(timerMs(options.timeoutMs));
  try {
    const response = await open(url, options, signal);
    return await readAll(response, options.largestBytes);
  } catch (error) {
    if (signal.aborted) throw new Error(`no answer within ${options.timeoutMs} ms`);
    throw error;
  }
};

/** The address to check for local names, regardless of resolution. */
const LOOPBACK = '127.0.0.1';

/** Checks the literal host of an address; a name is resolved later. */
export const checkHost = (hostname: string, { mayConnect }: Pick<GuardedOptions, 'mayConnect'>): void => {
  if (isLocalName(hostname) && !mayConnect(LOOPBACK)) throw new HostRefused(hostname);
  const literal = hostname.replace(/^\[|\]$/g, '');
  if (isIP(literal) !== 0 && !mayConnect(literal)) throw new HostRefused(literal, literal);
};

const open = (url: URL, options: GuardedOptions, signal: AbortSignal): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? loadHttps().request : httpRequest;
    const request = send(url, {
      agent: false,
      method: options.method ?? 'GET',
      headers: { ...options.headers, 'accept-encoding': 'identity' },
      lookup: checkedLookup(options),
      signal,
    });
    request.on('response', resolve);
    request.on('error', reject);
    request.end(options.body);
  });

export const checkedLookup =
  ({ resolve, mayConnect }: Pick<GuardedOptions, 'resolve' | 'mayConnect'>): LookupFunction =>
  (name, { all }, callback) => {
    const found = (addresses: LookupAddress[]): void => {
      const [first] = addresses;
      const refused = addresses.find(({ address }) => !mayConnect(address));
      if (refused) callback(new HostRefused(name, refused.address), []);
      else if (!first) callback(new Error(`host has no address: ${name}`), []);
      else if (all) callback(null, addresses);
      else callback(null, first.address, first.family);
    };
    resolve(name).then(found, (error: NodeJS.ErrnoException) => callback(error, []));
  };

/** @throws Error */
const readAll = async (response: IncomingMessage, largestBytes: number): Promise<GuardedResponse> => {
  try {
    const { statusCode: status = 0, headers } = response;
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of response) {
      bytes += chunk.length;
      if (bytes > largestBytes) throw new Error(`the response has more than ${largestBytes} bytes`);
      chunks.push(chunk);
    }
    return { status, headers, body: Buffer.concat(chunks) };
  } finally {
    response.destroy();
  }
};

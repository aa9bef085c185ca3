import { createHostCheck, type HostCheck, hostname } from '../../http/hosts.ts';
import type { Entry } from '../../http/origin.ts';
import { isLoopback } from '../../schema/loopback.ts';
import { forbidden, type McpError } from './errors.ts';

/**
 * Checks which pages may access the endpoint (mcp.md A3). A browser sends the page in `Origin` and the server in
 * `Host`. With DNS rebinding, a page has the same name in both, so both are checked.
 */
export type CallerCheck = {
  /** @param entry the listener of another member that accepted the request */
  host(host: string | undefined, entry: Entry | undefined): McpError | undefined;
  origin(host: string | undefined, origin: string | undefined): McpError | undefined;
};

export const createCallerCheck = ({
  acceptsHost,
  origins,
}: {
  /** Returns whether requests by a listener may name a host. Without an entry, it is that of this process. */
  acceptsHost(host: string, entry: Entry | undefined): boolean;
  /** Accepted in addition to the origins of localhost and of the requested host. */
  origins: readonly string[];
}): CallerCheck => {
  const listed = new Set(origins.map((origin) => origin.toLowerCase().replace(/\/$/, '')));
  return {
    host: (host = '', entry) =>
      !acceptsHost(host, entry) ? forbidden('Host header is not allowed for this MCP endpoint') : undefined,
    origin(host = '', origin = undefined) {
      if (origin === undefined || listed.has(origin.toLowerCase())) return undefined;
      const from = hostOf(origin);
      if (from === undefined) return forbidden('invalid Origin header');
      if (isLoopback(from) || from === hostname(host)) return undefined;
      return forbidden('Origin header is not allowed for this MCP endpoint');
    },
  };
};

/**
 * Returns the check of hosts for the listener of this process, and for those of other members: what a listener accepts
 * depends on whether only clients on its host can connect.
 */
export const createHostChecks = ({
  listening,
  ...accepted
}: Parameters<typeof createHostCheck>[0]): ((host: string, entry: Entry | undefined) => boolean) => {
  const checkAt = (address: string): HostCheck =>
    createHostCheck({ listening: address, ...accepted }) ?? (() => true);
  const [own, local, open] = [checkAt(listening), checkAt('127.0.0.1'), checkAt('0.0.0.0')];
  return (host, entry) => {
    if (!entry) return own(host);
    return entry.isLocalListener ? local(host) : open(host);
  };
};

/** Returns undefined for a value without a host, such as `null`. */
const hostOf = (origin: string): string | undefined => {
  const host = URL.canParse(origin) ? new URL(origin).hostname : '';
  // For schemes outside of the web, `URL` does not parse the host as a domain name.
  return host === '' ? undefined : (hostname(host) ?? host);
};

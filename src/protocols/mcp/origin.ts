import { hostname } from '../../http/hosts.ts';
import { isLoopback } from '../../schema/loopback.ts';
import { forbidden, type McpError } from './errors.ts';

/**
 * Checks which pages may access the endpoint (mcp.md A3). A browser sends the page in `Origin` and the server in
 * `Host`. With DNS rebinding, a page has the same name in both, so both are checked.
 */
export type CallerCheck = {
  host(host: string | undefined): McpError | undefined;
  origin(host: string | undefined, origin: string | undefined): McpError | undefined;
};

export const createCallerCheck = ({
  acceptsHost,
  origins,
}: {
  /** If undefined, any host is accepted. */
  acceptsHost: ((host: string) => boolean) | undefined;
  /** Accepted in addition to the origins of localhost and of the requested host. */
  origins: readonly string[];
}): CallerCheck => {
  const listed = new Set(origins.map((origin) => origin.toLowerCase().replace(/\/$/, '')));
  return {
    host: (host = '') =>
      acceptsHost && !acceptsHost(host)
        ? forbidden('Host header is not allowed for this MCP endpoint')
        : undefined,
    origin(host = '', origin = undefined) {
      if (origin === undefined || listed.has(origin.toLowerCase())) return undefined;
      const from = hostOf(origin);
      if (from === undefined) return forbidden('invalid Origin header');
      if (isLoopback(from) || from === hostname(host)) return undefined;
      return forbidden('Origin header is not allowed for this MCP endpoint');
    },
  };
};

/** Returns undefined for a value without a host, such as `null`. */
const hostOf = (origin: string): string | undefined => {
  const host = URL.canParse(origin) ? new URL(origin).hostname : '';
  // For schemes outside of the web, `URL` does not parse the host as a domain name.
  return host === '' ? undefined : (hostname(host) ?? host);
};

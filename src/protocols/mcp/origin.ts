import { hostname } from '../../http/hosts.ts';
import { isLoopback } from '../../schema/loopback.ts';
import { forbidden, type McpError } from './errors.ts';

/**
 * Whose pages may speak to the endpoint (mcp.md A3). A browser names the page in `Origin` and the server in `Host`; a
 * page whose name was given the address of this machine (DNS rebinding) has the same name in both, so both are looked at.
 */
export type CallerCheck = (host: string | undefined, origin: string | undefined) => McpError | undefined;

export const createCallerCheck = ({
  acceptsHost,
  origins,
}: {
  /** Undefined: any. */
  acceptsHost: ((host: string) => boolean) | undefined;
  /** That are accepted besides those of this machine and of the host itself. */
  origins: readonly string[];
}): CallerCheck => {
  const listed = new Set(origins.map((origin) => origin.toLowerCase().replace(/\/$/, '')));
  return (host = '', origin) => {
    if (acceptsHost && !acceptsHost(host))
      return forbidden('Host header is not allowed for this MCP endpoint');
    if (origin === undefined || listed.has(origin.toLowerCase())) return undefined;
    const from = hostOf(origin);
    if (from === undefined) return forbidden('invalid Origin header');
    if (isLoopback(from) || from === hostname(host)) return undefined;
    return forbidden('Origin header is not allowed for this MCP endpoint');
  };
};

/** Undefined for what is no address with a host, such as `null`. */
const hostOf = (origin: string): string | undefined => {
  const host = URL.canParse(origin) ? new URL(origin).hostname : '';
  // Of a scheme that is not of the web, a URL does not read the host as a name.
  return host === '' ? undefined : (hostname(host) ?? host);
};

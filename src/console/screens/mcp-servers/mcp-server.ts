import {
  fields,
  flag,
  type Guarded,
  isObject,
  type JsonObject,
  list,
  nullable,
  number,
  object,
  optional,
  text,
  withDefault,
} from '../../data/guard.ts';
import type { Resource } from '../../data/queries.ts';
import { recordsOf } from '../../data/records.ts';
import { pathOf } from '../../data/request.ts';
import { mcpStatus } from '../../data/resources.ts';
import type { Tone } from '../../design/Chip.tsx';
import { asSpec, type Spec, textOf, writtenOf } from '../../entry/entry.ts';
import type { Found } from '../../entry/use-entry.ts';
import { say } from '../../i18n/locale.ts';
import texts from './texts.json' with { type: 'json' };

const Server = object({
  ...fields(text, 'id', 'transport'),
  ...fields(optional(text), 'command', 'url'),
  ...fields(withDefault(list(text), []), 'args', 'env_keys'),
});
export type Server = Guarded<typeof Server>;

export const SERVERS = recordsOf('mcp-servers', Server);

export const endpointOf = ({ transport, command = '', args, url = '' }: Server): string =>
  transport === 'http' ? url : [command, ...args].join(' ');

const Status = object({
  ...fields(flag, 'connected', 'reconnecting', 'permanently_failed'),
  ...fields(number, 'consecutive_failures', 'transport_reconnect_count'),
  ...fields(nullable(number), 'last_attempt_at', 'last_success_at', 'last_init_at'),
  last_error: nullable(text),
  session_generation: withDefault(number, 0),
  tools: withDefault(list(object({ name: text, description: nullable(text) })), []),
  left_out: withDefault(list(object({ name: text, reason: text })), []),
  changed_tools: withDefault(
    list(object({ name: text, change: text, digest: text, seen_at: number, held: flag })),
    [],
  ),
});
export type Status = Guarded<typeof Status>;

export const statusOf = (id: string, every: number): Resource<Status> => ({
  ...mcpStatus(id, every),
  guard: Status,
});

const Prompt = object({
  name: text,
  description: optional(text),
  arguments: withDefault(list(object({ name: text })), []),
});
const Offer = object({ uri: text, name: withDefault(text, ''), mimeType: optional(text) });

const Inventory = object({
  prompts: withDefault(list(object({ prompt: Prompt })), []),
  resources: withDefault(list(object({ resource: Offer })), []),
});
export type Inventory = Guarded<typeof Inventory>;

export const inventoryOf = (id: string): Resource<Inventory> => ({
  path: pathOf`/v1/mcp-servers/${id}/inventory`,
  guard: Inventory,
});

export type Health = 'connected' | 'reconnecting' | 'failing' | 'givenUp' | 'neverProbed';

/** A permanently failed connection is not retried. */
export const healthOf = (
  status: Pick<Status, 'connected' | 'reconnecting' | 'permanently_failed' | 'consecutive_failures'> & {
    last_attempt_at?: number | null | undefined;
  },
): Health => {
  if (status.permanently_failed) return 'givenUp';
  if (status.connected) return 'connected';
  if (status.reconnecting) return 'reconnecting';
  if (status.consecutive_failures > 0) return 'failing';
  return status.last_attempt_at === null || status.last_attempt_at === undefined ? 'neverProbed' : 'failing';
};

export const TONES: Readonly<Record<Health, Tone>> = {
  connected: 'success',
  reconnecting: 'warn',
  failing: 'warn',
  givenUp: 'error',
  neverProbed: 'none',
};

export const check = ({ transport, command, url }: Spec): Found[] => {
  if (transport === 'stdio' && textOf(command).trim() === '')
    return [['command', say(texts, 'problem.command')]];
  return transport === 'http' && textOf(url).trim() === '' ? [['url', say(texts, 'problem.address')]] : [];
};

/** Leaves out the fields of the other transport. */
export const bodyOf = (spec: JsonObject): JsonObject => {
  const foreign = spec.transport === 'http' ? ['command', 'args'] : ['url'];
  return Object.fromEntries(Object.entries(writtenOf(spec)).filter(([field]) => !foreign.includes(field)));
};

const MOST_SHOWN = 6;

/** The delays between attempts in milliseconds, and whether the server is abandoned after them. */
export const scheduleOf = (policy: JsonObject): { pauses: number[]; givesUp: boolean } => {
  const at = (field: string, usual: number): number => {
    const { [field]: value } = policy;
    return typeof value === 'number' ? value : usual;
  };
  const most = at('max_attempts', Number.POSITIVE_INFINITY);
  const [first, times, longest] = [
    at('delay_ms', 1000),
    at('backoff_multiplier', 2),
    at('max_delay_ms', 30_000),
  ];
  return {
    pauses: Array.from({ length: Math.min(most, MOST_SHOWN) }, (_, attempt) =>
      Math.min(first * times ** attempt, longest),
    ),
    givesUp: most <= MOST_SHOWN,
  };
};

export const isPairs = (value: unknown): value is Record<string, string> =>
  isObject(value) && Object.values(value).every((each) => typeof each === 'string');

// ---- Configurations of other clients ----

const jsonIn = (written: string): unknown => {
  try {
    return JSON.parse(written);
  } catch {
    return undefined;
  }
};

/** An id that entries accept, made from the name of a server. */
const idOf = (name: string): string => name.replace(/[^\w.-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '');

const specOf = (name: string, given: JsonObject): Spec[] => {
  const { command, args, env, url, headers } = given;
  const shared = { id: idOf(name), ...(isPairs(env) && Object.keys(env).length > 0 && { env }) };
  const address = textOf(url) || textOf(given.serverUrl);
  if (address !== '')
    return [
      asSpec({
        ...shared,
        transport: 'http',
        url: address,
        ...(isPairs(headers) && { config: { headers } }),
      }),
    ];
  if (textOf(command) === '') return [];
  const given_args = Array.isArray(args) ? args.filter((arg) => typeof arg === 'string') : [];
  return [
    asSpec({ ...shared, transport: 'stdio', command, ...(given_args.length > 0 && { args: given_args }) }),
  ];
};

/**
 * The servers in a configuration as other MCP clients write it: `{"mcpServers": {…}}`, `{"servers": {…}}`, the object
 * of servers by name, or one server.
 */
export const serversIn = (written: string): Spec[] => {
  const trimmed = written.trim();
  // Documentation often shows only the member, without the braces around it.
  const value = jsonIn(trimmed) ?? jsonIn(`{${trimmed.replace(/,$/, '')}}`);
  if (!isObject(value)) return [];
  const named = [value.mcpServers, value.servers].find(isObject) ?? value;
  const one = specOf('', named);
  if (one.length > 0) return one;
  return Object.entries(named).flatMap(([name, server]) => (isObject(server) ? specOf(name, server) : []));
};

import {
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
import { allOf, count, jsonObject, webAddress } from '../../entry/checks.ts';
import { type EntryKind, type Errors, objectOf, type Spec, textOf } from '../../entry/entry.ts';
import { say } from '../../i18n/locale.ts';
import { texts } from './texts.ts';

export const SERVER: EntryKind = { namespace: 'mcp-servers', entity: 'entity.mcpServer' };

const Server = object({
  id: text,
  transport: text,
  command: optional(text),
  args: withDefault(list(text), []),
  url: optional(text),
  env_keys: withDefault(list(text), []),
});
export type Server = Guarded<typeof Server>;

export const SERVERS = recordsOf('mcp-servers', Server);

export const endpointOf = ({ transport, command = '', args, url = '' }: Server): string =>
  transport === 'http' ? url : [command, ...args].join(' ');

/** How often the status of a row is read. */
export const LIST_EVERY = 15_000;

const Status = object({
  connected: flag,
  reconnecting: flag,
  permanently_failed: flag,
  consecutive_failures: number,
  last_error: nullable(text),
  last_attempt_at: nullable(number),
  last_success_at: nullable(number),
  last_init_at: nullable(number),
  session_generation: withDefault(number, 0),
  transport_reconnect_count: number,
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

const Inventory = object({
  prompts: withDefault(
    list(
      object({
        prompt: object({
          name: text,
          description: optional(text),
          arguments: withDefault(list(object({ name: text })), []),
        }),
      }),
    ),
    [],
  ),
  resources: withDefault(
    list(object({ resource: object({ uri: text, name: withDefault(text, ''), mimeType: optional(text) }) })),
    [],
  ),
});
export type Inventory = Guarded<typeof Inventory>;

export const inventoryOf = (id: string): Resource<Inventory> => ({
  path: pathOf`/v1/mcp-servers/${id}/inventory`,
  guard: Inventory,
});

export type Health = 'connected' | 'reconnecting' | 'failing' | 'givenUp' | 'neverProbed';

/** One that has been given up is not one that is tried again. */
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

const commandProblem = ({ transport, command }: Spec): [string, string][] =>
  transport === 'stdio' && textOf(command).trim() === '' ? [['command', say(texts, 'problem.command')]] : [];

const urlProblem = (draft: Spec): [string, string][] =>
  draft.transport === 'http' ? [...webAddress('url')({ url: textOf(draft.url) || 'none' })] : [];

export const FIELDS = [
  'transport',
  'command',
  'args',
  'url',
  'timeout_secs',
  'env',
  'config',
  'restart_policy',
];

const policyProblems = (draft: Spec): [string, string][] => {
  const policy = objectOf(draft.restart_policy);
  return [count('max_attempts', 1), count('delay_ms', 0), count('max_delay_ms', 0)].flatMap((check) =>
    check(policy).map(([field, said]) => [`restart_policy.${field}`, said] as [string, string]),
  );
};

export const check = (draft: Spec): Errors =>
  allOf(
    () => commandProblem(draft),
    () => urlProblem(draft),
    count('timeout_secs', 0),
    jsonObject('config'),
    () => policyProblems(draft),
  )(draft);

/** What the service told of a stored environment is no part of the entry; of a transport only its own fields are. */
export const bodyOf = ({ has_env: _, env_keys: __, ...spec }: JsonObject): JsonObject => {
  const foreign = spec.transport === 'http' ? ['command', 'args'] : ['url'];
  return Object.fromEntries(Object.entries(spec).filter(([field]) => !foreign.includes(field)));
};

const numberIn = (policy: JsonObject, field: string, usual: number): number => {
  const { [field]: value } = policy;
  return typeof value === 'number' ? value : usual;
};

const MOST_SHOWN = 6;

/** The pauses between attempts in ms, and whether it gives up after them. */
export const scheduleOf = (policy: JsonObject): { pauses: number[]; givesUp: boolean } => {
  const most = numberIn(policy, 'max_attempts', Number.POSITIVE_INFINITY);
  const [first, times, longest] = [
    numberIn(policy, 'delay_ms', 1000),
    numberIn(policy, 'backoff_multiplier', 2),
    numberIn(policy, 'max_delay_ms', 30_000),
  ];
  const shown = Math.min(most, MOST_SHOWN);
  return {
    pauses: Array.from({ length: shown }, (_, attempt) => Math.min(first * times ** attempt, longest)),
    givesUp: most <= MOST_SHOWN,
  };
};

export const isEnv = (value: unknown): value is Record<string, string> =>
  isObject(value) && Object.values(value).every((each) => typeof each === 'string');

import { isObject } from './endpoint.ts';
import type { JsonObject } from './json.ts';

/**
 * Validates `provider_options`: for each wire format, adapter or provider an object of fields that are merged into the
 * body of its requests. A field that contains the conversation, the tools, the model or a credential is rejected, so
 * that options change the processing of a request but not its content, model or author.
 */

/** Maximum size as JSON, in bytes. */
export const MOST_OPTION_BYTES = 16_384;
/** Maximum levels of objects and lists, including the outermost. */
export const DEEPEST_OPTION = 16;

/** Names without case and separators, because services accept several spellings of one field. */
const REFUSED: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'is set by the model entry': ['model', 'models', 'upstream_model'],
    'carries the conversation': [
      'messages',
      'input',
      'contents',
      'content',
      'prompt',
      'system',
      'system_instruction',
      'instructions',
      'cached_content',
      'conversation',
      'previous_response_id',
      'continuation_token',
    ],
    'is set by the tools of the agent': ['tools', 'tool_config', 'functions', 'function_call', 'mcp_servers'],
    'is a setting of its own: use tool_choice': ['tool_choice'],
    'is set by the service': ['stream', 'stream_options', 'n', 'candidate_count', 'background'],
    'carries credentials or an address: set them at the provider': [
      'api_key',
      'key',
      'api_base',
      'base_url',
      'authorization',
      'access_token',
      'headers',
      'extra_headers',
    ],
  }).flatMap(([why, names]) => names.map((name): [string, string] => [plain(name), why])),
);

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

/** Returns why options are rejected, with the path; undefined if they are accepted. */
export function providerOptionsProblem(options: JsonObject): string | undefined {
  const problem = jsonProblem(options, 'provider_options', 1);
  if (problem !== undefined) return problem;
  for (const [key, fields] of Object.entries(options)) {
    if (!isObject(fields)) return `provider_options.${shown(key)} must be an object of request fields`;
    for (const name of Object.keys(fields)) {
      const why = REFUSED.get(plain(name));
      if (why !== undefined) return `provider_options.${shown(key)}.${name} cannot be set: it ${why}`;
    }
  }
  const bytes = new TextEncoder().encode(JSON.stringify(options)).length;
  return bytes > MOST_OPTION_BYTES
    ? `provider_options must have at most ${MOST_OPTION_BYTES} bytes as JSON (got ${bytes})`
    : undefined;
}

/** Options of an embedding program may be other values than JSON, and may be cyclic. */
function jsonProblem(value: unknown, at: string, depth: number): string | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : `${at} must be a finite number`;
  if (typeof value !== 'object') return `${at} must be JSON, not ${typeof value}`;
  if (depth > DEEPEST_OPTION) return `provider_options must nest at most ${DEEPEST_OPTION} levels deep`;
  if (Array.isArray(value)) {
    return first(value.entries(), ([index, each]) => jsonProblem(each, `${at}[${index}]`, depth + 1));
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null)
    return `${at} must be JSON, not an instance of a class`;
  return first(Object.entries(value), ([name, each]) =>
    name === '__proto__'
      ? `${at} must not have a field '__proto__'`
      : jsonProblem(each, `${at}.${shown(name)}`, depth + 1),
  );
}

function first<Item>(
  items: Iterable<Item>,
  problemOf: (item: Item) => string | undefined,
): string | undefined {
  for (const item of items) {
    const problem = problemOf(item);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

const LONGEST_NAME = 64;

function shown(name: string): string {
  return name.length <= LONGEST_NAME ? name : `${name.slice(0, LONGEST_NAME)}…`;
}

import type { UserMessage } from '../runtime/index.ts';

/**
 * What the user interface of a client tells about itself, for the model and for nobody else (chat-and-agui.md 2.5).
 * It stands in front of the messages that it came with.
 */
export type FrontendContext = UserMessage & { visibility: 'internal' };

export const frontendContext = (value: unknown): FrontendContext | undefined => {
  if (value === undefined || isStateSnapshot(value)) return undefined;
  const json = JSON.stringify(value);
  if (SAYS_NOTHING.has(json)) return undefined;
  return {
    role: 'system',
    content: [{ type: 'text', text: `<frontend-context>\n${json}\n</frontend-context>` }],
    visibility: 'internal',
  };
};

/** Looked for in the text, because the keys of a large object cost as much as the whole text. */
const SAYS_NOTHING: ReadonlySet<string> = new Set(['null', '""', '[]', '{}']);

export const saysSomething = (value: unknown): boolean => {
  if (value === undefined || value === null || value === '') return false;
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value !== 'object') return true;
  return Object.keys(value).length > 0 && !isStateSnapshot(value);
};

/** Clients send the last state of the run back as theirs. */
const isStateSnapshot = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  'revision' in value &&
  'extensions' in value &&
  Object.keys(value).length === 2;

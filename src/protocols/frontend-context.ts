import type { UserMessage } from '../runtime/index.ts';

/**
 * State that the user interface of a client sends for the model only (chat-and-agui.md 2.5). It precedes the messages
 * of its request.
 */
export type FrontendContext = UserMessage & { visibility: 'internal' };

export const frontendContext = (value: unknown): FrontendContext | undefined => {
  if (value === undefined || isStateSnapshot(value)) return undefined;
  const json = JSON.stringify(value);
  if (EMPTY.has(json)) return undefined;
  return {
    role: 'system',
    content: [{ type: 'text', text: `<frontend-context>\n${json}\n</frontend-context>` }],
    visibility: 'internal',
  };
};

/** Compared as text, because listing the keys of a large object costs as much as serializing it. */
const EMPTY: ReadonlySet<string> = new Set(['null', '""', '[]', '{}']);

export const isPresent = (value: unknown): boolean => {
  if (value === undefined || value === null || value === '') return false;
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value !== 'object') return true;
  return Object.keys(value).length > 0 && !isStateSnapshot(value);
};

/** Clients send the last state of the run back as their own. */
const isStateSnapshot = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  'revision' in value &&
  'extensions' in value &&
  Object.keys(value).length === 2;

import type { UserMessage } from '../runtime/index.ts';

/**
 * What the user interface of a client tells about itself, for the model and for nobody else (chat-and-agui.md 2.5).
 * It stands in front of the messages that it came with.
 */
export type FrontendContext = UserMessage & { visibility: 'internal' };

export const frontendContext = (value: unknown): FrontendContext | undefined =>
  saysSomething(value)
    ? {
        role: 'system',
        content: [
          { type: 'text', text: `<frontend-context>\n${JSON.stringify(value)}\n</frontend-context>` },
        ],
        visibility: 'internal',
      }
    : undefined;

export const saysSomething = (value: unknown): boolean => {
  if (value === undefined || value === null || value === '') return false;
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value !== 'object') return true;
  const keys = Object.keys(value);
  return keys.length > 0 && !isStateSnapshot(keys);
};

/** Clients send the last state of the run back as theirs. */
const isStateSnapshot = (keys: readonly string[]): boolean =>
  keys.length === 2 && keys.includes('revision') && keys.includes('extensions');

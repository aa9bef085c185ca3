import { catchUp, look } from './catch-up.ts';
import type { ThreadChat } from './thread.ts';

/**
 * Detects changes of a thread by other clients: decisions, messages from another tab, and cancellation. A visible page
 * polls with one small request; a hidden page polls when it becomes visible again. A stream of events would be faster,
 * but a browser has only six connections to a service without HTTP/2.
 */

// The browser API that is used, because the rest of the project is checked without its types.
declare const document: EventTarget & { readonly visibilityState: string };
declare const window: EventTarget;

/** Passes the outcome of each poll to the callback. Returns a function that stops polling. */
export const pollThread = (
  thread: ThreadChat,
  every: number,
  notify: (error: Error | undefined) => void,
): (() => void) => {
  const attempt = (ask: (of: ThreadChat) => Promise<void>): void => {
    if (document.visibilityState !== 'visible') return;
    ask(thread).then(() => notify(undefined), notify);
  };
  const again = (): void => attempt(catchUp);
  again();
  const timer = every > 0 ? setInterval(() => attempt(look), every) : undefined;
  document.addEventListener('visibilitychange', again);
  window.addEventListener('online', again);
  return () => {
    clearInterval(timer);
    document.removeEventListener('visibilitychange', again);
    window.removeEventListener('online', again);
  };
};

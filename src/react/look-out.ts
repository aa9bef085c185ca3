import { catchUp, look } from './catch-up.ts';
import type { ThreadChat } from './thread.ts';

/**
 * Notices what others do on the thread: decide what it waits for, say something in another tab, stop it. A page that is
 * looked at asks now and then, which is one small request; a page behind others asks when it is looked at again.
 * A stream of events would tell sooner, but a browser has no more than six connections to a service without HTTP/2.
 */

// Of a browser, what is used: the rest of the project is checked without its types.
declare const document: EventTarget & { readonly visibilityState: string };
declare const window: EventTarget;

/** @param tell what came of it, each time. Returns how to end it. */
export const lookOut = (
  thread: ThreadChat,
  every: number,
  tell: (error: Error | undefined) => void,
): (() => void) => {
  const attempt = (ask: (of: ThreadChat) => Promise<void>): void => {
    if (document.visibilityState !== 'visible') return;
    ask(thread).then(() => tell(undefined), tell);
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

import { type Document, Window } from 'happy-dom';
import { createElement } from 'react';
import type { Test } from 'tap';
import { type TroupeChat, type TroupeChatOptions, useTroupeChat } from '../../src/react/index.ts';
import { eventually } from '../service/troupe.ts';

/** A page with only the hook, rendered by React into a document without a browser. */

export type Page = {
  /** The return value of the hook at the last rendering. */
  now(): TroupeChat;
  /** Renders the page again with these options. */
  show(options: TroupeChatOptions): void;
  /** Waits until the return value meets the condition. */
  until(holds: (chat: TroupeChat) => boolean): Promise<TroupeChat>;
  leave(): void;
};

/** Globals that a page has. They are not defined in the test process before or after. */
const GLOBALS = ['window', 'document', 'navigator'] as const;

/** Locks as in a browser, for one name at a time. */
const createLocks = () => {
  const held = new Set<string>();
  return {
    async request(name: string, _: object, act: (lock: object | null) => unknown): Promise<unknown> {
      if (held.has(name)) return act(null);
      held.add(name);
      try {
        return await act({ name });
      } finally {
        held.delete(name);
      }
    },
  };
};

/** The environment of pages, for all tests of a file. */
export const openDocument = (t: Test) => {
  const window = new Window({ url: 'http://page.test/' });
  const { document } = window;
  const navigator: { userAgent: string; locks?: object } = { userAgent: '', locks: createLocks() };
  let visibility = 'visible';
  Object.defineProperty(document, 'visibilityState', { get: () => visibility });
  const before = GLOBALS.map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const);
  for (const [name, value] of Object.entries({ window, document, navigator }))
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  t.teardown(async () => {
    // React cleans up in a separate task.
    await new Promise((resolve) => setTimeout(resolve, 0));
    await window.happyDOM.close();
    for (const [name, descriptor] of before) {
      if (descriptor) Object.defineProperty(globalThis, name, descriptor);
      else Reflect.deleteProperty(globalThis, name);
    }
  });
  return {
    open: (t: Test, options: TroupeChatOptions): Promise<Page> => openPage(t, document, options),
    /** The user switches to another tab, or back to this one. */
    turn(to: 'visible' | 'hidden'): void {
      visibility = to;
      document.dispatchEvent(new window.Event('visibilitychange'));
    },
    /** The network is available again. */
    online: () => void window.dispatchEvent(new window.Event('online')),
    /** Removes the locks, as on an HTTP page. */
    withoutLocks(t: Test): void {
      const { locks } = navigator;
      Reflect.deleteProperty(navigator, 'locks');
      t.teardown(() => {
        navigator.locks = locks;
      });
    },
  };
};

type Given = TroupeChatOptions & { take(chat: TroupeChat): void };

const Probe = ({ take, ...options }: Given) => {
  take(useTroupeChat(options));
  return null;
};

const openPage = async (t: Test, document: Document, options: TroupeChatOptions): Promise<Page> => {
  // The module accesses the document while it loads.
  const { createRoot } = await import('react-dom/client');
  let chat: TroupeChat | undefined;
  const take = (given: TroupeChat): void => {
    chat = given;
  };
  const root = createRoot(document.createElement('div'), {
    onUncaughtError: (error) => t.fail('the component must render', { found: String(error) }),
  });
  const show = (shown: TroupeChatOptions): void => root.render(createElement(Probe, { ...shown, take }));
  show(options);
  const leave = (): void => root.unmount();
  t.teardown(leave);
  const now = (): TroupeChat => {
    if (!chat) throw new Error('the page was not rendered');
    return chat;
  };
  const page: Page = {
    now,
    show,
    async until(holds) {
      await eventually(
        async () => chat !== undefined && holds(chat),
        (isSo) => isSo,
      ).catch(() => {
        const { messages, status, error, isBusy, isLoaded, isUnanswered } = now();
        t.fail('the condition must become true', {
          messages,
          status,
          said: String(error),
          isBusy,
          isLoaded,
          isUnanswered,
        });
      });
      return now();
    },
    leave,
  };
  return page.until(() => true).then(() => page);
};

import { isToolUIPart, type UIMessage } from 'ai';
import type { Test } from 'tap';
import { catchUp, enter, isBusy, look } from '../../src/react/catch-up.ts';
import type { PageTools, TabLock, ThreadChat } from '../../src/react/thread.ts';
import { createThreadChat } from '../../src/react/thread-chat.ts';
import { eventually, type Troupe } from '../service/troupe.ts';

/** Tabs with a thread of a service, without a page. */

export type TabOptions = {
  agentId?: string;
  url?: string;
  tools?: PageTools;
  fetch?: typeof fetch;
  alone?: TabLock;
  /** Does not wait for the end of the followed run. */
  whileItRuns?: true;
};

export type Tab = ThreadChat & { leave(): void };

/** A tab that was opened on this thread. */
export const openTab = async (
  t: Test,
  troupe: Pick<Troupe, 'url'>,
  threadId: string,
  options: TabOptions = {},
): Promise<Tab> => {
  const { url = troupe.url, agentId = 'steps', alone = (_, act) => void act() } = options;
  const thread = createThreadChat({
    url,
    threadId,
    agentId,
    headers: () => ({}),
    fetch: options.fetch ?? fetch,
    tools: () => options.tools ?? {},
    alone,
  });
  const leave = enter(thread);
  t.teardown(leave);
  const caughtUp = catchUp(thread);
  // It resolves at the end of the answer.
  if (!options.whileItRuns) await caughtUp;
  else caughtUp.catch(() => {});
  return Object.assign(thread, { leave });
};

/** Locks as in a browser: granted asynchronously, and released when the action has ended or the tab is closed. */
export const createLocks = () => {
  const held = new Set<string>();
  const alone: TabLock = (name, act) => {
    queueMicrotask(() => {
      if (held.has(name)) return;
      held.add(name);
      act()
        .catch(() => {})
        .finally(() => held.delete(name));
    });
  };
  return { alone, closeTab: () => held.clear() };
};

const partOf = (part: UIMessage['parts'][number]): string[] => {
  if (part.type === 'text') return [part.text];
  return isToolUIPart(part) ? [`${part.type} ${part.state}`] : [];
};

/** The text of the messages, and the states of their calls. */
export const partsOf = (messages: readonly UIMessage[]): string[] =>
  messages.flatMap(({ parts }) => parts.flatMap(partOf));

export const shown = ({ chat }: Pick<ThreadChat, 'chat'>): string[] => partsOf(chat.messages);

/** The messages that the service has stored. */
export const history = async (troupe: Troupe, threadId: string): Promise<string[]> => {
  const { body } = await troupe.call('GET', `/v1/ai-sdk/threads/${threadId}/messages?limit=200`);
  // The type that the route declares.
  return partsOf(body.messages as UIMessage[]);
};

/** Waits until these tabs are idle. */
export const rest = (...tabs: ThreadChat[]): Promise<unknown> =>
  eventually(
    async () => tabs.filter((tab) => isBusy(tab) || tab.catching || (tab.shown > 0 && tab.isStale)).length,
    (busy) => busy === 0,
  );

/** Lets time pass, in which each tab checks several times for changes by others. */
export const lookAround = async (...tabs: ThreadChat[]): Promise<void> => {
  for (let times = 0; times < 4; times += 1) {
    for (const tab of tabs) await look(tab);
    await rest(...tabs);
  }
};

export const gate = (): [passed: Promise<void>, open: () => void] => {
  let open = (): void => {};
  return [
    new Promise((resolve) => {
      open = resolve;
    }),
    () => open(),
  ];
};

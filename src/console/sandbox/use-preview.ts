import { useEffect, useMemo, useRef, useState } from 'react';
import { callsIn, waitsForUser } from '../chat/call.ts';
import { createRunChat, lastQuestion, type RunChat, useRunChat } from '../chat/run-chat.ts';
import type { Talk } from '../chat/talk.ts';
import { anything } from '../data/guard.ts';
import { pathOf, send } from '../data/request.ts';
import type { Draft } from '../screens/agent-editor/panel.ts';
import { applied, type Preset } from './presets.ts';
import { previewAgent } from './preview.ts';

/** Ends what the thread is busy with. That there is nothing any more is as good. */
const cancelThread = (threadId: string, keepalive = false): void => {
  const path = pathOf`/v1/ai-sdk/threads/${threadId}/cancel`;
  send({ method: 'POST', path, quiet: true, keepalive }, anything).catch(() => {});
};

/** An answer is being written, or a call waits for somebody who decides. */
const hasRun = ({ status, lastMessage }: RunChat): boolean =>
  status === 'submitted' ||
  status === 'streaming' ||
  (lastMessage !== undefined && callsIn(lastMessage).some(waitsForUser));

/** A try is over with its page: nobody reads on, and nobody finds the thread again to decide. */
const leave = (chat: RunChat, threadId: string): void => {
  if (!hasRun(chat)) return;
  void lastQuestion(chat).then(() => cancelThread(threadId));
  void chat.stop();
};

const useLeaving = (chat: RunChat, threadId: string): void =>
  useEffect(() => {
    // There is no time to wait for anything when the whole page goes.
    const onPageHide = (): void => {
      if (hasRun(chat)) cancelThread(threadId, true);
    };
    addEventListener('pagehide', onPageHide);
    return () => {
      removeEventListener('pagehide', onPageHide);
      leave(chat, threadId);
    };
  }, [chat, threadId]);

export type Preview = {
  talk: Talk;
  threadId: string;
  /** Another session, in which nothing was said yet. */
  reset(): void;
};

const newThread = (): string => `preview-${crypto.randomUUID()}`;

const useSession = (path: string, body: () => object): Preview => {
  const [threadId, setThreadId] = useState(newThread);
  const latest = useRef(body);
  latest.current = body;
  const chat = useMemo(
    () => createRunChat(threadId, path, (sent) => ({ threadId, ...sent, ...latest.current() })),
    [threadId, path],
  );
  const talk = useRunChat(chat, () => void lastQuestion(chat).then(() => cancelThread(threadId)));
  useLeaving(chat, threadId);
  return {
    talk,
    threadId,
    reset: () => setThreadId(newThread()),
  };
};

/** A chat with the draft as it is when a message is sent. */
export const usePreview = (draft: Draft, preset?: Preset): Preview =>
  useSession('/v1/ai-sdk/agent-previews/runs', () => ({ agent: applied(previewAgent(draft), preset) }));

/** The same with the agent as it is stored. */
export const usePublished = (agentId: string): Preview =>
  useSession(pathOf`/v1/ai-sdk/agents/${agentId}/runs`, () => ({}));

import { useEffect, useMemo, useRef, useState } from 'react';
import { callsIn, waitsForUser } from '../chat/call.ts';
import { createRunChat, lastQuestion, type RunChat, useRunChat } from '../chat/run-chat.ts';
import type { Talk } from '../chat/talk.ts';
import { anything } from '../data/guard.ts';
import { pathOf, send } from '../data/request.ts';
import type { Draft } from '../data/spec.ts';
import { applied, type Preset } from './presets.ts';
import { previewAgent } from './preview.ts';

/** Cancels the run of the thread, if there is one; failures are ignored. */
const cancelThread = (threadId: string, keepalive = false): void => {
  const path = pathOf`/v1/ai-sdk/threads/${threadId}/cancel`;
  send({ method: 'POST', path, quiet: true, keepalive }, anything).catch(() => {});
};

/** True while a response is being written or a call waits for a decision. */
const hasRun = ({ status, lastMessage }: RunChat): boolean =>
  status === 'submitted' ||
  status === 'streaming' ||
  (lastMessage !== undefined && callsIn(lastMessage).some(waitsForUser));

/** A preview ends with its page, because its thread cannot be opened again to read a response or to make a decision. */
const leave = (chat: RunChat, threadId: string): void => {
  if (!hasRun(chat)) return;
  void lastQuestion(chat).then(() => cancelThread(threadId));
  void chat.stop();
};

const useLeaving = (chat: RunChat, threadId: string): void =>
  useEffect(() => {
    // Nothing can be awaited while the page is being closed.
    const onPageHide = (): void => {
      if (hasRun(chat)) cancelThread(threadId, true);
    };
    addEventListener('pagehide', onPageHide);
    return () => {
      removeEventListener('pagehide', onPageHide);
      leave(chat, threadId);
    };
  }, [chat, threadId]);

export type Preview = { talk: Talk; threadId: string; reset(): void };

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
  return { talk, threadId, reset: () => setThreadId(newThread()) };
};

/** A chat with the draft as it is when each message is sent. */
export const usePreview = (draft: Draft, preset?: Preset): Preview =>
  useSession('/v1/ai-sdk/agent-previews/runs', () => ({ agent: applied(previewAgent(draft), preset) }));

export const usePublished = (agentId: string): Preview =>
  useSession(pathOf`/v1/ai-sdk/agents/${agentId}/runs`, () => ({}));

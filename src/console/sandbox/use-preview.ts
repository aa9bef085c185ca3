import { useEffect, useMemo, useRef, useState } from 'react';
import { createRunChat, useRunChat } from '../chat/run-chat.ts';
import type { Talk } from '../chat/talk.ts';
import { anything } from '../data/guard.ts';
import { pathOf, send } from '../data/request.ts';
import type { Draft } from '../screens/agent-editor/panel.ts';
import { previewAgent } from './preview.ts';

/** Ends what the thread is busy with. That there is nothing any more is as good. */
export const cancelThread = (threadId: string): void => {
  const path = pathOf`/v1/ai-sdk/threads/${threadId}/cancel`;
  send({ method: 'POST', path, quiet: true }, anything).catch(() => {});
};

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
  const talk = useRunChat(chat, () => cancelThread(threadId));
  useEffect(() => () => void chat.stop(), [chat]);
  return {
    talk,
    threadId,
    reset() {
      if (talk.isBusy) talk.stop();
      setThreadId(newThread());
    },
  };
};

/** A chat with the draft as it is when a message is sent. */
export const usePreview = (draft: Draft): Preview =>
  useSession('/v1/ai-sdk/agent-previews/runs', () => ({ agent: previewAgent(draft) }));

/** The same with the agent as it is stored. */
export const usePublished = (agentId: string): Preview =>
  useSession(pathOf`/v1/ai-sdk/agents/${agentId}/runs`, () => ({}));
